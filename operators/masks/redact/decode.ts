import type { Finder, Place } from '../search/finder.ts';

/** How many layers of an encoding are taken off before the rules search again. 0: none. */
export interface DecodeLayers {
  /** JSON strings with escapes in them. */
  readonly json: number;
  readonly percent: number;
  readonly base64: number;
}

/** What a token may be encoded in. */
export type Encoding = keyof DecodeLayers;

/** A token is replaced as a whole, because a part of it cannot be. Undefined: it holds nothing. */
type ReplaceToken = (token: string, decoded: string, left: DecodeLayers) => string | undefined;

interface Decoder {
  readonly layer: Encoding;
  readonly tokens: () => Finder;
  readonly decode: (token: string) => string | undefined;
}

/** Characters of a token: longer ones are files rather than secrets. */
const LONGEST = 1 << 20;
const SHORTEST_PERCENT = 8;
const SHORTEST_BASE64 = 20;

export const DECODERS: readonly Decoder[] = [
  {
    layer: 'json',
    tokens: () => new JsonTokens(),
    decode: (token) => (token.includes('\\') ? parseJsonString(token) : undefined),
  },
  { layer: 'percent', tokens: () => new PercentTokens(), decode: decodePercent },
  {
    layer: 'base64',
    tokens: () => new Base64Tokens(),
    decode: (token) => (startsAsText((index) => token.charCodeAt(index)) ? decodeBase64(token) : undefined),
  },
];

export const withoutLayer = (layers: DecodeLayers, layer: Encoding): DecodeLayers => ({
  ...layers,
  [layer]: layers[layer] - 1,
});

/**
 * Replaces encoded tokens by what `replace` returns for what they decode to.
 *
 * @param encodings those that the text may have tokens of; all by default
 */
export function replaceEncoded(
  text: string,
  layers: DecodeLayers,
  replace: ReplaceToken,
  encodings?: readonly Encoding[],
): string {
  // Most values of fields are short words, which have no token.
  if (text.length < SHORTEST_BASE64 && !text.includes('%') && !text.includes('\\')) return text;
  let masked = text;
  for (const decoder of DECODERS) {
    const { layer } = decoder;
    const isTried = layers[layer] > 0 && encodings?.includes(layer) !== false;
    if (isTried) masked = replaceTokens(masked, layers, decoder, replace);
  }
  return masked;
}

function replaceTokens(
  text: string,
  layers: DecodeLayers,
  { layer, tokens, decode }: Decoder,
  replace: ReplaceToken,
): string {
  const finder = tokens();
  let masked = '';
  let copied = 0;
  for (let at = finder.next(text, 0); at !== -1; at = finder.next(text, finder.end)) {
    const [{ start, end } = { start: at, end: finder.end }] = finder.values?.(text) ?? [];
    if (end - start > LONGEST) continue;
    const token = text.slice(start, end);
    const decoded = decode(token);
    const replaced = decoded === undefined ? undefined : replace(token, decoded, withoutLayer(layers, layer));
    if (replaced === undefined) continue;
    masked += text.slice(copied, start) + replaced;
    copied = end;
  }
  return copied === 0 ? text : masked + text.slice(copied);
}

/** Strings of JSON with a backslash, or with one in their line. No string goes over the end of a line. */
class JsonTokens implements Finder {
  end = 0;
  #start = 0;
  /** The next backslash, and the end of its line. */
  #backslash = -1;
  #lineEnd = -1;

  next(text: string, from: number): number {
    if (from === 0) this.#lineEnd = -1;
    for (let at = from; ; at = this.#lineEnd) {
      if (at >= this.#lineEnd || this.#backslash < at) {
        const isInLine = at < this.#lineEnd;
        this.#backslash = text.indexOf('\\', at);
        if (this.#backslash === -1) return -1;
        if (!isInLine || this.#backslash >= this.#lineEnd) {
          at = Math.max(at, text.lastIndexOf('\n', this.#backslash) + 1);
          const end = text.indexOf('\n', this.#backslash);
          this.#lineEnd = end === -1 ? text.length : end;
        }
      }
      const opening = text.indexOf('"', at);
      if (opening === -1) return -1;
      // All quotes that follow in this line are escaped ones.
      if (opening >= this.#lineEnd || !this.#closes(text, opening)) continue;
      return opening;
    }
  }

  #closes(text: string, opening: number): boolean {
    STRING_END.lastIndex = opening + 1;
    if (!STRING_END.test(text)) return false;
    this.#start = opening + 1;
    this.end = STRING_END.lastIndex;
    return true;
  }

  values(): readonly Place[] {
    return [{ start: this.#start, end: this.end - 1 }];
  }
}

const STRING_END = /[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"/y;

/** Characters of URLs, forms and file names. */
const isOfUrl = flagsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~%+*!()/:@-');
const isHex = flagsOf('0123456789ABCDEFabcdef');

function flagsOf(characters: string): Uint8Array {
  const flags = new Uint8Array(128);
  for (let i = 0; i < characters.length; i++) flags[characters.charCodeAt(i)] = 1;
  return flags;
}

/** Words with characters in percent encoding. */
class PercentTokens implements Finder {
  end = 0;

  next(text: string, from: number): number {
    const is = (flags: Uint8Array, at: number) => flags[text.charCodeAt(at)] === 1;
    for (let at = text.indexOf('%', from); at !== -1; at = text.indexOf('%', this.end)) {
      let start = at;
      while (start > from && is(isOfUrl, start - 1)) start--;
      this.end = at + 1;
      while (is(isOfUrl, this.end)) this.end++;
      if (this.end - start < SHORTEST_PERCENT) continue;
      // Other percent signs may stand before the first one of an encoding.
      for (let sign = at; sign < this.end; sign++) {
        if (text[sign] === '%' && is(isHex, sign + 1) && is(isHex, sign + 2)) return start;
      }
    }
    return -1;
  }
}

/** Words of the characters of base64. */
class Base64Tokens implements Finder {
  end = 0;

  next(text: string, from: number): number {
    const isOfToken = (at: number) => sextetAt(text, at) !== NO_SEXTET;
    // A word that is long enough has one of every twenty characters, so the others need no look.
    for (let at = from + SHORTEST_BASE64 - 1; at < text.length; at += SHORTEST_BASE64) {
      if (!isOfToken(at)) continue;
      let start = at;
      while (start > from && isOfToken(start - 1)) start--;
      while (isOfToken(at)) at++;
      if (at - start < SHORTEST_BASE64) continue;
      this.end = at + paddingAt(text, at);
      return start;
    }
    return -1;
  }
}

/** How many equals signs belong to a token: up to two, unless another word follows them. */
function paddingAt(text: string, at: number): number {
  let count = 0;
  while (count < 2 && text[at + count] === '=') count++;
  return count > 0 && sextetAt(text, at + count) !== NO_SEXTET ? count - 1 : count;
}

/** {@link NO_SEXTET} for other characters, and beyond the end. */
const sextetAt = (text: string, at: number): number => SEXTETS[text.charCodeAt(at)] ?? NO_SEXTET;

const NO_SEXTET = 0xff;
/** The value of each byte in base64, in both alphabets. */
const SEXTETS = new Uint8Array(256).fill(NO_SEXTET);
for (const alphabet of [
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
]) {
  for (let i = 0; i < alphabet.length; i++) SEXTETS[alphabet.charCodeAt(i)] = i;
}

/**
 * The encodings of which bytes of ASCII may have a token: {@link replaceEncoded} leaves others as they are. It makes no string
 * of them, which most lines need not be.
 */
export function encodingsIn(bytes: Uint8Array, layers: DecodeLayers): readonly Encoding[] {
  const found: Encoding[] = [];
  if (layers.json > 0 && bytes.includes(BACKSLASH)) found.push('json');
  if (layers.percent > 0 && bytes.includes(PERCENT)) found.push('percent');
  if (layers.base64 > 0 && hasBase64Text(bytes)) found.push('base64');
  return found;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/** A run that is long enough has one of every twenty bytes, so the others need no look. */
function hasBase64Text(bytes: Uint8Array): boolean {
  const sextets = SEXTETS;
  const { length } = bytes;
  for (let at = SHORTEST_BASE64 - 1; at < length; at += SHORTEST_BASE64) {
    if (sextets[bytes[at] as number] === NO_SEXTET) continue;
    let start = at;
    while (start > 0 && sextets[bytes[start - 1] as number] !== NO_SEXTET) start--;
    while (at < length && sextets[bytes[at] as number] !== NO_SEXTET) at++;
    if (at - start >= SHORTEST_BASE64 && startsAsText((i) => bytes[start + i] as number)) return true;
  }
  return false;
}

/**
 * Whether the first bytes of a token in base64 are those of text in UTF-8, or in UTF-16. Those of most tokens that look
 * like base64 are not.
 */
function startsAsText(unitAt: (index: number) => number): boolean {
  let following = 0;
  for (let i = 0; i < 12; i++) {
    const at = i + Math.floor(i / 3);
    const shift = 2 * (i % 3) + 2;
    const [high = 0, low = 0] = [SEXTETS[unitAt(at)], SEXTETS[unitAt(at + 1)]];
    const byte = ((high << shift) | (low >> (6 - shift))) & 0xff;
    if (following > 0) {
      if ((byte & 0xc0) !== 0x80) return false;
      following--;
    } else if (byte >= 0x80) {
      if (byte < 0xc2 || byte > 0xf4) return false;
      following = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    } else if (byte === 0x7f || (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13)) {
      // The second byte of the first character in UTF-16.
      return byte === 0 && i === 1;
    }
  }
  return true;
}

function parseJsonString(token: string): string | undefined {
  try {
    return JSON.parse(`"${token}"`) as string;
  } catch {
    return undefined;
  }
}

function decodePercent(token: string): string | undefined {
  try {
    return decodeURIComponent(token);
  } catch {
    // Bytes that are not UTF-8. What can be a secret is ASCII.
    return token.replace(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}

const NO_TEXT = /[^\t\n\r\x20-\x7e\x80-\xff]/;
const UTF_16 = /^(?:[\t\n\r\x20-\x7e]\0)+$/;

/** Undefined unless it is text, with a character for each byte. UTF-16, as PowerShell encodes it, loses its zeros. */
function decodeBase64(token: string): string | undefined {
  const decoded = toBytes(token);
  if (decoded === undefined) return undefined;
  if (!NO_TEXT.test(decoded)) return decoded;
  return UTF_16.test(decoded) ? decoded.replaceAll('\0', '') : undefined;
}

function toBytes(token: string): string | undefined {
  const standard = token.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  // One character alone has no byte: it belongs to something else.
  if (standard.length % 4 === 1) return undefined;
  return atob(standard);
}
