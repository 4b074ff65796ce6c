import { describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { ParsedEvents } from '../../src/sdk/parsed-events.ts';
import type { RowMapping } from '../../src/sdk/plugin.ts';
import { states } from '../support/pipelines.ts';

const envelope = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: false,
  isTruncated: false,
};
const get_config_schema = () => ({ safeParse: (data: unknown) => ({ success: true as const, data }) });
const LINES = ['a', 'b', 'c'];
/** After the calls before it. */
const last = (...results: readonly unknown[]) => results.at(-1);

/** Runs three lines through a processor with these members, in a pipeline that would be started again. */
function run(members: object, forward: object = {}) {
  const delivered: unknown[] = [];
  const told: unknown[] = [];
  const { logger, manager } = states({
    collect: {
      source: () => of(new EventBatch(LineEvents.of(LINES, envelope), (outcome) => void told.push(outcome))),
    },
    process: { p: { get_config_schema, process: () => undefined, ...members } as never },
    forward: {
      out: {
        get_config_schema,
        forward: ({ event }: { event: { data: unknown } }) => void delivered.push(event.data),
        ...forward,
      } as never,
    },
    pipeline: { restart: true },
    options: { once: true },
  });
  const failures = logger.lines.filter((line) => / main: (failed|restart)/.test(line));
  return { failures, delivered, told, manager };
}

const rowsOf = (start: number, end: number) =>
  new ParsedEvents(
    LINES.slice(start, end).map((line) => ({ line })),
    envelope,
  );
const mapRows = (mapping: unknown) => ({ mapRows: () => mapping });
const REST = '. The run fails, because what was meant cannot be told; correct the plugin';

describe('what a mapping of mapRows gives', () => {
  const bad: [string, string, (...args: Parameters<RowMapping>) => unknown][] = [
    ['null', 'the mapping of mapRows returned null; expected `ParsedEvents`', () => null],
    ['nothing', 'the mapping of mapRows returned undefined; expected', () => undefined],
    ['an object', 'the mapping of mapRows returned an object; expected', () => ({})],
    ['an array', 'the mapping of mapRows returned an array; expected', () => []],
    ['a promise', 'the mapping of mapRows returned a promise; expected', async (a, b) => rowsOf(a, b)],
    ['a number', 'the mapping of mapRows returned a number; expected', () => 3],
    [
      'too few',
      'returned 2 rows for the positions from 0 to before 3, with 0 dropped',
      (a, b) => rowsOf(a, b - 1),
    ],
    [
      'too many',
      'returned 3 rows for the positions from 0 to before 3, with 1 dropped and 0 failed',
      (a, b, { dropped }) => last(dropped(0), rowsOf(a, b)),
    ],
    [
      'the same position twice',
      'told of the row 1 twice',
      (a, b, { dropped }) => last(dropped(1), dropped(1), rowsOf(a, b - 2)),
    ],
    [
      'a position as dropped and failed',
      'told of the row 1 twice',
      (a, b, { dropped, failed }) => last(dropped(1), failed(1, new Error('x')), rowsOf(a, b - 2)),
    ],
    [
      '99',
      'called `dropped` with 99 for the rows from 0 to before 3',
      (a, b, { dropped }) => last(dropped(99), rowsOf(a, b)),
    ],
    ['-1', 'called `failed` with -1', (a, b, { failed }) => last(failed(-1, new Error('x')), rowsOf(a, b))],
    ['1.5', 'called `dropped` with 1.5', (a, b, { dropped }) => last(dropped(1.5), rowsOf(a, b))],
    [
      'no number',
      'called `dropped` with a string',
      (a, b, { dropped }) => last(dropped('1' as never), rowsOf(a, b)),
    ],
    [
      'all as postponed',
      'called `postponed` with 4 and 9',
      (a, b, { postponed }) => last(postponed(4, 9), rowsOf(a, b)),
    ],
    [
      'a row that it postpones as dropped',
      'told of a row that it postponed',
      (a, b, { dropped, postponed }) => last(dropped(b - 1), postponed(a + 2, b), rowsOf(a, a + 1)),
    ],
    [
      'a row of null',
      'returned a row whose fields are null',
      () => new ParsedEvents([null, {}, {}] as never, envelope),
    ],
    [
      'too few timestamps',
      'returned 3 rows with 1 timestamps',
      (a, b) => new ParsedEvents(rowsOf(a, b).fields, envelope, [envelope.timestamp]),
    ],
  ];

  it.each(bad)('fails the run for good, and is named: %s', (_, problem, mapping) => {
    const { failures, delivered, told } = run(mapRows(mapping));
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain('error main: failed: processor p: the mapping of mapRows');
    expect(failures[0]).toContain(problem);
    expect(failures[0]).toContain(REST);
    expect(delivered).toEqual([]);
    expect(told).toEqual([]);
  });

  it('passes if each row is given, dropped or failed', () => {
    const mapping: RowMapping = (_, __, { dropped, failed }) => {
      dropped(0);
      failed(2, new Error('x'));
      return rowsOf(1, 2);
    };
    const { failures, delivered, told } = run(mapRows(mapping));
    expect(failures).toEqual([]);
    expect(delivered).toEqual([{ line: 'b' }]);
    expect(told).toEqual(['refused']);
  });

  it('names the processor if it throws', () => {
    const { failures } = run(
      mapRows(() => {
        throw new TypeError('hunter2');
      }),
    );
    expect(failures.at(-1)).toContain('processor p failed in the mapping of mapRows: TypeError');
    expect(failures.join()).not.toContain('hunter2');
  });
});

describe('what the faster forms return', () => {
  const bad: [string, object, string][] = [
    ['mapRows a number', mapRows(5), 'mapRows returned a number; expected a function'],
    ['mapRows null', mapRows(null), 'mapRows returned null; expected a function'],
    ['mapRows an object', mapRows({ map: 1 }), 'mapRows returned an object; expected a function'],
    [
      'mapRows a promise',
      { mapRows: async () => undefined },
      'mapRows returned a promise; expected a function',
    ],
    ['mapLines a number', { mapLines: () => 5 }, 'mapLines returned a number; expected an object `{ map }`'],
    ['mapLines null', { mapLines: () => null }, 'mapLines returned null; expected'],
    ['mapLines a function', { mapLines: () => String }, 'mapLines returned a function; expected'],
    [
      'mapLines a promise',
      { mapLines: async () => ({ map: String }) },
      'mapLines returned a promise without `map`; expected',
    ],
    [
      'mapLines without map',
      { mapLines: () => ({ maps: String }) },
      'mapLines returned an object without `map`',
    ],
    [
      'mapLines with a wrong many',
      { mapLines: () => ({ map: String, many: String }) },
      'returned `many` as a function',
    ],
    [
      'a map that returns a number',
      { mapLines: () => ({ map: () => 5 }) },
      '`map` of mapLines returned a number; expected a string',
    ],
    ['a map that returns null', { mapLines: () => ({ map: () => null }) }, '`map` of mapLines returned null'],
    [
      'a map that returns a promise',
      { mapLines: () => ({ map: async () => 'x' }) },
      '`map` of mapLines returned a promise',
    ],
  ];

  it.each(bad)('fails the run for good, and is named: %s', (_, members, problem) => {
    const { failures, delivered, told } = run(members);
    expect(failures).toEqual([expect.stringContaining(problem)]);
    expect(failures[0]).toContain('error main: failed: processor p: ');
    expect(failures[0]).toContain(REST);
    expect(delivered).toEqual([]);
    expect(told).toEqual([]);
  });

  it.each([
    ['null', null],
    ['an object', {}],
    ['a promise', Promise.resolve()],
    ['a string', 'x'],
  ])('fails the run before a forwarder is called if forwardJsonLines returns %s', (kind, returned) => {
    const { failures, delivered } = run(
      { process: ({ event }: { event: unknown }) => event },
      { forwardJsonLines: () => returned },
    );
    expect(failures).toEqual([
      expect.stringContaining(
        `error main: failed: forwarder out: forwardJsonLines returned ${kind}; expected a function`,
      ),
    ]);
    expect(delivered).toEqual([]);
  });
});
