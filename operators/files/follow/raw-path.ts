import { isUtf8 } from 'node:buffer';

/**
 * File names are bytes. In a path, each byte above ASCII of a name that is not UTF-8 stands as one of these characters,
 * U+DC80 to U+DCFF, which no UTF-8 decodes to: the path leads back to the same bytes.
 */
const ESCAPED_BYTES = /([\udc80-\udcff]+)/u;
const ESCAPE = 0xdc00;
const ASCII_END = 0x80;

/** The name, or path, that these bytes are. */
export function fromRawPath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  return Array.from(bytes, (byte) => String.fromCharCode(byte < ASCII_END ? byte : ESCAPE + byte)).join('');
}

/** What the calls of `fs` take for a path: bytes where it is not UTF-8. */
export function toRawPath(path: string): string | Buffer {
  if (!ESCAPED_BYTES.test(path)) return path;
  // Every other part is escaped: of each character only the low byte counts.
  const parts = path.split(ESCAPED_BYTES);
  return Buffer.concat(parts.map((part, i) => Buffer.from(part, i % 2 === 0 ? 'utf8' : 'latin1')));
}
