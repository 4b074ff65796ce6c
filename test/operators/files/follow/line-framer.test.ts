import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BlockMemory } from '../../../../operators/files/follow/line-block.ts';
import { LineFramer } from '../../../../operators/files/follow/line-framer.ts';

/** Frames `bytes` in chunks, in one buffer that is overwritten as in the reader. */
function frame(bytes: Buffer, chunkBytes: number, max = Infinity): string[] {
  const framer = new LineFramer();
  const buffer = Buffer.alloc(chunkBytes);
  const lines: string[] = [];
  const drain = () => {
    while (framer.hasLines) lines.push(...framer.take(max).lines);
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    framer.feed(buffer.subarray(0, bytes.copy(buffer, 0, at, at + chunkBytes)));
    drain();
  }
  framer.end();
  drain();
  expect(framer.offset).toBe(bytes.length);
  return lines;
}

const MIXED = 'ä€😀\n\r\nplain\nzwei\r\n\n𝄞 end';

describe('LineFramer', () => {
  it.each([1, 2, 3, 4, 5, 7, 1000])(
    'keeps characters and terminators whole in chunks of %i bytes',
    (size) => {
      expect(frame(Buffer.from(MIXED), size)).toEqual(['ä€😀', '', 'plain', 'zwei', '', '𝄞 end']);
    },
  );

  it('does not depend on where chunks end, nor on how many lines are taken', () => {
    const pieces = fc.array(fc.constantFrom('\ufeff', 'a', '\n', '\r', '\r\n', 'ü', '😀', '\0'), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        pieces,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        (parts, size, max) => {
          const bytes = Buffer.from(parts.join(''));
          expect(frame(bytes, size, max)).toEqual(frame(bytes, 10_000));
        },
      ),
    );
  });

  it('turns invalid UTF-8 into U+FFFD, and keeps the text beside it', () => {
    const bytes = Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe2, 0x82, 0x0a, 0x63, 0x0a]);
    expect(frame(bytes, 100)).toEqual(['a\ufffdb', '\ufffd', 'c']);
    expect(frame(bytes, 1)).toEqual(['a\ufffdb', '\ufffd', 'c']);
  });

  it('keeps NUL and lone CR', () => {
    expect(frame(Buffer.from('a\0b\rc\n\r\r\n'), 3)).toEqual(['a\0b\rc', '\r']);
  });

  it.each([1, 2, 3, 4, 1000])(
    'leaves out a byte order mark at the begin, and no other, in chunks of %i bytes',
    (size) => {
      const text = '\ufeffone\n\ufefftwo\n';
      for (const max of [1, 9]) expect(frame(Buffer.from(text), size, max)).toEqual(['one', '\ufefftwo']);
      expect(frame(Buffer.from('\ufeffno end'), size)).toEqual(['no end']);
      expect(frame(Buffer.from('\ufeff\nsecond\n'), size)).toEqual(['', 'second']);
    },
  );

  it.each([3, 1000])('leaves it out of lines as bytes as well, in chunks of %i bytes', (size) => {
    const bytes = Buffer.from('\ufeffone\n\ufefftwo\n');
    const framer = new LineFramer();
    const memory = new BlockMemory();
    const texts: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      framer.feed(bytes.subarray(at, at + size));
      while (framer.hasLines) texts.push(Buffer.from(framer.take(9, memory).bytes).toString());
    }
    expect(texts.join('')).toBe('one\n\ufefftwo\n');
    expect(framer.offset).toBe(bytes.length);
  });

  it('takes a byte order mark alone for no line, and the empty line that follows it for one', () => {
    const framer = new LineFramer();
    framer.feed(Buffer.from('\ufeff'));
    framer.end();
    expect([framer.take(9).size, framer.offset, framer.isUnterminated]).toEqual([0, 3, false]);
    framer.feed(Buffer.from('\none\n'));
    expect(framer.take(9).lines).toEqual(['', 'one']);
  });

  it('keeps one where reading goes on, and leaves out that of a file that starts over', () => {
    const framer = new LineFramer(7);
    framer.feed(Buffer.from('\ufeffone\n'));
    expect(framer.take(9).lines).toEqual(['\ufeffone']);
    framer.restart();
    framer.feed(Buffer.from('\ufeffone\n'));
    expect(framer.take(9).lines).toEqual(['one']);
    expect(framer.offset).toBe(7);
  });

  it('knows where each line ends, to the byte', () => {
    const framer = new LineFramer(100);
    framer.feed(Buffer.from('ä\nb\r\nc'));
    expect([framer.offset, framer.readOffset]).toEqual([100, 107]);
    framer.take(1);
    expect(framer.offset).toBe(103);
    framer.take(1);
    expect([framer.offset, framer.isHolding, framer.hasLines]).toEqual([106, true, false]);
  });

  it('makes no second line of the terminator of a line that was ended early', () => {
    const framer = new LineFramer();
    framer.feed(Buffer.from('early\r'));
    framer.end();
    expect(framer.take(9).lines).toEqual(['early']);
    framer.feed(Buffer.from('\nnext\n'));
    expect(framer.take(9).lines).toEqual(['next']);
  });

  it('makes a line of what follows a line that was ended early', () => {
    const framer = new LineFramer();
    framer.feed(Buffer.from('one'));
    framer.end();
    expect(framer.take(9).lines).toEqual(['one']);
    framer.feed(Buffer.from('two\n\n'));
    expect(framer.take(9).lines).toEqual(['two', '']);
  });

  it('ends nothing where nothing is held', () => {
    const framer = new LineFramer();
    framer.end();
    expect(framer.hasLines).toBe(false);
  });

  it('joins a long line once, however small the chunks', () => {
    const [line] = frame(Buffer.from(`${'x'.repeat(4_000_000)}\n`), 1000);
    expect(line?.length).toBe(4_000_000);
  });

  it('starts over', () => {
    const framer = new LineFramer(7);
    framer.feed(Buffer.from('held'));
    framer.restart();
    expect([framer.offset, framer.readOffset, framer.isHolding]).toEqual([0, 0, false]);
  });

  it('keeps no more of a line than it may, says so, and takes it alone', () => {
    const framer = new LineFramer(0, { maxLineBytes: 6 });
    const text = `one\n${'x'.repeat(20)}\nsixsix\nend`;
    const found: [readonly string[], boolean, number][] = [];
    for (const byte of Buffer.from(text)) {
      framer.feed(Buffer.of(byte));
      while (framer.hasLines) found.push([framer.take(9).lines, framer.isTruncated, framer.offset]);
    }
    expect(found).toEqual([
      [['one'], false, 4],
      [['xxxxxx'], true, 25],
      [['sixsix'], false, 32],
    ]);
  });

  it('takes a line that was cut alone, before the others of the chunk', () => {
    const framer = new LineFramer(0, { maxLineBytes: 6 });
    framer.feed(Buffer.from('xxxxxxxx'));
    framer.feed(Buffer.from('xx\na\nb\n'));
    expect([framer.take(9).lines, framer.isTruncated]).toEqual([['xxxxxx'], true]);
    expect([framer.take(9).lines, framer.isTruncated]).toEqual([['a', 'b'], false]);
  });

  it('cuts a line that is ended early as well', () => {
    const framer = new LineFramer(0, { maxLineBytes: 3 });
    framer.feed(Buffer.from('12345'));
    framer.end();
    expect([framer.take(9).lines, framer.isTruncated, framer.isUnterminated]).toEqual([['123'], true, true]);
    expect(framer.offset).toBe(5);
  });

  it('can begin behind a line that was taken early', () => {
    const framer = new LineFramer(5, { isUnterminated: true });
    framer.feed(Buffer.from('\nnext\n'));
    expect(framer.take(9).lines).toEqual(['next']);
    const other = new LineFramer(5, { isUnterminated: true });
    other.feed(Buffer.from('\n'));
    expect(other.take(9).lines).toEqual([]);
    expect([other.offset, other.isUnterminated]).toEqual([6, false]);
  });
});
