import { printable } from '../sdk/printable.ts';

const LONGEST = 60;

/**
 * Text as one line that shows what is in it, cut in its middle if it is long.
 *
 * @example
 * visibleText('two\nlines'); // 'two↵lines'
 * visibleText('a'.repeat(100), 9); // 'aaaa…aaaa'
 */
export function visibleText(text: string, longest = LONGEST): string {
  const visible = printable(text.replaceAll('\n', '↵'));
  const characters = [...visible];
  if (characters.length <= longest) return visible;
  const kept = longest - 1;
  // The ends of names and paths tell more than their middles.
  const start = characters.slice(0, Math.ceil(kept / 2));
  return `${start.join('')}…${characters.slice(characters.length - Math.floor(kept / 2)).join('')}`;
}

/** Twice as wide as a letter in a monospaced font: Chinese, Japanese, Korean and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
/** Marks, which join the letter before them (the variation selectors among them), and the joiner of emoji. */
const COMBINING = /\p{M}|\u200d/u;

/**
 * How many columns of a terminal a text takes.
 *
 * @example
 * columnsOf('日志'); // 4
 */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += COMBINING.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return columns;
}

/**
 * The values of a list as words: a comma behind each but the last.
 *
 * @example
 * listed(['alpha', 'beta']); // ['alpha,', 'beta']
 */
export function listed(values: readonly string[]): string[] {
  return values.map((value, index) => (index < values.length - 1 ? `${value},` : value));
}

/**
 * Words as lines of at most so many columns; a word that is longer stands alone.
 *
 * @example
 * wrapWords(['alpha,', 'beta,', 'gamma'], 12); // ['alpha, beta,', 'gamma']
 */
export function wrapWords(words: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line === '') line = word;
    else if (columnsOf(line) + 1 + columnsOf(word) <= columns) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return line === '' ? lines : [...lines, line];
}
