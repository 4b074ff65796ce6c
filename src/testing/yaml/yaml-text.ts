import { printable, printableJson } from '../../sdk/printable.ts';
import { durationText } from '../duration.ts';

const LONGEST_LINE = 110;

/** Milliseconds as tests write them, rounded to a thousandth: `1.204s`. */
export function timeOf(ms: number): string {
  const rounded = Math.round(ms * 1000) / 1000;
  if (rounded === 0) return '0s';
  if (rounded < 1000) return `${rounded}ms`;
  const text = durationText(rounded);
  return text.endsWith('ms') ? `${Number((rounded / 1000).toFixed(6))}s` : text;
}

/** A line of a comment, of one line whatever is in it. */
export function comment(line: string): string {
  return line === '' ? '#' : `# ${printable(line)}`;
}

/** Strings that need no quotes: YAML reads nothing else in them. */
const PLAIN = /^(?!(?:true|false|null)$)[A-Za-z_](?:[\w./-]*\w)?$/i;
/** What would be an environment variable, with or without a default. */
const REFERENCE = /\$\{[A-Za-z_]\w*(?::-[^}]*)?\}/g;
const QUOTABLE = /^[^'\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]*$/u;

/**
 * A value in YAML's flow style, on one line. `$${NAME}` stands for what would be an environment variable.
 *
 * @example
 * flowText({ user: 'ada', n: [1, true] }); // "{ user: ada, n: [1, true] }"
 */
export function flowText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const items = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : `${stringText(key)}: ${flowText(item)}`,
  );
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`;
}

function stringText(text: string): string {
  if (PLAIN.test(text) || TIME.test(text)) return text;
  const safe = text.replace(REFERENCE, '$$$&');
  return QUOTABLE.test(safe) ? `'${safe}'` : printableJson(JSON.stringify(safe));
}

/** Times are written as in tests by hand: no other notation in YAML is like them. */
const TIME = /^\d+(?:\.\d+)?(?:ms|[smhd])$/;

/** A list under a key, on one line or on several. */
export function flowLines(key: string, items: readonly unknown[], indent: number): string[] {
  const margin = ' '.repeat(indent);
  const texts = items.map(flowText);
  const short = `${margin}${key}: [${texts.join(', ')}]`;
  if (short.length <= LONGEST_LINE) return [short];
  const lines: string[] = [];
  let line = '';
  for (const text of texts) {
    if (line !== '' && line.length + text.length + 2 > LONGEST_LINE) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? `${margin}    ${text},` : `${line} ${text},`;
  }
  return [`${margin}${key}:`, `${margin}  [`, ...lines, line, `${margin}  ]`];
}
