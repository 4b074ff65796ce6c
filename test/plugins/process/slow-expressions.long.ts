import { describe, expect, it } from '@jest/globals';
import * as redact from '../../../plugins/process/redact.ts';
import * as regex_mask from '../../../plugins/process/regex_mask.ts';
import { threadMs } from '../../../plugins/time-limits/thread-time.ts';
import { LineProcessing } from '../../../src/rows/process-lines.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { LineEvents } from '../../../src/sdk/line-events.ts';
import { ParsedEvents } from '../../../src/sdk/parsed-events.ts';
import type { ProcessPlugin } from '../../../src/sdk/plugin.ts';
import { processContext } from './context.ts';

const ENVELOPE = { timestamp: '2026-01-01T00:00:00Z', source: 'a.log', backfill: false, isTruncated: false };
/** The limit is one second for so short texts. A turn may take a few of them, and the machine may be ten times as slow. */
const LIMIT_MS = 10_000;
const SLOW_TEXTS = 60;

/** The plugin with one rule, which takes about a second on `slow`. */
function maskOf(name: 'regex_mask' | 'redact', rule: string) {
  const [plugin, given] =
    name === 'redact'
      ? [redact, { packs: [], rules: { R: rule, SECRET: 'key_[0-9]+' } }]
      : [regex_mask, { rules: { R: rule, SECRET: 'key_[0-9]+' } }];
  const { ctx } = processContext(plugin.get_config_schema().parse({ plugin: name, ...given }));
  return { plugin: plugin as unknown as ProcessPlugin, ctx: ctx as never };
}

/** Expressions whose time grows with a power of the length, and what one of them takes about a second or more on. */
const RULES = [
  ['of degree 4', 'a*a*a*b', 'a'.repeat(400)],
  ['of degree 4, in groups', '(.*)(.*)(.*)=', 'a'.repeat(400)],
  ['of degree 3', '[a-z]*[a-z]*!', 'a'.repeat(3000)],
  ['of degree 2, in a long text', '\\s+$', `${' '.repeat(60_000)}x`],
] as const;

describe.each(['regex_mask', 'redact'] as const)('%s by an expression', (name) => {
  describe.each(name === 'redact' ? RULES.slice(0, 1) : RULES)('%s', (_, rule, slow) => {
    it('ends an event of many strings in the time of one, and fails on it', () => {
      const { plugin, ctx } = maskOf(name, rule);
      const event: CollectedEvent = {
        timestamp: ENVELOPE.timestamp,
        data: { all: Array.from({ length: SLOW_TEXTS }, (_, i) => `${slow}${i}`) },
      };
      const before = threadMs();
      expect(() => plugin.process({ ctx, event })).toThrow('could not be masked within');
      expect(threadMs() - before).toBeLessThan(LIMIT_MS);
      const next = { timestamp: ENVELOPE.timestamp, data: { text: 'a key_1' } };
      expect(plugin.process({ ctx, event: next })).toMatchObject([{ data: { text: 'a <:SECRET:>' } }]);
    });
  });

  const [, [, rule, slow]] = RULES;
  const texts = Array.from({ length: 200 }, (_, i) => (i % 5 === 4 ? `${slow}${i}` : `ok key_${i}`));

  it('leaves lines that it cannot mask together to turns of their own', () => {
    const { plugin, ctx } = maskOf(name, rule);
    const mapping = plugin.mapLines?.({ ctx, envelope: ENVELOPE });
    const processing = new LineProcessing(LineEvents.of(texts, ENVELOPE), mapping as never, {
      failed: () => {},
      dropped: () => {},
    });
    const before = threadMs();
    const first = processing.run({ isSpent: () => true });
    expect(threadMs() - before).toBeLessThan(LIMIT_MS);
    expect(first.size).toBe(0);
    expect(processing.run({ isSpent: () => true }).events.map(({ data }) => data.line)).toEqual([
      'ok <:SECRET:>',
    ]);
  });

  it.each([
    ['that it cannot mask together', ''],
    ['of which each has to be masked by itself', '\n'],
  ])('leaves parsed rows %s to turns of their own', (_, ending) => {
    const { plugin, ctx } = maskOf(name, rule);
    const rows = new ParsedEvents(
      texts.map((text) => ({ text: text + ending })),
      ENVELOPE,
    );
    const mapping = plugin.mapRows?.({ ctx, rows });
    const told: unknown[] = [];
    const outcomes = {
      failed: (position: number) => void told.push(position),
      dropped: () => {},
      postponed: (position: number, end: number) => void told.push([position, end]),
    };
    const before = threadMs();
    const masked = mapping?.(0, texts.length, outcomes) as ParsedEvents;
    expect(threadMs() - before).toBeLessThan(LIMIT_MS);
    const [[position, end]] = told as [[number, number]];
    expect(told).toHaveLength(1);
    expect(end).toBeLessThanOrEqual(texts.length);
    expect(masked.size).toBe(position);
    for (const { text } of masked.fields) expect(text).not.toContain('key_');
    const alone = mapping?.(position, position + 1, outcomes) as ParsedEvents;
    expect(alone.size + told.length).toBe(2);
  });
});
