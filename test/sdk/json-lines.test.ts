import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { writeJsonLines } from '../../src/sdk/json-lines/write-json-lines.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { propertyRuns } from '../support/property-runs.ts';

const BEFORE = '{"line":"';
const AFTER = '","source":"a.log"}\n';

const beforeLine = '{"timestamp":"2026-01-01T00:00:00.000Z","data":{"line":"';
const afterLine = '","source":"a.log"},"backfill":true}\n';

const plain = (text: string, before: string, after: string): string =>
  text
    .split('\n')
    .map((line) => before + JSON.stringify(line).slice(1, -1) + after)
    .join('');

/** With everything that JSON escapes, at every place of a vector of sixteen bytes, and characters of 1 to 4 bytes. */
const part = fc.constantFrom(
  ...Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit)),
  '\n',
  '"',
  'a word',
  'sixteen letters!',
  'é',
  '\u2028',
  '😀',
);

describe('writeJsonLines', () => {
  it('writes what JSON.stringify writes of each line', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 80 }), fc.nat(400), (parts, room) => {
        const text = parts.join('');
        const written = writeJsonLines(text, BEFORE, AFTER, Buffer.alloc(room));
        expect(written?.toString()).toBe(plain(text, BEFORE, AFTER));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  it('does so with texts longer than its memory, whatever lies at the end of a part of it', () => {
    const long = fc.tuple(part, fc.nat(40), fc.integer({ min: 0, max: 200_000 }));
    fc.assert(
      fc.property(fc.array(long, { minLength: 1, maxLength: 3 }), (pieces) => {
        const text = pieces
          .map(([of, ahead, times]) => 'x'.repeat(ahead) + of.repeat(times / of.length))
          .join('');
        const written = writeJsonLines(text, BEFORE, AFTER, Buffer.alloc(1000));
        expect(written?.equals(Buffer.from(plain(text, BEFORE, AFTER)))).toBe(true);
      }),
      { numRuns: propertyRuns(10) },
    );
  });

  it('writes into the memory it is given if all has room there, and nothing behind it', () => {
    const into = Buffer.alloc(4096, 'z');
    const written = writeJsonLines('one\n"two"', BEFORE, AFTER, into);
    expect(written?.buffer).toBe(into.buffer);
    expect(into.subarray(written?.length).every((byte) => byte === 0x7a)).toBe(true);
  });

  it('leaves envelopes that do not fit its memory to the plain way', () => {
    const source = 'a/'.repeat(20_000);
    expect(writeJsonLines('a\nb', source, AFTER, Buffer.alloc(0))).toBeUndefined();
    const envelope = { timestamp: '2026-01-01T00:00:00.000Z', source, backfill: true, isTruncated: false };
    const lines = LineEvents.of(['a', 'b'], envelope).toJsonLines().toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).data)).toEqual([
      { line: 'a', source },
      { line: 'b', source },
    ]);
  });

  it('takes new memory once, and little more than the documents need', () => {
    const envelope = {
      timestamp: '2026-01-01T00:00:00.000Z',
      source: 'a.log',
      backfill: true,
      isTruncated: false,
    };
    const access = '10.0.0.1 - - [26/Nov/2026:14:30:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.5.0"';
    for (const line of ['x'.repeat(170), access, '']) {
      const written = LineEvents.of(Array(10_000).fill(line), envelope).toJsonLines();
      expect(written.toString()).toBe(plain(`${line}\n`.repeat(9999) + line, beforeLine, afterLine));
      expect(written.buffer.byteLength).toBeLessThan(written.length * 1.25);
    }
  });
});
