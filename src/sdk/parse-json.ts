/**
 * Without a match, JavaScript has each number exactly: none has 16 digits or an exponent of three. Most digits are in strings,
 * so it looks where a number can start.
 */
const MAY_BE_INEXACT = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})/;

/**
 * `JSON.parse` that loses no digits: a number that JavaScript does not have exactly becomes a string, as it is written.
 * These are whole numbers beyond 2^53 - 1, such as ids of 64 bits, and decimals that would change.
 *
 * @throws SyntaxError if the text is not JSON. Its message quotes the text.
 *
 * @example
 * parseJson('{"id":9007199254740993,"n":0.1}'); // { id: '9007199254740993', n: 0.1 }
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!MAY_BE_INEXACT.test(text)) return value;
  let exact = '';
  let copied = 0;
  for (const { token, start, end } of jsonTokens(text)) {
    if (!/^[-\d]/.test(token) || hasExactNumber(token)) continue;
    exact += `${text.slice(copied, start)}"${token}"`;
    copied = end;
  }
  return copied === 0 ? value : JSON.parse(exact + text.slice(copied));
}

/** A string, a number, or a character that structures JSON. */
interface JsonToken {
  readonly token: string;
  readonly start: number;
  readonly end: number;
}

/** The tokens of valid JSON, without its words and white space. An expression for strings would fail on long ones. */
export function* jsonTokens(json: string): Generator<JsonToken> {
  const next = /["{}[\]:,]|-?\d[\d.eE+-]*/g;
  for (let match = next.exec(json); match !== null; match = next.exec(json)) {
    const { index: start } = match;
    if (match[0] === '"') next.lastIndex = endOfString(json, start);
    const end = next.lastIndex;
    yield { token: json.slice(start, end), start, end };
  }
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}

/**
 * Whether JavaScript has the number that a literal of JSON writes, exactly.
 *
 * @example
 * hasExactNumber('1046.8333333333335'); // true
 * hasExactNumber('9007199254740993'); // false
 */
export function hasExactNumber(literal: string): boolean {
  const number = Number(literal);
  if (/^-?\d+$/.test(literal)) return Number.isSafeInteger(number);
  return Number.isFinite(number) && digitsOf(literal) === digitsOf(String(number));
}

/** The digits that matter, and where they stand: the same for `1.50`, `1.5` and `15e-1`. */
function digitsOf(literal: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d*)\.?(\d*)(?:[eE](.*))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const last = digits.length - trailingZeros(digits);
  return last === 0
    ? '0'
    : `${digits.slice(0, last)}e${Number(exponent) - fraction.length + digits.length - last}`;
}

function trailingZeros(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.length - end;
}
