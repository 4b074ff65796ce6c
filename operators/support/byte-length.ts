/** The bytes of a text in UTF-8, or of any other value as JSON, counted without encoding it. */
export function byteLength(value: unknown): number {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A pair of surrogates is four bytes for two units; each half counts as one more, and a lone one as U+FFFD.
    if (unit > 0x7f) bytes += unit > 0x7ff && !isPaired(text, i, unit) ? 2 : 1;
  }
  return bytes;
}

function isPaired(text: string, i: number, unit: number): boolean {
  if (unit >= 0xd800 && unit < 0xdc00) return isLow(text.charCodeAt(i + 1));
  return isLow(unit) && isHigh(text.charCodeAt(i - 1));
}

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;
