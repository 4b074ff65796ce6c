import type { PartResult, Table, Target } from '../parts/part.ts';

/** A part's results for a terminal. */
export function textReport(title: string, { tables, targets, notes }: PartResult): string {
  return [`\n${title}\n`, ...tables.map(textTable), ...notes, '', ...targets.map(targetLine)].join('\n');
}

function targetLine({ what, wanted, measured, isMet }: Target): string {
  return `${isMet ? 'met   ' : 'MISSED'}  ${what}: ${measured} (target ${wanted})`;
}

function textTable({ cells, columns, rows }: Table): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const isText = (column: number) => column === 0 || cells === 'text';
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell[isText(column) ? 'padEnd' : 'padStart'](widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}
