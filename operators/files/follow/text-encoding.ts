import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';

const LF = 0x0a;

/** How the bytes of a file are divided into lines, and become UTF-8. */
export interface TextEncoding {
  /** The canonical name, such as `windows-1252` for the label `latin1`. */
  readonly name: string;
  /** Bytes of a line feed. Every character has a multiple of that, and starts at a multiple of that in the file. */
  readonly unit: 1 | 2;
  readonly terminator: Buffer;
  /** Where the first line feed at or after `from` ends: the index of its last byte; -1 if there is none. */
  indexOfLf(bytes: Buffer, from: number): number;
  /** The same for the last line feed. */
  lastIndexOfLf(bytes: Buffer): number;
  /** `size` lines, each with its terminator, in UTF-8. Bytes that are no character become U+FFFD. */
  toUtf8(bytes: Buffer, size: number): Buffer;
}

export const UTF_8: TextEncoding = {
  name: 'utf-8',
  unit: 1,
  terminator: Buffer.of(LF),
  indexOfLf: (bytes, from) => bytes.indexOf(LF, from),
  lastIndexOfLf: (bytes) => bytes.lastIndexOf(LF),
  toUtf8: (bytes) => bytes,
};

const encodings = new Map<string, TextEncoding>();

/**
 * The encoding with a label of the WHATWG Encoding Standard that Node.js can decode.
 *
 * @throws RangeError for any other label
 * @example
 * encodingOf('latin1').name; // 'windows-1252'
 */
export function encodingOf(label: string): TextEncoding {
  let encoding = encodings.get(label);
  if (encoding === undefined) {
    // A byte order mark belongs to a file, and not to each line.
    const decoder = new TextDecoder(label, { ignoreBOM: true });
    encoding = decoder.encoding === UTF_8.name ? UTF_8 : legacyEncoding(decoder);
    encodings.set(label, encoding);
  }
  return encoding;
}

/** Whether {@link encodingOf} knows a label. */
export function isEncoding(label: string): boolean {
  try {
    encodingOf(label);
    return true;
  } catch {
    return false;
  }
}

function legacyEncoding(decoder: TextDecoder): TextEncoding {
  const name = decoder.encoding;
  const decode = name === 'windows-1252' ? windows1252(decoder) : (bytes: Buffer) => decoder.decode(bytes);
  const framing = name === 'utf-16le' ? utf16(LF, 0) : name === 'utf-16be' ? utf16(0, LF) : UTF_8;
  const { unit, terminator, indexOfLf, lastIndexOfLf } = framing;
  // ISO-2022-JP writes all characters in bytes of ASCII.
  const keepsAscii = unit === 1 && name !== 'iso-2022-jp';

  // Line by line: otherwise the first byte of a character that is cut at the end of a line could take the line feed.
  const toUtf8 = (bytes: Buffer, size: number): Buffer => {
    if (keepsAscii && isAscii(bytes)) return bytes;
    let text = '';
    for (let start = 0; start < bytes.length; ) {
      const end = size === 1 ? bytes.length : indexOfLf(bytes, start) + 1;
      text += `${decode(bytes.subarray(start, end - terminator.length))}\n`;
      start = end;
    }
    return Buffer.from(text);
  };
  return { name, unit, terminator, indexOfLf, lastIndexOfLf, toUtf8 };
}

/** The characters of the bytes 0x80 to 0x9F, which some versions of Node.js decode as control characters. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function windows1252(decoder: TextDecoder): (bytes: Buffer) => string {
  return (bytes) =>
    decoder
      .decode(bytes)
      .replace(/[\x80-\x9f]/g, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] as string);
}

/** Line feeds of two bytes. What looks like one at an odd place are parts of two characters. */
function utf16(
  first: number,
  second: number,
): Pick<TextEncoding, 'unit' | 'terminator' | 'indexOfLf' | 'lastIndexOfLf'> {
  const terminator = Buffer.of(first, second);
  return {
    unit: 2,
    terminator,
    indexOfLf(bytes, from) {
      let at = bytes.indexOf(terminator, from);
      while (at !== -1 && at % 2 !== 0) at = bytes.indexOf(terminator, at + 1);
      return at === -1 ? -1 : at + 1;
    },
    lastIndexOfLf(bytes) {
      let at = bytes.lastIndexOf(terminator);
      while (at > 0 && at % 2 !== 0) at = bytes.lastIndexOf(terminator, at - 1);
      return at === -1 ? -1 : at + 1;
    },
  };
}
