/** How many layers of an encoding are taken off before the rules search again. 0: none. */
export interface DecodeLayers {
  /** JSON strings with escapes in them. */
  readonly json: number;
  readonly percent: number;
  readonly base64: number;
}

/** A token is replaced as a whole, because a part of it cannot be. Undefined: it holds nothing. */
export type ReplaceToken = (token: string, decoded: string, left: DecodeLayers) => string | undefined;

export interface Decoder {
  readonly layer: keyof DecodeLayers;
  /** What every string with an encoded token contains. */
  readonly hint: string;
  /** Global. Its matches contain no LF, so that a string can be many lines. */
  readonly expression: RegExp;
  /** The group that is the token. */
  readonly group: 0 | 1;
  readonly decode: (token: string) => string | undefined;
}

/** Characters of a token: longer ones are files rather than secrets. */
const LONGEST = 1 << 20;

export const DECODERS: readonly Decoder[] = [
  {
    layer: 'json',
    hint: '\\',
    expression: /"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"/g,
    group: 1,
    decode: (token) => (token.includes('\\') ? parseJsonString(token) : undefined),
  },
  {
    layer: 'percent',
    hint: '%',
    expression: /(?<![\w.~%+*!()/:@-])(?=[\w.~+*!()/:@-]*%[0-9A-Fa-f]{2})[\w.~%+*!()/:@-]{8,}/g,
    group: 0,
    decode: decodePercent,
  },
  {
    layer: 'base64',
    hint: '',
    expression: /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_-])/g,
    group: 0,
    decode: decodeBase64,
  },
];

export const withoutLayer = (layers: DecodeLayers, layer: keyof DecodeLayers): DecodeLayers => ({
  ...layers,
  [layer]: layers[layer] - 1,
});

/** Replaces encoded tokens by what `replace` returns for what they decode to. */
export function replaceEncoded(text: string, layers: DecodeLayers, replace: ReplaceToken): string {
  return DECODERS.reduce((masked, { layer, hint, expression, group, decode }) => {
    if (layers[layer] <= 0 || !masked.includes(hint)) return masked;
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

/** Text has letters, digits and signs; most tokens that look like base64 decode to control characters at once. */
const HEAD = 16;
const NO_TEXT = /[^\t\n\r\x20-\x7e\x80-\xff]/;
const UTF_16 = /^(?:[\t\n\r\x20-\x7e]\0)+$/;

/** Undefined unless it is text, with a character for each byte. UTF-16, as PowerShell encodes it, loses its zeros. */
function decodeBase64(token: string): string | undefined {
  const head = toBytes(token.slice(0, HEAD));
  if (head === undefined || (NO_TEXT.test(head) && !UTF_16.test(head))) return undefined;
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
