import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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
