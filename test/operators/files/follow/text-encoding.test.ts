import { describe, expect, it } from '@jest/globals';
import { nonTextFormat } from '../../../../operators/files/follow/file-fingerprint.ts';
import { LineFramer } from '../../../../operators/files/follow/line-framer.ts';
import { encodingOf, isEncoding } from '../../../../operators/files/follow/text-encoding.ts';
import { seededRandom } from '../../../support/context.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16();

/** Lines of U+0A0A, U+010A and U+0A00, whose halves look like a line feed, and of other characters. */
const WIDE = 'key=\u0a0a\u010a\u0a00\u0a0d\r\n\n\u0a00\u0a0a\n日本 😀\ncafé €\n';
const CASES: readonly (readonly [label: string, bytes: Buffer, lines: readonly string[]])[] = [
  ['latin1', hex('636166e9 20 80 93 0a e90d0a 0a'), ['café €“', 'é', '']],
  ['iso-8859-15', hex('a4 0a e9 0a'), ['€', 'é']],
  ['Shift_JIS', hex('93fa 967b 8cea 0a 835c 0d0a b1 0a'), ['日本語', 'ソ', 'ｱ']],
  ['euc-jp', hex('c6fc cbdc 0a 8eb1 0a 61 0a'), ['日本', 'ｱ', 'a']],
  ['gb18030', hex('d6d0 0a 8130 8130 0a 9439 da33 0a'), ['中', '\x80', '💩']],
  ['big5', hex('a4a4 0a a5ac 0a'), ['中', '布']],
  ['koi8-r', hex('cbcccaa30a 61 0a'), ['клйё', 'a']],
  ['iso-2022-jp', hex('1b2442 467c 1b2842 0a 61 0a'), ['日', 'a']],
  ['utf-16le', utf16(WIDE), WIDE.replaceAll('\r', '').split('\n').slice(0, -1)],
  ['utf-16be', swapped(utf16(WIDE)), WIDE.replaceAll('\r', '').split('\n').slice(0, -1)],
  ['utf-16le', utf16('\ufeffone\ntwo\n'), ['one', 'two']],
  ['utf-16be', swapped(utf16('\ufeffone\ntwo\n')), ['one', 'two']],
  // The first byte of a character at the end of a line does not take the line feed.
  ['shift_jis', hex('61 83 0a 62 0a'), ['a\ufffd', 'b']],
  ['euc-jp', hex('61 c6 0a 62 0a'), ['a\ufffd', 'b']],
  ['gb18030', hex('61 81 0a 62 0a'), ['a\ufffd', 'b']],
  ['big5', hex('61 a4 0a 62 0a'), ['a\ufffd', 'b']],
];

/** The lines, and where each batch of one of them ends. */
function framed(
  label: string,
  chunks: readonly Buffer[],
  framer = new LineFramer(0, { encoding: encodingOf(label) }),
) {
  const lines: string[] = [];
  const ends: number[] = [];
  for (const chunk of chunks) {
    // The memory of a chunk is used again for the next one.
    const memory = Buffer.from(chunk);
    framer.feed(memory);
    while (framer.hasLines) {
      lines.push(...framer.take(1).lines);
      ends.push(framer.offset);
    }
    memory.fill(0x0a);
  }
  return { lines, ends, framer };
}

describe('lines in another encoding', () => {
  it.each(CASES)('%s %# is divided at its line feeds, whatever the chunks are', (label, bytes, lines) => {
    const whole = framed(label, [bytes]);
    expect(whole.lines).toEqual(lines);
    expect(whole.ends.at(-1)).toBe(bytes.length);
    for (let at = 0; at <= bytes.length; at++) {
      const parts = framed(label, [bytes.subarray(0, at), bytes.subarray(at)]);
      expect([parts.lines, parts.ends]).toEqual([whole.lines, whole.ends]);
    }
    const single = framed(
      label,
      Array.from(bytes, (byte) => Buffer.of(byte)),
    );
    expect([single.lines, single.ends]).toEqual([whole.lines, whole.ends]);
  });

  it.each(CASES)('%s %# is read on at the end of each line', (label, bytes) => {
    const { lines, ends } = framed(label, [bytes]);
    for (const [i, end] of ends.entries()) {
      const framer = new LineFramer(0, { encoding: encodingOf(label) });
      framer.startAt(end, bytes.subarray(0, end));
      expect(framed(label, [bytes.subarray(end)], framer).lines).toEqual(lines.slice(i + 1));
    }
  });

  it('has no line feed in a line, whatever its bytes are, and keeps ASCII', () => {
    const random = seededRandom();
    const labels = CASES.map(([label]) => label).concat(
      'gbk',
      'euc-kr',
      'macintosh',
      'ibm866',
      'windows-1251',
    );
    for (const label of new Set(labels)) {
      const { unit, terminator, name } = encodingOf(label);
      for (let run = 0; run < 50; run++) {
        const content = Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256)));
        for (let at = 0; at < content.length; at += unit) {
          if (content.subarray(at, at + unit).equals(terminator)) content[at] = 0x41;
          if (content.subarray(at, at + unit).equals(terminator)) content[at + 1] = 0x41;
        }
        const line = Buffer.concat([content, terminator]);
        expect([name, framed(label, [line, line]).lines.length]).toEqual([name, 2]);
      }
      if (unit === 1 && name !== 'iso-2022-jp') {
        const ascii = Buffer.from(
          Array.from({ length: 128 }, (_, byte) => ([0x0a, 0x1a, 0x1c, 0x7f].includes(byte) ? 0x41 : byte)),
        );
        const { lines } = framed(label, [Buffer.concat([Buffer.of(0x42), ascii, Buffer.of(0xe9, 0x0a)])]);
        expect(lines[0]?.startsWith(`B${ascii}`)).toBe(true);
      }
    }
  });

  it('counts bytes of the file in a line that is too long, and goes on after it', () => {
    for (const maxLineBytes of [8, 9]) {
      const framer = new LineFramer(0, { encoding: encodingOf('utf-16le'), maxLineBytes });
      const { lines, ends } = framed('utf-16le', [utf16('abcdef\nend\n')], framer);
      expect(lines[0]?.slice(0, 4)).toBe('abcd');
      expect([lines[1], ends]).toEqual(['end', [14, 22]]);
    }
  });

  it('keeps half of a character out of a last line without a line feed', () => {
    const { framer } = framed('utf-16be', [Buffer.concat([swapped(utf16('ab')), Buffer.of(0)])]);
    framer.end();
    expect(framer.take(1).lines).toEqual(['ab']);
    expect([framer.offset, framer.readOffset]).toEqual([4, 5]);
    expect(framed('utf-16be', [Buffer.of(0x63, 0, 0x0a)], framer).lines).toEqual(['c']);
    expect(framer.offset).toBe(8);
  });

  it('skips the hole at the start of a file in whole characters', () => {
    const { lines, framer } = framed('utf-16be', [Buffer.alloc(7), Buffer.alloc(3), swapped(utf16('a\n'))]);
    expect([lines, framer.takeHoleBytes()]).toEqual([['a'], 10]);
  });

  it('starts after the next line feed where it starts inside a line, or inside a character', () => {
    const bytes = utf16('\u0a0a\u0a0a\nnext\n');
    for (const offset of [1, 2, 3]) {
      const framer = new LineFramer(offset, { encoding: encodingOf('utf-16le') });
      framer.startAt(offset, bytes.subarray(0, offset), { isInLine: true });
      const { lines, ends } = framed('utf-16le', [bytes.subarray(offset)], framer);
      expect([lines, ends]).toEqual([['next'], [bytes.length]]);
    }
  });

  it('knows the labels of Node.js alone', () => {
    expect(['LATIN1', ' utf8 ', 'UTF-16', 'sjis'].map((label) => encodingOf(label).name)).toEqual([
      ...['windows-1252', 'utf-8', 'utf-16le', 'shift_jis'],
    ]);
    expect(['', 'klingon', 'utf-7', 'replacement'].some(isEncoding)).toBe(false);
  });

  it('takes no file for text that has another encoding in which masks would find nothing', () => {
    const format = (label: string, bytes: Buffer) => nonTextFormat(bytes, encodingOf(label))?.name;
    for (const text of ['password=hunter2\n', '\ufeffab', '日本 password=hunter2\n', '1\n2\n3\n4\n']) {
      expect(format('utf-16le', utf16(text))).toBeUndefined();
      expect(format('utf-16be', swapped(utf16(text)))).toBeUndefined();
      expect(format('utf-16be', utf16(text))).toBe('UTF-16LE');
      expect(format('utf-16le', swapped(utf16(text)))).toBe('UTF-16BE');
      if (text.length > 4) expect(format('shift_jis', utf16(text))).toMatch(/^UTF-/);
    }
    expect(format('utf-16le', Buffer.from('password=hunter2\n'))).toBe('UTF-8');
    expect(format('utf-16le', hex('1f8b'))).toBe('gzip');
  });
});
