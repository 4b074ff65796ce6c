/** How many layers of an encoding are taken off before the rules search again. 0: none. */
export interface DecodeLayers {
  /** JSON strings with escapes in them. */
  readonly json: number;
  readonly percent: number;
  readonly base64: number;
}

/** A token is replaced as a whole, because a part of it cannot be. Undefined: it holds nothing. */
type ReplaceToken = (token: string, decoded: string, left: DecodeLayers) => string | undefined;

interface Decoder {
  readonly layer: keyof DecodeLayers;
  /** What every string with an encoded token contains. */
  readonly hint: string;
  /** Characters of the shortest token. */
  readonly shortest: number;
  /** Global. Its matches contain no LF, so that a string can be many lines. */
  readonly expression: RegExp;
  /** The group that is the token. */
  readonly group: 0 | 1;
  readonly decode: (token: string) => string | undefined;
}

/** Characters of a token: longer ones are files rather than secrets. */
const LONGEST = 1 << 20;
const SHORTEST_BASE64 = 20;

export const DECODERS: readonly Decoder[] = [
  {
    layer: 'json',
    hint: '\\',
    shortest: 4,
    expression: /"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"/g,
    group: 1,
    decode: (token) => (token.includes('\\') ? parseJsonString(token) : undefined),
  },
  {
    layer: 'percent',
    hint: '%',
    shortest: 8,
    expression: /(?<![\w.~%+*!()/:@-])(?=[\w.~+*!()/:@-]*%[0-9A-Fa-f]{2})[\w.~%+*!()/:@-]{8,}/g,
    group: 0,
    decode: decodePercent,
  },
  {
    layer: 'base64',
    hint: '',
    shortest: SHORTEST_BASE64,
    expression: /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_-])/g,
    group: 0,
    decode: (token) => (startsAsText((index) => token.charCodeAt(index)) ? decodeBase64(token) : undefined),
  },
];

export const withoutLayer = (layers: DecodeLayers, layer: keyof DecodeLayers): DecodeLayers => ({
  ...layers,
  [layer]: layers[layer] - 1,
});

/** Replaces encoded tokens by what `replace` returns for what they decode to. */
export function replaceEncoded(text: string, layers: DecodeLayers, replace: ReplaceToken): string {
  return DECODERS.reduce((masked, { layer, hint, shortest, expression, group, decode }) => {
    if (layers[layer] <= 0 || masked.length < shortest || !masked.includes(hint)) return masked;
    const left = withoutLayer(layers, layer);
    return masked.replace(expression, (match: string, inside: string) => {
      const token = group === 0 ? match : inside;
      const decoded = token.length > LONGEST ? undefined : decode(token);
      const replaced = decoded === undefined ? undefined : replace(token, decoded, left);
      if (replaced === undefined) return match;
      return group === 0 ? replaced : `"${replaced}"`;
    });
  }, text);
}

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
 * Whether there may be an encoded token in bytes of ASCII: {@link replaceEncoded} leaves others as they are. It makes no
 * string of them, which most lines need not be.
 */
export function mayHaveEncoded(bytes: Uint8Array, layers: DecodeLayers): boolean {
  return (
    (layers.json > 0 && bytes.includes(BACKSLASH)) ||
    (layers.percent > 0 && bytes.includes(PERCENT)) ||
    (layers.base64 > 0 && hasBase64Text(bytes))
  );
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
