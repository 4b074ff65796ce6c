import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as cel from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { LineBlock } from '../../../operators/files/follow/line-block.ts';
import { allowV8Flags } from '../../../operators/support/v8-flags.ts';
import { filtering } from '../../../plugins/expressions/filtering.ts';
import filter from '../../../plugins/process/filter.ts';
import * as v8Flags from '../../../src/cli/v8-flags.ts';
import { processLines } from '../../../src/rows/process-lines.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { LineEvents } from '../../../src/sdk/line-events.ts';
import { serialise } from '../../../src/sdk/serialise.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { processContext } from './context.ts';

// The command line does so too.
beforeEach(() => allowV8Flags(v8Flags.mayBeSet ? v8Flags : undefined));
afterEach(() => allowV8Flags(undefined));

const { process, mapLines } = filtering(cel);
const TIME = '2026-01-01T00:00:00.000Z';
const ENVELOPE = { timestamp: TIME, source: 'a.log', backfill: true, isTruncated: false };

function keeps(condition: string, data: CollectedEvent['data'], more: object = {}): boolean {
  const { ctx } = processContext({ keep: condition });
  return process({ ctx, event: { timestamp: TIME, data, ...more } }).length === 1;
}

const issuesOf = (settings: object) => {
  const parsed = filter.get_config_schema().safeParse({ plugin: 'filter', ...settings });
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => message);
};

describe('filter', () => {
  it.each<[string, CollectedEvent['data'], boolean]>([
    ['data.level == "error"', { level: 'error' }, true],
    ['data.level == "error"', { level: 'info' }, false],
    ['data.status >= 500', { status: 503 }, true],
    ['data.status + 1 == 504', { status: 503 }, true],
    ['data.duration * 2 > 3', { duration: 1.6 }, true],
    ['has(data.user) && data.user.admin', { user: { admin: true } }, true],
    ['has(data.user) && data.user.admin', {}, false],
    ['data.?level.orValue("none") == "none"', {}, true],
    ['"a" in data.tags', { tags: ['a', 'b'] }, true],
    ['data.tags.exists(t, t.startsWith("x"))', { tags: ['a', 'b'] }, false],
    ['data.path.matches("^/api/(?:v1|v2)/")', { path: '/api/v2/x' }, true],
    ['data.path.matches("(?i)ERROR")', { path: 'an error' }, true],
    ['timestamp < timestamp("2026-01-01T00:00:01Z")', {}, true],
    ['string(timestamp).startsWith("2026-01")', {}, true],
    ['tag == ""', {}, true],
  ])('%s of %j: %s', (condition, data, expected) => {
    expect(keeps(condition, data)).toBe(expected);
  });

  it('knows the tag of an event of a beacon', () => {
    expect(keeps('tag.endsWith("/load")', {}, { tag: 'host/beacon/1/load' })).toBe(true);
  });

  it('drops what `drop` says', () => {
    const { ctx } = processContext({ drop: 'data.n > 1' });
    const results = [1, 2].flatMap((n) => process({ ctx, event: { timestamp: TIME, data: { n } } }));
    expect(results.map(({ data }) => data.n)).toEqual([1]);
  });

  it.each([
    [{ keep: 'data.line +' }, 'a valid condition (Unexpected token: EOF, at character 12)'],
    [
      { drop: 'level == "a"' },
      'a valid condition (Unknown variable: level, at character 1; there are data, timestamp, tag, and a field of an event is data.NAME)',
    ],
    [
      { keep: 'data.level = "a"' },
      'a valid condition (Unexpected character: =, at character 12; to compare, write ==)',
    ],
    [{ keep: 'tag > 3' }, 'a valid condition (no such overload: string > int, at character 1)'],
    [{ keep: 'size(tag)' }, 'a valid condition (it gives a int)'],
    [
      { keep: 'tag.matches("(")' },
      expect.stringMatching(/^a valid condition \(.*group.*, at character 13\)$/),
    ],
    [{ keep: 'tag.matches(tag)' }, expect.stringContaining('matches() requires its expression in quotes')],
    [
      { keep: 'tag.matches("(?i)^(a+)+$")' },
      expect.stringMatching(/exponential time(, which [^,]* can bound)?, at character 13\)$/),
    ],
    [{}, 'found neither `keep` nor `drop`; expected exactly one of them'],
    [{ keep: 'true', drop: 'true' }, 'found both `keep` and `drop`; expected exactly one of them'],
  ])('refuses %j', (settings, message) => {
    expect(issuesOf(settings)).toEqual([message]);
  });

  it.each([
    ['data.level == "error"', {}, 'a field in `level` is missing; use has(…), or .?field.orValue(…)'],
    ['data[data.s] == 1', { s: 'hunter2' }, 'is missing'],
    ['int(data.s) > 1', { s: 'hunter2' }, 'in `int(data.s)`'],
    ['data.s', { s: 'hunter2' }, 'the condition gave a value that is neither true nor false'],
    ['data.s > 1', { s: 'hunter2' }, 'failed'],
  ])('fails on an event that %s cannot judge, and shows nothing of it', (condition, data, message) => {
    let error: Error | undefined;
    try {
      keeps(condition, data);
    } catch (thrown) {
      error = thrown as Error;
    }
    expect(error?.message).toContain(message);
    expect(error?.message).not.toContain('hunter2');
  });

  (v8Flags.mayBeSet ? it : it.skip)('does not backtrack without limit', () => {
    const text = `${'a'.repeat(50_000)}b`;
    expect(keeps('data.s.matches("^(a+)+$")', { s: text.slice(20_000) })).toBe(false);
    // Too long for V8's linear engine, which takes memory for each character: the event fails after a second.
    expect(() => keeps('data.s.matches("^(a+)+$")', { s: text })).toThrow('up to 40329 characters');
    // Quadratic, and with a flag that keeps V8 from its linear engine: the event fails after a second.
    expect(() => keeps('data.s.matches("(?i)a+b$")', { s: `${text.repeat(2)}c` })).toThrow('took too long');
  });

  const piece = fc.constantFrom('ERROR', 'DEBUG', 'x', ' ', 'ä', '😀', '"', '\r');
  const line = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const asciiLine = line.map((text) => text.replace(/[^ -~]/g, ''));
  const literal = fc.constantFrom('ERROR', 'x', 'xx', 'x\\nERROR', 'ä', '');
  const test = fc
    .tuple(fc.constantFrom('contains', 'startsWith', 'endsWith', 'matches'), literal)
    .map(([name, text]) => `data.line.${name}("${text}")`);
  const condition = fc.oneof(
    test,
    test.map((one) => `!${one}`),
    fc.tuple(test, fc.constantFrom('&&', '||'), test).map((parts) => parts.join(' ')),
    fc.constantFrom('data.line.size() > 3', 'data["line"] == "ERROR"', 'data.line.substring(1, 3) == "ER"'),
  );

  it('does to lines, in bytes and as text, what it does to their events', () => {
    const property = fc.property(
      fc.oneof(...[line, asciiLine].map((one) => fc.array(one, { minLength: 1, maxLength: 20 }))),
      condition,
      fc.constantFrom('keep', 'drop'),
      fc.constantFrom('as bytes', 'as text', 'joined'),
      (lines, source, way, form) => {
        const { ctx } = processContext({ [way]: source });
        const asBytes = form === 'as bytes';
        // One `\r` before the line end belongs to the line end.
        const single = lines.map((text) => text.replace(/\r+$/, ''));
        // What `multiline` makes of several lines is one with LF in it.
        const whole = form === 'joined' ? [single.slice(0, 3).join('\n'), ...single.slice(3)] : single;
        const block = new LineBlock(Buffer.from(`${whole.join('\n')}\n`), whole.length);
        const events = asBytes ? new LineEvents(block, ENVELOPE) : LineEvents.of(whole, ENVELOPE);
        let failed = 0;
        const dropped: number[] = [];
        const expectedDropped: number[] = [];
        const expected = LineEvents.of(whole, ENVELOPE).events.flatMap((event, index) => {
          try {
            const results = process({ ctx, event }) as readonly CollectedEvent[];
            if (results.length === 0) expectedDropped.push(index);
            return results;
          } catch {
            failed++;
            return [];
          }
        });
        const mapping = mapLines({ ctx });
        if (mapping === undefined) throw new Error('it reads the line only');
        const kept = processLines(events, mapping, {
          failed: () => void failed--,
          dropped: (count, indexes) => {
            dropped.push(...indexes());
            expect(dropped).toHaveLength(count);
          },
        });
        expect(kept.events.map((event) => serialise(event))).toEqual(expected.map((e) => serialise(e)));
        expect(failed).toBe(0);
        expect(dropped).toEqual(expectedDropped);
        const written = kept.size === 0 ? '' : kept.toJsonLines().toString();
        expect(written).toBe(expected.map((event) => `${serialise(event)}\n`).join(''));
      },
    );
    fc.assert(property, { numRuns: propertyRuns(60) });
  });

  it.each<[string, (line: string) => boolean]>([
    ['data.line.contains("b")', (line) => line.includes('b')],
    [
      '!data.line.startsWith("a") || data.line.endsWith("b")',
      (line) => !line.startsWith('a') || line.endsWith('b'),
    ],
    ['data.line.size() > 20000', (line) => line.length > 20_000],
  ])('keeps the same lines of a block that is decoded in several parts: %s', (source, expected) => {
    // Lengths around 32 KiB, the size of a part, and many short lines that do not end where a part does.
    const long = [32_766, 32_767, 32_768, 70_000].map((length) => 'a'.repeat(length));
    const short = Array.from({ length: 5000 }, (_, index) => 'ab '.repeat(index % 7));
    const lines = [...long, ...short, ...long.map((text) => `${text}b`), ''];
    const block = new LineBlock(Buffer.from(`${lines.join('\n')}\n`), lines.length);
    for (const way of ['keep', 'drop'] as const) {
      const mapping = mapLines({ ctx: processContext({ [way]: source }).ctx });
      if (mapping === undefined) throw new Error('it reads the line only');
      const dropped: number[] = [];
      const kept = processLines(new LineEvents(block, ENVELOPE), mapping, {
        failed: (_, error) => {
          throw error;
        },
        dropped: (_, indexes) => void dropped.push(...indexes()),
      });
      const isKept = (text: string) => expected(text) === (way === 'keep');
      expect(kept.texts.lines).toEqual(lines.filter(isKept));
      expect(dropped).toEqual(lines.flatMap((text, index) => (isKept(text) ? [] : [index])));
    }
  });

  it('is no matter of lines where it reads more than the line', () => {
    for (const source of [
      'data.line == data.source',
      'tag == ""',
      'size(data) == 2',
      'timestamp != timestamp',
    ]) {
      expect(mapLines({ ctx: processContext({ keep: source }).ctx })).toBeUndefined();
    }
  });
});
