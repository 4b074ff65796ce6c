import { isUtf8 } from 'node:buffer';

/** Bytes that are looked at one by one where they are not UTF-8. */
const PIECE_BYTES = 64;
/**
 * Bytes, each with those that may continue its character, so that none is cut. Halves of pairs do not match. Without a
 * limit, a long text would overflow the stack.
 */
const ESCAPED = /(?:[\udc80-\udcff][\udc80-\udcbf]{0,3}){1,1024}/gu;
const ESCAPE = 0xdc00;

/**
 * Decodes UTF-8, and keeps each byte that belongs to no whole character as one of U+DC80 to U+DCFF, which no UTF-8 decodes
 * to. Texts of which each holds a part of a character can so be joined before {@link unescapeBytes} decodes it.
 *
 * @example
 * escapeBytes(Buffer.from([0x63, 0xc3])); // 'c\udcc3'
 */
export function escapeBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  if (bytes.length <= PIECE_BYTES) return escapePiece(bytes);
  // An expression for characters would overflow the stack on a long line. Halves need no more than the depth of a tree.
  const middle = startOfCharacter(bytes, bytes.length >>> 1);
  return escapeBytes(bytes.subarray(0, middle)) + escapeBytes(bytes.subarray(middle));
}

function escapePiece(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] as number;
    const character = isContinuation(bytes[at + 1])
      ? bytes.subarray(at, at + lengthOfCharacter(lead))
      : undefined;
    if (lead < 0x80) text += String.fromCharCode(lead);
    else if (character !== undefined && isUtf8(character)) {
      text += character.toString();
      at += character.length - 1;
    } else text += String.fromCharCode(ESCAPE + lead);
    at++;
  }
  return text;
}

function lengthOfCharacter(lead: number): number {
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** Where the character that has its byte at `offset` starts: three bytes can precede it at most. */
function startOfCharacter(bytes: Buffer, offset: number): number {
  const back = [0, 1, 2, 3].find((count) => !isContinuation(bytes[offset - count]));
  return offset - (back ?? 0);
}

const isContinuation = (byte = 0) => (byte & 0xc0) === 0x80;

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
