/*
 * What the body of a private key looks like in lines of base64, and what other base64 looks like: a certificate, an
 * attachment of a mail, a file.
 */

/** What a body line of a block looks like: base64 in full lines, followed by a shorter one. */
const BODY = /^(?!([A-Za-z0-9+/])\1{15})[A-Za-z0-9+/]{48,76}$/;
const LAST_BODY = /^[A-Za-z0-9+/]{1,76}={0,2}$/;

/** A word that can be a part of a key, wherever it is in a line: long, of digits and letters of both cases. */
export const KEY_MATERIAL =
  /(?<![A-Za-z0-9+/])(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])(?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{20,}/;
/**
 * Body lines after the prefix of a log, or in a string of JSON or of an environment file: one, or several with line breaks
 * between them, of which the last can be shorter.
 */
const BODY_IN_LINE =
  /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,76}(?:(?:\\{1,3}[nr]|[\r\n])+[A-Za-z0-9+/]{1,76}={0,2})*(?=\s*$|\\{1,3}[nr]|[\r\n]|\\{0,3}["'])/;
/** What follows the last full line of a key, in the column in which its lines start. */
export const LAST_IN_LINE = /^[A-Za-z0-9+/]{17,76}={0,2}(?=\s*$|\\{1,3}[nr]|\\{0,3}["'])/;
/** The line that ends a key comes so many lines after its full ones, at most. */
const LINES_TO_END = 3;
const PRIVATE_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/;
const OTHER_END = /-----END (?![A-Z0-9 ]{0,40}PRIVATE KEY)/;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a line has full lines of the body of a key. */
export function bodyIn(line: string): Span | undefined {
  if (BODY.test(line)) return { start: 0, end: line.length };
  const match = BODY_IN_LINE.exec(line);
  if (match === null || !KEY_MATERIAL.test(match[0])) return undefined;
  return { start: match.index, end: match.index + match[0].length };
}

export const isKeyMaterial = (line: string): boolean => LAST_BODY.test(line) || KEY_MATERIAL.test(line);

/**
 * Whether the first line of base64 is plainly not of a private key: a certificate, the start of a usual file, or text. A
 * key that is encoded once more is text as well, but text that looks like a key.
 */
export function startsOtherData(base64: string): boolean {
  const bytes = decodeBytes(base64);
  return STARTS.some((start) => start.every((byte, i) => byte === ANY || bytes[i] === byte)) || isText(bytes);
}

/** Bytes of text that are no coincidence. */
const LEAST_TEXT = 24;
const decoder = /* @__PURE__ */ new TextDecoder();
const NO_TEXT = /(?![\0\t\n\r])[\p{Cc}\ufffd]/u;

/** Whether bytes are UTF-8, with zeros between, as in an archive. Their first and last characters can be cut. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.length < LEAST_TEXT) return false;
  const text = decoder.decode(bytes).replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, '');
  return !NO_TEXT.test(text) && !KEY_MATERIAL.test(text.replaceAll('\0', ' ')) && !text.includes('-----');
}

const ANY = undefined;
/** First bytes that no private key has. */
const STARTS: readonly (readonly (number | undefined)[])[] = [
  // DER of a certificate, a request for one, or a revocation list: long sequences in a sequence. Keys start with a number.
  [0x30, 0x82, ANY, ANY, 0x30, 0x82],
  [0x30, 0x82, ANY, ANY, 0x30, 0x81],
  [0x1f, 0x8b, 0x08], // gzip
  [0x42, 0x5a, 0x68, ANY, 0x31, 0x41, 0x59], // bzip2
  [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], // xz
  [0x28, 0xb5, 0x2f, 0xfd], // zstd
  [0x50, 0x4b, 0x03, 0x04], // zip, and documents of offices
  [0x25, 0x50, 0x44, 0x46, 0x2d], // PDF
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a], // PNG
  [0xff, 0xd8, 0xff], // JPEG
  [0x47, 0x49, 0x46, 0x38], // GIF
  [0x7f, 0x45, 0x4c, 0x46], // ELF
  [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], // documents of older offices
];

/** What follows the last four characters of base64 does not count. */
function decodeBytes(base64: string): Uint8Array {
  const [token = ''] = /^[A-Za-z0-9+/]*/.exec(base64) ?? [];
  return Uint8Array.from(atob(token.slice(0, token.length - (token.length % 4))), (character) =>
    character.charCodeAt(0),
  );
}

/**
 * Whether the first lines of a source can be the rest of a private key: base64 that is not other data by its start, its
 * end, most of its lines or their number. Undefined: that takes more lines.
 *
 * @param mostLines the most lines of a key
 */
export function startsInKey(text: string, mostLines: number): boolean | undefined {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const spans = [];
  for (const line of lines) {
    const body = bodyIn(line);
    if (body === undefined) break;
    spans.push(line.slice(body.start, body.end));
  }
  const [first] = spans;
  if (first === undefined || startsOtherData(first)) return false;
  const rest = lines.slice(spans.length, spans.length + LINES_TO_END);
  for (const line of rest) {
    if (PRIVATE_END.test(line)) return true;
    if (OTHER_END.test(line)) return false;
  }
  if (spans.length > mostLines) return false;
  const texts = spans.filter((span) => isText(decodeBytes(span)));
  if (2 * texts.length > spans.length && spans.length > 2) return false;
  return rest.length < LINES_TO_END ? undefined : true;
}
