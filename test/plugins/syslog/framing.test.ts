import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessageFramer } from '../../../plugins/syslog/framing.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** Reads chunks as a connection would, taking some messages at a time. */
function read(chunks: readonly (string | Buffer)[], { maxBytes = 100, most = 1000 } = {}) {
  let tooLong = 0;
  const framer = new MessageFramer(maxBytes, { tooLong: () => tooLong++ });
  const messages: string[] = [];
  for (const chunk of chunks) {
    framer.push(Buffer.from(chunk as string));
    for (let taken = most; taken === most; ) {
      const read = framer.take(most);
      taken = read.length;
      messages.push(...read);
    }
  }
  const last = framer.malformed === undefined ? framer.end() : undefined;
  if (last !== undefined) messages.push(last);
  return { messages, tooLong, malformed: framer.malformed };
}

describe('messages of a stream', () => {
  it('end with a newline, or have their length in front of them; the first bytes of each tell', () => {
    expect(read(['<1>a\n<1>b\r\n8 <1>c\nd\ne4 <1>f']).messages).toEqual([
      '<1>a',
      '<1>b',
      '<1>c\nd\ne',
      '<1>f',
    ]);
  });

  it.each([
    ['text without a priority', 'plain\n12 bottles\n', ['plain', '12 bottles']],
    ['text that starts with a time', '2026-01-02 03:04:05 up\n', ['2026-01-02 03:04:05 up']],
    ['empty lines', '\n\n<1>a\n\r\n\n', ['<1>a']],
    ['NULs, as Python sends them', '<1>a\0<1>b\0', ['<1>a', '<1>b']],
    ['a NUL and a newline', '<1>a\0\n<1>b\0\n', ['<1>a', '<1>b']],
    ['a counted message with a newline after it', '5 <1>a\n5 <1>b\n', ['<1>a', '<1>b']],
    ['a newline between counted messages', '4 <1>a\n4 <1>b\n', ['<1>a', '<1>b']],
    ['a last line without a newline', '<1>a\n<1>b', ['<1>a', '<1>b']],
    ['a number and nothing else', '12\n', ['12']],
    ['a number at the end', '12', []],
    ['a number that starts with 0', '04 <1>a\n', ['04 <1>a']],
    ['bytes of several characters', '7 <1>äö<1>ü\n', ['<1>äö', '<1>ü']],
  ])('reads %s', (_, text, messages) => {
    expect(read([text]).messages).toEqual(messages);
  });

  it('replaces bytes that are not UTF-8', () => {
    expect(read([Buffer.from([0x3c, 0x31, 0x3e, 0xff, 0x0a])]).messages).toEqual(['<1>\ufffd']);
  });

  it.each([
    ['a count that is too small', '3 <1>abc4 <1>d', ['<1>']],
    ['text after a counted message', '4 <1>a garbage\n', ['<1>a']],
    ['a number without a message after a counted message', '4 <1>a12 xyz', ['<1>a']],
    ['a count of 8 digits', '12345678 <1>a', []],
  ])('refuses %s', (_, text, messages) => {
    const result = read([text]);
    expect(result.messages).toEqual(messages);
    expect(result.malformed).toMatch(/length/);
  });

  it('refuses an end within a counted message', () => {
    expect(read(['9 <1>abc']).malformed).toBe('the connection ended inside of a message');
  });

  it('skips what is too long, and goes on with the next message', () => {
    const long = `<1>${'x'.repeat(500)}`;
    for (const text of [`${long}\n<1>b\n`, `503 ${long}4 <1>b`]) {
      const whole = read([text]);
      expect(whole).toEqual({ messages: ['<1>b'], tooLong: 1, malformed: undefined });
      expect(read([...text])).toEqual(whole);
    }
  });

  it('keeps no more of a message than the limit, however long it gets', () => {
    const framer = new MessageFramer(1000, { tooLong: () => {} });
    for (let sent = 0; sent < 1000; sent++) {
      framer.push(Buffer.alloc(1000, 'x'));
      expect(framer.take(10)).toEqual([]);
      expect(framer.memory).toBeLessThanOrEqual(4000);
    }
  });

  it('are the same however the stream is cut into chunks', () => {
    const text = fc.string({ unit: fc.constantFrom('<', '1', '9', '>', ' ', 'a', 'ä', '\n', '\0', '\r') });
    const parts = fc.array(
      fc.oneof(
        text,
        text.map((body) => `<1>${body}\n`),
        text.map((body) => `${Buffer.byteLength(`<1>${body}`)} <1>${body}`),
      ),
    );
    const check = (all: readonly string[], cuts: readonly number[], most: number) => {
      const bytes = Buffer.from(all.join(''));
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
      const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      expect(read(chunks as Buffer[], { maxBytes: 12, most })).toEqual(read([bytes], { maxBytes: 12 }));
    };
    fc.assert(
      fc.property(parts, fc.array(fc.nat(), { maxLength: 20 }), fc.integer({ min: 1, max: 3 }), check),
      { numRuns: propertyRuns(500) },
    );
  });
});
