import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { areLinesVerbatim, isVerbatim } from '../../operators/verbatim.ts';
import { LineEvents } from '../../src/models/line-events.ts';
import { serialise } from '../../src/models/serialise.ts';

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

  it('writes the same for lines that are known to be held by JSON as they stand', () => {
    const verbatim = text.filter(isVerbatim);
    fc.assert(
      fc.property(fc.array(verbatim, { minLength: 1, maxLength: 200 }), envelope, (lines, common) => {
        const known = LineEvents.of(lines, common, true);
        expect(known.toJsonLines()).toEqual(LineEvents.of(lines, common).toJsonLines());
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

describe('isVerbatim and areLinesVerbatim', () => {
  it('agree with JSON.stringify', () => {
    fc.assert(
      fc.property(text, (line) => {
        const isHeld = JSON.stringify(line) === `"${line}"` && Buffer.byteLength(line) === line.length;
        // DEL is the one character of ASCII that JSON does not escape and that is no text.
        expect(isVerbatim(line)).toBe(isHeld && !line.includes('\x7f'));
      }),
    );
  });

  it('agree with each other, wherever the lines lie in memory', () => {
    fc.assert(
      fc.property(
        fc.array(
          text.map((line) => line.replaceAll(/[\n\r]/g, '')),
          { minLength: 1, maxLength: 20 },
        ),
        fc.constantFrom('\n', '\r\n'),
        fc.nat({ max: 7 }),
        fc.nat({ max: 7 }),
        (lines, terminator, before, start) => {
          const content = Buffer.from('"'.repeat(start) + lines.map((line) => line + terminator).join(''));
          const memory = Buffer.concat([Buffer.alloc(before, '"'), content, Buffer.from('"')]);
          const bytes = memory.subarray(before);
          expect(areLinesVerbatim(bytes, start, content.length)).toBe(lines.every(isVerbatim));
        },
      ),
    );
  });
});
