import type { PartResult, Table, Target } from '../parts/part.ts';

/** A part's results as Markdown. */
export function markdownReport({ tables, targets, notes }: PartResult): string {
  const blocks = [...tables.map(markdownTable), ...notes];
  if (targets.length > 0) blocks.push(markdownTable(targetTable(targets)));
  return blocks.join('\n\n');
}

function targetTable(targets: readonly Target[]): Table {
  return {
    cells: 'text',
    columns: ['Target', 'wanted', 'measured', ''],
    rows: targets.map(({ what, wanted, measured, isMet }) => [
      what,
      wanted,
      measured,
      isMet ? 'met' : '**missed**',
    ]),
  };
}

function markdownTable({ cells, columns, rows }: Table): string {
  const line = (row: readonly string[]) =>
    `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `| --- |${(cells === 'text' ? ' --- |' : ' ---: |').repeat(columns.length - 1)}`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}

/**
 * Puts `text` between a page's markers of the name: `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`.
 *
 * @throws Error if the page has no such markers.
 */
export function between(page: string, name: string, text: string): string {
  const begin = `<!-- bench:${name} -->`;
  const end = `<!-- /bench:${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`the page has no ${begin} … ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}
