import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { serialise } from '../../src/sdk/serialise.ts';

/** Texts with what JSON escapes, what it does not, what takes several bytes, and halves of characters. */
const text = fc.oneof(
  fc.string(),
  fc
    .array(
      fc.constantFrom(
        'a',
        ' ',
        '"',
        '\\',
        '\0',
        '\t',
        '\r',
        '\x1f',
        '\x7f',
        'é',
        '\u2028',
        '😀',
        '\ud83d',
        '\ude00',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
);
const envelope = fc.record({
  timestamp: fc.constantFrom('2026-01-01T00:00:00.000Z', '', 'a "time"'),
  source: text,
  backfill: fc.boolean(),
  isTruncated: fc.boolean(),
});

describe('LineEvents', () => {
  it('writes what serialise writes of its events, whatever the lines', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 200 }), envelope, (lines, common) => {
        const events = LineEvents.of(lines, common);
        const written = events.events.map((event) => `${serialise(event)}\n`).join('');
        expect(events.toJsonLines().toString()).toBe(Buffer.from(written).toString());
      }),
    );
  });

  it('looks at each line once for slices in order', () => {
    const bytes = Buffer.from('a line\n'.repeat(1000));
    const block = new LineBlock(bytes, 1000);
    const search = jest.spyOn(bytes, 'indexOf');
    const slices = Array.from({ length: 1000 }, (_, n) => block.slice(n, n + 1));
    expect(search).toHaveBeenCalledTimes(1000);
    expect(slices.every(({ text }) => text === 'a line')).toBe(true);
    expect(block.slice(0, 2).text).toBe('a line\na line');
  });

  it('gives slices of plain lines, as Array.slice does', () => {
    const lines = fc.array(fc.constantFrom('', 'a', '"quoted"', 'some words'), {
      minLength: 1,
      maxLength: 20,
    });
    const common = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a', backfill: true, isTruncated: false };
    fc.assert(
      fc.property(lines, fc.nat(20), fc.nat(20), (all, one, other) => {
        const [start = 0, end = 0] = [Math.min(one, all.length), Math.min(other, all.length)].sort(
          (a, b) => a - b,
        );
        const block = new LineBlock(Buffer.from(all.map((text) => `${text}\n`).join('')), all.length);
        const slice = new LineEvents(block.slice(start, end), common);
        expect(slice.size).toBe(end - start);
        expect(slice.toJsonLines().toString()).toBe(
          LineEvents.of(all.slice(start, end), common).toJsonLines().toString(),
        );
      }),
    );
  });

  it('has the fields of specification 2.7, and `truncated` only where it is', () => {
    const common = {
      timestamp: '2026-01-01T00:00:00.000Z',
      source: 'a.log',
      backfill: false,
      isTruncated: false,
    };
    expect(LineEvents.of(['x'], common).events).toEqual([
      { timestamp: common.timestamp, data: { line: 'x', source: 'a.log' }, backfill: false },
    ]);
    expect(LineEvents.of(['x'], { ...common, isTruncated: true }).events).toEqual([
      { timestamp: common.timestamp, data: { line: 'x', source: 'a.log' }, backfill: false, truncated: true },
    ]);
  });
});
