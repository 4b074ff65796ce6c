import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as entropy_mask from '../../../plugins/process/entropy_mask.ts';
import * as regex_mask from '../../../plugins/process/regex_mask.ts';
import { processLines } from '../../../src/delivery/process-lines.ts';
import { LineEvents, serialise } from '../../../src/models/index.ts';
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
