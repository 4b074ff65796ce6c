/** What is shown in place of every secret. */
export const HIDDEN = '<secret>';

/** Characters that a terminal or XML acts upon instead of showing them, or that hide or reorder others. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * The text on one line, with control characters, format characters (such as those that change the direction of text)
 * and line separators written as escapes. For everything that comes from outside: names of files, keys, messages.
 *
 * @example
 * printable('one\ntwo\u001b[31m\u202e'); // 'one\\ntwo\\u001b[31m\\u202e'
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => NAMED[character] ?? escaped(character));
}

/**
 * {@link printable} for text of several lines: line breaks and tabs stay.
 *
 * @example
 * printableLines('one\ntwo\u009b31m'); // 'one\ntwo\\u009b31m'
 */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/**
 * JSON that means the same, and that a terminal shows as it is: `JSON.stringify` escapes none of these but the controls
 * below U+0020. Line breaks between values stay.
 *
 * @example
 * printableJson('{"a":"\u009b\u{e0041}"}'); // '{"a":"\\u009b\\udb40\\udc41"}'
 */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : character.split('').map(escaped).join(''),
  );
}

function escaped(character: string): string {
  const hex = (character.codePointAt(0) as number).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

/** Text cut to a length that still shows what it is. */
export function truncate(text: string, length = 60): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
