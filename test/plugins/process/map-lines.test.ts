import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineBlock } from '../../../operators/files/follow/line-block.ts';
import * as entropy_mask from '../../../plugins/process/entropy_mask.ts';
import * as regex_mask from '../../../plugins/process/regex_mask.ts';
import type { Turn } from '../../../src/rows/process-lines.ts';
import { LineProcessing, processLines } from '../../../src/rows/process-lines.ts';
import { LineEvents } from '../../../src/sdk/line-events.ts';
import type { LineMapping } from '../../../src/sdk/plugin.ts';
import { serialise } from '../../../src/sdk/serialise.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { processContext } from './context.ts';

const part = fc.oneof(
  fc.constantFrom('KEY::0123456789', ' ', 'x@y.de', 'qGr4Kd0xT9bLw2Zp5v', 'ä', '"', '😀', '/', 'a', '\t'),
  fc.string({ maxLength: 4 }),
);
const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
const replacement = fc.record({
  mask_char: fc.constantFrom(undefined, '*', 'ü', '"'),
  mask_prefix: fc.constantFrom('<:', '', '"', 'ß\\'),
  mask_suffix: fc.constantFrom(':>', '', '\n'),
});
const envelope = fc.record({
  timestamp: fc.constantFrom('2026-01-01T00:00:00.000Z', 'KEY::0123456789', ''),
  source: fc.oneof(fc.constantFrom('/var/log/app.log', '/tmp/KEY::0123456789.log', '/tmp/x@y.de'), text),
  backfill: fc.boolean(),
  isTruncated: fc.boolean(),
});

const COMMON = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a.log', backfill: true, isTruncated: false };

const MASKS = {
  regex_mask: {
    plugin: regex_mask,
    settings: { rules: { SECRET: 'KEY::[0-9]{10}', EMAIL: '[a-z]+@[a-z.]+' } },
  },
  entropy_mask: { plugin: entropy_mask, settings: { length_threshold: 8, h_threshold: 0.7 } },
} as const;

/** How much was masked, by rule. */
function counts(masked: readonly [rule: string, count: number][]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [rule, count] of masked) counts[rule] = (counts[rule] ?? 0) + count;
  return counts;
}

describe.each(['regex_mask', 'entropy_mask'] as const)('%s: mapLines', (name) => {
  const { plugin, settings } = MASKS[name];
  const schema = plugin.get_config_schema();

  it('gives what process gives of the events, and counts the same', () => {
    let mapped = 0;
    const property = fc.property(
      fc.array(text, { minLength: 1, maxLength: 20 }),
      envelope,
      replacement,
      (lines, common, how) => {
        const config = schema.parse({ plugin: name, ...settings, ...how });
        const fast = processContext(config);
        const plain = processContext(config);
        const mapping = plugin.mapLines({ ctx: fast.ctx as never, envelope: common });
        const events = LineEvents.of(lines, common);
        const expected = events.events.flatMap((event) => plugin.process({ ctx: plain.ctx as never, event }));
        if (mapping === undefined) {
          expect(fast.masked).toEqual([]);
          return;
        }
        mapped++;
        const masked = processLines(events, mapping, {
          failed: (_, error) => {
            throw error;
          },
          dropped: () => {
            throw new Error('a mask drops nothing');
          },
        });
        expect(masked.events.map((event) => serialise(event))).toEqual(
          expected.map((event) => serialise(event)),
        );
        expect(counts(fast.masked)).toEqual(counts(plain.masked));
      },
    );
    fc.assert(property);
    expect(mapped).toBeGreaterThan(0);
  });

  it('has another way for many lines, unless what it adds could end a line', () => {
    const many = (how: object) => {
      const { ctx } = processContext(schema.parse({ plugin: name, ...settings, ...how }));
      return plugin.mapLines({ ctx: ctx as never, envelope: COMMON })?.many;
    };
    expect([many({}), many({ mask_char: '*' })]).toEqual([expect.anything(), expect.anything()]);
    expect([many({ mask_char: '\n' }), many({ mask_suffix: '\n' })]).toEqual([undefined, undefined]);
  });

  it('leaves to process what it would change besides lines', () => {
    const ctx = processContext(schema.parse({ plugin: name, ...settings })).ctx as never;
    const source = name === 'regex_mask' ? '/tmp/x@y.de' : 'qGr4Kd0xT9bLw2Zp5v';
    expect(plugin.mapLines({ ctx, envelope: { ...COMMON, source } })).toBeUndefined();
    expect(plugin.mapLines({ ctx, envelope: COMMON })).toBeDefined();
  });
});

describe('regex_mask: lines as bytes', () => {
  const rules = {
    SECRET: 'KEY::[0-9]{10}',
    EMAIL: '[a-z]+@[a-z.]+',
    IP: String.raw`\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b`,
  };
  const config = regex_mask.get_config_schema().parse({ plugin: 'regex_mask', rules });
  const word = fc.constantFrom(
    'KEY::0123456789',
    ' x@y.de',
    ' 1.2.34.5',
    '"',
    '\\',
    '\0',
    '\x7f',
    ' abc',
    '.',
  );
  const line = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
  const others = fc.constantFrom('', '', '', 'ä KEY::0123456789', 'a\r', 'x@y.de '.repeat(5000));
  const block = fc
    .record({
      lines: fc.array(line, { minLength: 1, maxLength: 40 }),
      other: others,
      times: fc.constantFrom(1, 30),
    })
    .map(({ lines, other, times }) => [...Array.from({ length: times }, () => lines).flat(), other]);
  const outcomes = {
    failed: (_: number, error: unknown) => {
      throw error;
    },
    dropped: () => {
      throw new Error('a mask drops nothing');
    },
  };

  it('are masked, counted and written as texts are, in one turn or in many, and when bytes are refused', () => {
    const inBytes = processContext(config);
    const inText = processContext(config);
    const { map, many } = regex_mask.mapLines({ ctx: inBytes.ctx as never, envelope: COMMON }) as LineMapping;
    const text = regex_mask.mapLines({ ctx: inText.ctx as never, envelope: COMMON }) as LineMapping;
    // The first texts are masked by the engine alone.
    for (let i = 0; i < 12; i++) many?.map('1.2.3.4 '.repeat(3000));
    let calls = 0;
    const refusing = (refusals: readonly ('maps' | 'refuses' | 'throws')[]): LineMapping => ({
      map,
      many: many && {
        ...many,
        mapBytes: (...bytes) => {
          const refusal = refusals[calls++ % refusals.length];
          if (refusal === 'throws') throw new Error('each line by itself');
          return refusal === 'refuses' ? -1 : (many.mapBytes?.(...bytes) ?? -1);
        },
      },
    });
    const property = fc.property(
      block,
      fc.array(fc.constantFrom('maps' as const, 'refuses' as const, 'throws' as const), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.boolean(),
      (lines, refusals, isOneTurn) => {
        inBytes.masked.length = 0;
        inText.masked.length = 0;
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const asTexts = LineEvents.of(
          lines.map((each) => each.replace(/\r$/, '')),
          COMMON,
        );
        const processing = new LineProcessing(
          new LineEvents(new LineBlock(bytes, lines.length), COMMON),
          refusing(refusals),
          outcomes,
        );
        const turn = isOneTurn ? undefined : ({ isSpent: () => true } as unknown as Turn);
        const written: Buffer[] = [];
        while (!processing.isDone) written.push(Buffer.from(processing.run(turn).toJsonLines()));
        const expected = processLines(asTexts, { map: text.map }, outcomes).toJsonLines();
        expect(Buffer.concat(written).toString()).toBe(expected.toString());
        expect(counts(inBytes.masked)).toEqual(counts(inText.masked));
      },
    );
    fc.assert(property, { numRuns: propertyRuns(60) });
    expect(many?.mapBytes).toBeDefined();
    expect(calls).toBeGreaterThan(propertyRuns(10));
  });
});

describe('lines that `many` refuses', () => {
  it('are mapped one by one, an empty line on its own too', () => {
    const refuse = () => {
      throw new Error('no');
    };
    const mapping = {
      map: (line: string) => `<${line}>`,
      many: { map: refuse, maxLength: 8, maxLineLength: 4 },
    };
    const lines = ['', 'too long for many', '', 'a', '', 'too long, too', ''];
    const outcomes = { failed: () => {}, dropped: () => {} };
    const processing = new LineProcessing(LineEvents.of(lines, COMMON), mapping, outcomes);
    const turn = { isSpent: () => true } as unknown as Turn;
    const mapped: string[] = [];
    for (let turns = 0; turns < 50 && !processing.isDone; turns++)
      mapped.push(...processing.run(turn).texts.lines);
    expect(mapped).toEqual(lines.map((line) => `<${line}>`));
  });
});
