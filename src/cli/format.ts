import { counted as countedAs } from '../../operators/internal.ts';

/** A whole number with thousands separators: `12,345`. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A number of things: `1 pipeline`, `2,000 pipelines`. */
export function counted(value: number, noun: string): string {
  return countedAs(value, noun, count(value));
}

/** Bytes in decimal units: `999 B`, `1.2 GB`. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let amount = value;
  let unit = 0;
  // 999.95 would print as 1000.0
  while (amount >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? count(amount) : amount.toFixed(1)} ${units[unit]}`;
}

/** Milliseconds as people say them: `840 ms`, `12.3 s`, `3 min 12 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** Events per second: `0.4`, `12,345`. */
export function perSecond(events: number, ms: number): string {
  if (ms <= 0) return '0';
  const rate = (events * 1000) / ms;
  return rate > 0 && rate < 9.95 ? rate.toFixed(1) : count(rate);
}

/** Rows as left-aligned columns, two spaces apart, with no trailing spaces. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Text wrapped at spaces to a number of columns; later lines are indented. */
export function wrap(text: string, columns: number, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > columns - (lines.length > 0 ? indent.length : 0)) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join(`\n${indent}`);
}
