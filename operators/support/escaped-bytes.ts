/** A character of UTF-8 that takes several bytes, with one character for each byte. */
const CHARACTER =
  '[\\xc2-\\xdf][\\x80-\\xbf]|\\xe0[\\xa0-\\xbf][\\x80-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]{2}|\\xed[\\x80-\\x9f][\\x80-\\xbf]|' +
  '\\xf0[\\x90-\\xbf][\\x80-\\xbf]{2}|[\\xf1-\\xf3][\\x80-\\xbf]{3}|\\xf4[\\x80-\\x8f][\\x80-\\xbf]{2}';
const BEYOND_ASCII = new RegExp(`((?:${CHARACTER})+)|[\\x80-\\xff]`, 'g');
/** Halves of pairs do not match. */
const ESCAPED = /[\udc80-\udcff]+/gu;
const ESCAPE = 0xdc00;

/**
 * Decodes UTF-8, and keeps each byte that belongs to no whole character as one of U+DC80 to U+DCFF, which no UTF-8 decodes
 * to. Texts of which each holds a part of a character can so be joined before {@link unescapeBytes} decodes it.
 *
 * @example
 * escapeBytes(Buffer.from([0x63, 0xc3])); // 'c\udcc3'
 */
export function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(BEYOND_ASCII, (match, characters: string | undefined) =>
      characters === undefined
        ? String.fromCharCode(ESCAPE + match.charCodeAt(0))
        : Buffer.from(match, 'latin1').toString(),
    );
}

/**
 * Decodes what {@link escapeBytes} kept. Bytes that still belong to no whole character become U+FFFD.
 *
 * @example
 * unescapeBytes('caf\udcc3' + '\udca9'); // 'café'
 * unescapeBytes('caf\udcc3'); // 'caf\ufffd'
 */
export function unescapeBytes(text: string): string {
  // Of each character only the low byte counts.
  return text.isWellFormed()
    ? text
    : text.replace(ESCAPED, (escaped) => Buffer.from(escaped, 'latin1').toString());
}
