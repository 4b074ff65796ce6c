/**
 * The text, its middle left out if it is longer than `longest` characters.
 *
 * @example
 * shorten('abcdefghij', 7); // 'abcd…ij'
 */
export function shorten(text: string, longest: number): string {
  const characters = [...text];
  if (characters.length <= longest) return text;
  const tail = Math.floor((longest - 1) / 3);
  return `${characters.slice(0, longest - 1 - tail).join('')}…${characters.slice(-tail || characters.length).join('')}`;
}

/**
 * The number of terminal columns that the text takes: two for wide characters, none for combining ones.
 *
 * @example
 * columnsOf('日本'); // 4
 */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += characterColumns(character);
  return columns;
}

/** Marks, which join the character before them, and the joiner of emoji. */
const COMBINING = /^[\p{Mn}\p{Me}\u200d]$/u;
/** Chinese, Japanese, Korean and emoji. */
const WIDE =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60]$/u;

export function characterColumns(character: string): 0 | 1 | 2 {
  if (character < '\u0300') return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/**
 * Joins words to lines of at most so many columns. A longer word has a line of its own.
 *
 * @example
 * joinWords(['alpha,', 'beta,', 'gamma'], 12); // ['alpha, beta,', 'gamma']
 */
export function joinWords(words: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && columnsOf(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === '' ? lines : [...lines, line];
}

/** A space at which {@link wrapText} breaks no line. */
export const UNBROKEN = '\u00a0';

/**
 * Breaks text at spaces so that no line is wider than `columns`. A longer word is cut, at an {@link UNBROKEN} space if it
 * has one there, or after a sign such as `,` or `/`.
 */
export function wrapText(text: string, columns: number): string[] {
  const lines = joinWords(
    text.split(' ').flatMap((word) => cut(word, columns)),
    columns,
  );
  return (lines.length === 0 ? [''] : lines).map((line) => line.replaceAll(UNBROKEN, ' '));
}

/**
 * Breaks text so that no line is wider than `columns`: at spaces and after signs such as `/` and `_` if possible.
 *
 * @example
 * wrapAnywhere('/var/log/nginx/access.log', 12); // ['/var/log/', 'nginx/', 'access.log']
 */
export function wrapAnywhere(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of text.split(/(?<=[ /\\_.,:;|&@-])/).flatMap((each) => cut(each, columns))) {
    if (line !== '' && columnsOf((line + part).trimEnd()) > columns) {
      lines.push(line.trimEnd());
      line = part;
    } else line += part;
  }
  return [...lines, line.trimEnd()];
}

function cut(word: string, columns: number): string[] {
  const parts: string[] = [];
  let part = '';
  for (const character of word) {
    if (part !== '' && columnsOf(part + character) > columns) {
      const [line, rest] = parted(part, character);
      parts.push(line);
      part = rest;
      if (rest === '' && character === UNBROKEN) continue;
    }
    part += character;
  }
  return [...parts, part];
}

/** What a line keeps of a part that is full, and what goes on to the next one. */
function parted(part: string, next: string): readonly [line: string, rest: string] {
  if (next === UNBROKEN) return [part, ''];
  const end = /^.*[\u00a0/\\_.,:;|&()[\]@-]/s.exec(part)?.[0] ?? part;
  return [end.endsWith(UNBROKEN) ? end.slice(0, -1) : end, part.slice(end.length)];
}
