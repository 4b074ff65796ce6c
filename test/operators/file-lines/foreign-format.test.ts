import { describe, expect, it } from '@jest/globals';
import { foreignFormat } from '../../../operators/file-lines/foreign-format.ts';

const swapped = (bytes: Buffer, size: 2 | 4) =>
  size === 2 ? Buffer.from(bytes).swap16() : Buffer.from(bytes).swap32();
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const utf32 = (text: string) => {
  const codes = Uint32Array.from([...text].map((character) => character.codePointAt(0) as number));
  return Buffer.from(codes.buffer);
};

const TEXTS = ['key sk_live_aaaa', 'été à Paris', '\n\nsecond', 'Журнал событий', 'Ημερολόγιο'];

describe('foreignFormat', () => {
  it.each(TEXTS)('knows UTF-16 and UTF-32 without a mark: %j', (text) => {
    for (const bytes of [utf16(text), swapped(utf16(text), 2)])
      expect(foreignFormat(bytes)?.name).toBe('UTF-16');
    for (const bytes of [utf32(text), swapped(utf32(text), 4)])
      expect(foreignFormat(bytes)?.name).toBe('UTF-32');
  });

  it('knows UTF-32 of any script', () => {
    expect(foreignFormat(utf32('日本語ログ'))?.name).toBe('UTF-32');
    expect(foreignFormat(swapped(utf32('😀😀😀😀'), 4))?.name).toBe('UTF-32');
  });

  it.each([
    ...TEXTS,
    '日本語ログ',
    '\0'.repeat(40),
    `${'\0'.repeat(20)}after a crash`,
    'a\0b\0\0',
    '\t\t\t\t',
    '\n\n\n\n\n\n\n\n',
    '\u001b[1mbold\u001b[0m',
    '',
  ])('takes UTF-8 for text: %j', (text) => {
    expect(foreignFormat(Buffer.from(text))).toBeUndefined();
  });
});
