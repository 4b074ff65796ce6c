import { describe, expect, it } from '@jest/globals';
import { nonTextFormat } from '../../../../operators/files/follow/file-fingerprint.ts';

const swapped = (bytes: Buffer, size: 2 | 4) =>
  size === 2 ? Buffer.from(bytes).swap16() : Buffer.from(bytes).swap32();
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const utf32 = (text: string) => {
  const codes = Uint32Array.from([...text].map((character) => character.codePointAt(0) as number));
  return Buffer.from(codes.buffer);
};

const TEXTS = ['key sk_live_aaaa', 'été à Paris', '\n\nsecond', 'Журнал событий', 'Ημερολόγιο'];

describe('nonTextFormat', () => {
  it.each(TEXTS)('knows UTF-16 and UTF-32 without a mark: %j', (text) => {
    for (const bytes of [utf16(text), swapped(utf16(text), 2)])
      expect(nonTextFormat(bytes)?.name).toMatch(/^UTF-16(?:LE|BE)$/);
    for (const bytes of [utf32(text), swapped(utf32(text), 4)])
      expect(nonTextFormat(bytes)?.name).toBe('UTF-32');
  });

  it('knows UTF-32 of any script', () => {
    expect(nonTextFormat(utf32('日本語ログ'))?.name).toBe('UTF-32');
    expect(nonTextFormat(swapped(utf32('😀😀😀😀'), 4))?.name).toBe('UTF-32');
  });

  it.each([
    '日本語ログ key sk_live_aaaa\r\n',
    '错误：密码是 hunter2。\n',
    '오류 기록 key=abcd\n',
    '「起動」42 件 ok\n'.repeat(60),
  ])('knows UTF-16 without a mark of a script of many characters by the ASCII in it: %j', (text) => {
    for (const bytes of [utf16(text), swapped(utf16(text), 2)])
      expect(nonTextFormat(bytes.subarray(0, 1024))?.name).toMatch(/^UTF-16(?:LE|BE)$/);
  });

  it.each([
    ['Latin-1', '\xe9t\xe9 \xe0 Paris, 100 \xa3\r\nna\xefve\n'],
    ['Latin-1 with records that end in NUL', 'caf\xe9\0bar\0a\0b\0th\xe9\0'.repeat(9)],
    ['Latin-1 behind the hole of a crash', `\xe9\n${'\0'.repeat(40)}\xe9t\xe9`],
    ['Latin-1 with UTF-16 of something else in it', 'cl\xe9: \ns\0e\0c\0r\0e\0t\0\nfin\n\xe9\n'],
    ['Shift-JIS', '\x93\xfa\x96\x7b\x8c\xea\x83\x8d\x83\x4f key abcd\r\n\x83\x8d\x83\x4f\n'],
    ['GBK', '\xb4\xed\xce\xf3\xa3\xba key abcd\n\xb4\xed\xce\xf3\n'],
  ])('takes %s for text', (_, bytes) => {
    expect(nonTextFormat(Buffer.from(bytes, 'latin1'))).toBeUndefined();
  });

  it('takes UTF-8 for text that has UTF-16 of something else in it, wherever its head ends', () => {
    const text = Buffer.concat([Buffer.from('日本語ログ: '), utf16('secret'), Buffer.from('、日本')]);
    for (const cut of [0, 1, 2, 3])
      expect(nonTextFormat(text.subarray(0, text.length - cut))).toBeUndefined();
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
    expect(nonTextFormat(Buffer.from(text))).toBeUndefined();
  });
});
