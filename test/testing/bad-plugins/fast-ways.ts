import { z } from 'zod';
import { batching } from '../../../src/sdk/batching.ts';
import { PluginError, type PluginErrorOptions } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { ParsedEvents, type ParsedFields } from '../../../src/sdk/parsed-events.ts';
import type { LineMapping, RowMapping, RowOutcomes } from '../../../src/sdk/plugin.ts';
import type { Rows } from '../../../src/sdk/rows.ts';
import { type Args, BASES, type Bad, type Ctx, forwarder, one, processor } from './make.ts';

type Map = (line: string, ctx: Ctx) => string | undefined;
type Many = (lines: string, ctx: Ctx) => string;

const shouting = ({ ctx, event }: Args) => {
  ctx.stats.masked('SHOUT', 1);
  return { ...event, data: { ...event.data, line: String(event.data.line).toUpperCase() } };
};

/** A processor that takes lines by `map`, too. */
const mapping = (process: (args: Args) => unknown, map: Map, many?: Many) => ({
  ...processor(process),
  mapLines: ({ ctx }: { ctx: Ctx }): LineMapping => ({
    map: (line) => map(line, ctx),
    many: many && { map: (lines) => many(lines, ctx), maxLength: 100_000, maxLineLength: 100_000 },
  }),
});

const kept = ({ ctx, event }: Args) => {
  ctx.shared_cache.kept = [...((ctx.shared_cache.kept as unknown[] | undefined) ?? []), event];
};

const keptAll = ({ ctx, events }: { ctx: Ctx; events: readonly CollectedEvent[] }) => {
  for (const event of events) kept({ ctx, event });
};

/** {@link refusing} for bytes: `failed` makes the error of the position of the refused event. */
const refusingBytes = (options: ((index: number) => PluginErrorOptions) | undefined, keptWith = true) => ({
  ...forwarder(kept),
  forwardJsonLines:
    ({ ctx }: { ctx: Ctx }) =>
    (documents: Buffer) => {
      const events = documents
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as CollectedEvent);
      const index = events.findIndex(({ data }) => data.n === 'refused');
      keptAll({ ctx, events: keptWith ? events.filter((_, at) => at !== index) : events.slice(0, 1) });
      if (index >= 0 && options !== undefined) throw new PluginError('refused', options(index));
    },
});

const ownLimits = z.strictObject({ events: z.number(), seconds: z.number() });

const REFUSED: CollectedEvent = { ...one(), data: { n: 'refused' } };

/** A forwarder whose sink refuses an event, of which the batch's error says something. */
const refusing = (options: PluginErrorOptions | undefined) => ({
  ...forwarder(kept),
  forwardBatch: ({ ctx, events }: { ctx: Ctx; events: readonly CollectedEvent[] }) => {
    const good = events.filter(({ data }) => data.n !== 'refused');
    keptAll({ ctx, events: good });
    if (good.length < events.length && options !== undefined) throw new PluginError('refused', options);
  },
});

type Fields = ParsedFields;

/** Removes `pin` from the fields, and drops events with `drop`; fails on a `line` that is a number. */
const withoutPin = (data: Fields): Fields | undefined => {
  if (typeof data.line === 'number') throw new PluginError('the line is a number');
  if (data.level === 'warn' && data.line === undefined) return undefined;
  if (data.status === undefined) return data;
  return { ...data, status: 'hidden' };
};

const pinProcess = ({ event }: Args) => {
  const data = withoutPin(event.data);
  return data === undefined ? [] : { ...event, data };
};

/** A processor that takes rows, too; `map` gets the rows from `start` to before `end`. */
const rowsBy = (
  map: (rows: ParsedEvents, ...args: Parameters<RowMapping>) => unknown,
  process: (args: Args) => unknown = pinProcess,
) => ({
  ...processor(process),
  mapRows: ({ rows }: { rows: Rows }) =>
    rows instanceof ParsedEvents
      ? (...args: Parameters<RowMapping>) => map(rows, ...args) as ParsedEvents
      : undefined,
});

const eachRow =
  (change: (data: Fields) => Fields | undefined) =>
  (rows: ParsedEvents, start: number, end: number, { dropped, failed }: RowOutcomes) => {
    const kept: number[] = [];
    const fields: Fields[] = [];
    for (let position = start; position < end; position++) {
      try {
        const changed = change(rows.fields[position] as Fields);
        if (changed === undefined) dropped(position);
        else {
          fields.push(changed);
          kept.push(position);
        }
      } catch (error) {
        failed(position, error);
      }
    }
    return new ParsedEvents(
      fields,
      rows.envelope,
      kept.map((at) => rows.eventAt(at).timestamp),
    );
  };

/** Ways of `mapRows` that are not like `process`, or that lose rows. */
export const BAD_ROWS: readonly Bad[] = (
  [
    [
      'rows that it does not change',
      rowsBy((rows, start, end) => rows.slice(start, end)),
      /for the event {.*} mapRows gave {.*}, where process (?:gave|failed)/,
    ],
    [
      'rows that it keeps where their events are dropped',
      rowsBy(
        eachRow((data) => data),
        () => [],
      ),
      /mapRows gave {.*}, where process gave no event/,
    ],
    [
      'rows that become several events',
      rowsBy(
        eachRow((data) => data),
        ({ event }) => [event, { ...event, data: {} }],
      ),
      /mapRows gave {.*}, where process gave {.*} and {/,
    ],
    [
      'rows whose times it loses',
      rowsBy(
        (rows, start, end) => new ParsedEvents(rows.fields.slice(start, end), rows.envelope),
        ({ event }) => event,
      ),
      /mapRows gave {"timestamp":"2026-01-02T03:04:05.678Z".*}, where process gave {"timestamp":"2026-01-02T03:04:05.000Z"/,
    ],
    [
      'rows that it takes from the start in every call',
      rowsBy(
        (rows, start, end) => rows.slice(0, end - start),
        ({ event }) => event,
      ),
      /for the event .* mapRows gave .*, where process gave/,
    ],
    [
      'rows that it loses',
      rowsBy(
        (rows, start, end) => rows.slice(start, end - 1),
        ({ event }) => event,
      ),
      /mapRows gave \d+ rows? for the rows 0 to \d+, where \d+ were neither dropped nor failed/,
    ],
    [
      'rows that it invents',
      rowsBy(
        (rows, start, end) => ParsedEvents.join([rows.slice(start, end), rows.slice(0, 1)]),
        ({ event }) => event,
      ),
      /mapRows gave \d+ rows for the rows 0 to \d+, where \d+ were neither dropped nor failed/,
    ],
    [
      'rows that it drops and gives',
      rowsBy((rows, start, end, { dropped }) => {
        dropped(start);
        return rows.slice(start, end);
      }),
      /where \d+ were neither dropped nor failed/,
    ],
    [
      'rows that it drops twice',
      rowsBy((rows, start, end, { dropped }) => {
        dropped(start);
        dropped(start);
        return rows.slice(start + 1, end);
      }),
      /mapRows told of row 0 twice/,
    ],
    [
      'rows that are not there',
      rowsBy((rows, start, end, { failed }) => {
        failed(99, new Error('no'));
        return rows.slice(start, end);
      }),
      /mapRows called failed with 99 for the rows 0 to \d+; positions count in `rows`/,
    ],
    [
      'positions that count in each call',
      rowsBy(
        (rows, start, end, { dropped }) => {
          for (let position = start; position < end; position++) dropped(position - start);
          return rows.slice(start, start);
        },
        () => [],
      ),
      /mapRows called dropped with 0 for the rows 1 to 1; positions count in `rows`/,
    ],
    [
      'rows that it throws on',
      rowsBy(
        () => {
          throw new RangeError('no rows');
        },
        ({ event }) => event,
      ),
      /the mapping of mapRows threw "RangeError.*", which loses all of its rows; call `failed`/,
    ],
    [
      'rows that it returns as a list',
      rowsBy((rows) => rows.fields),
      /the mapping of mapRows returned a list; expected ParsedEvents/,
    ],
    [
      'rows that it forgets to return',
      rowsBy(() => undefined),
      /the mapping of mapRows returned .*; expected ParsedEvents/,
    ],
    [
      'rows that it changes in place',
      rowsBy(
        (rows, start, end) => {
          for (const data of rows.fields.slice(start, end)) data.seen = true;
          return rows.slice(start, end);
        },
        ({ event }) => ({ ...event, data: { ...event.data, seen: true } }),
      ),
      /it writes to rows of which somebody else holds the events; make new fields, or take them by `rows.takeFields\(\)`/,
    ],
    [
      'rows that it changes before it fails on them',
      rowsBy(
        eachRow((data) => {
          data.seen = true;
          throw new PluginError('never');
        }),
        () => {
          throw new PluginError('never');
        },
      ),
      /mapRows changed a row that it then failed on/,
    ],
    [
      'rows that it masks and does not count',
      rowsBy(eachRow(withoutPin), ({ ctx, event }) => {
        ctx.stats.masked('PIN', 1);
        return pinProcess({ ctx, event });
      }),
      /for the same rows it counted \[\] as masked, where process counted \[\["PIN",\d+\]\]/,
    ],
    [
      'a promise of rows',
      { ...processor(pinProcess), mapRows: async () => undefined },
      /mapRows returned a mapping; expected a function, or undefined/,
    ],
  ] as const
).map(([name, plugin, told]): Bad => [name, 'process', plugin, [told]]);

/** Plugins whose optional ways do something else than the one that is always there. */
export const BAD_FAST_WAYS: readonly Bad[] = [
  [
    'lines that become others than their events',
    'process',
    mapping(shouting, (line, ctx) => {
      ctx.stats.masked('SHOUT', 1);
      return line;
    }),
    [
      /for the line the string "GET .*" mapLines gave {.*}, where process gave {.*GET \/INDEX\.HTML.*}; let it do the same/,
    ],
  ],
  [
    'lines whose events are dropped',
    'process',
    mapping(
      ({ event }) => (event.data.line === '' ? [] : [event]),
      (line) => line,
    ),
    [/for the line the string "" mapLines gave {.*}, where process gave no event/],
  ],
  [
    'dropped lines whose events are kept',
    'process',
    mapping(
      ({ event }) => event,
      (line) => (line === '' ? undefined : line),
    ),
    [/for the line the string "" mapLines gave no event, where process gave {/],
  ],
  [
    'dropped lines that are kept together with others',
    'process',
    mapping(
      ({ event }) => (event.data.line === '' ? [] : event),
      (line) => (line === '' ? undefined : line),
      (lines) => lines,
    ),
    [/together it gave the string .* where map gave .*throw on lines that `map` drops, or leave it out/],
  ],
  [
    'lines whose events it fails on',
    'process',
    mapping(
      ({ event }) => {
        if (event.data.line === '') throw new RangeError('empty');
        return event;
      },
      (line) => line,
    ),
    [/for the line the string "" mapLines gave {.*}, where process failed with "RangeError/],
  ],
  [
    'lines that it fails on, and not on their events',
    'process',
    mapping(
      ({ event }) => event,
      () => {
        throw new RangeError('no lines');
      },
    ),
    [/mapLines failed with "RangeError.*", where process gave {/],
  ],
  [
    'lines of which it counts nothing',
    'process',
    mapping(shouting, (line) => line.toUpperCase()),
    [/for the same lines it counted \[\] as masked, where process counted \[\["SHOUT",\d+\]\]/],
  ],
  [
    'lines that become others together',
    'process',
    mapping(
      ({ event }) => event,
      (line) => line,
      (lines) => lines.replace('GET', 'get'),
    ),
    [
      /for the lines the string .* together it gave the string .*, where map gave the string .*; let `many` do the same/,
    ],
  ],
  [
    'lines of which it counts nothing together',
    'process',
    mapping(
      shouting,
      (line, ctx) => {
        ctx.stats.masked('SHOUT', 1);
        return line.toUpperCase();
      },
      (lines) => lines.toUpperCase(),
    ),
    [/for the same lines together it counted \[\] as masked, where map counted \[\["SHOUT",\d+\]\]/],
  ],
  [
    'lines that it only counts',
    'process',
    {
      ...processor(({ event }) => event),
      mapLines: ({ ctx }: { ctx: Ctx }) => {
        ctx.stats.masked('ALL', 1);
        return undefined;
      },
    },
    [/mapLines returned undefined, and yet it counted \[\["ALL",1\]\]/],
  ],
  [
    'documents of which it drops some',
    'forward',
    {
      ...forwarder(kept),
      forwardJsonLines:
        ({ ctx }: { ctx: Ctx }) =>
        (documents: Buffer) => {
          const [first] = documents.toString().split('\n');
          ctx.shared_cache.kept = [JSON.parse(first as string)];
        },
    },
    [/forwardJsonLines delivered .* where forward delivered /],
  ],
  [
    'documents that it fails on',
    'forward',
    {
      ...forwarder(() => {}),
      forwardJsonLines: () => () => {
        throw new RangeError('no documents');
      },
    },
    [/forwardJsonLines failed: RangeError: no documents/],
  ],
  [
    'limits of batches without a function for them',
    'forward',
    { ...forwarder(kept), get_config_schema: () => BASES.forward.extend(batching()) },
    [/its schema has the fields of batching\(\), but it has no forwardBatch; add one/],
  ],
  [
    'limits of batches that the engine does not know',
    'forward',
    {
      ...forwarder(kept),
      get_config_schema: () => BASES.forward.extend({ batch: ownLimits.optional(), concurrency: z.number() }),
      forwardBatch: keptAll,
    },
    [/its schema has a field `batch` that the engine does not know.*extend the schema with batching\(\)/],
    { config: { concurrency: 1 } },
  ],
  [
    'batches of which only the last is kept',
    'forward',
    {
      ...forwarder(kept),
      get_config_schema: () => BASES.forward.extend(batching()),
      forwardBatch({ ctx, events }: { ctx: Ctx; events: readonly CollectedEvent[] }) {
        ctx.shared_cache.kept = events;
      },
    },
    [/forwardBatch, called several times, delivered .* where forward delivered/],
  ],
  [
    'events beside a refused one that are not delivered',
    'forward',
    {
      ...forwarder(kept),
      forwardBatch({ ctx, events }: { ctx: Ctx; events: readonly CollectedEvent[] }) {
        const index = events.findIndex(({ data }) => data.n === 'refused');
        keptAll({ ctx, events: index < 0 ? events : events.slice(0, index) });
        if (index >= 0) throw new PluginError('refused', { failedEvents: [{ index, permanent: true }] });
      },
    },
    [/of a batch with refused events, forwardBatch delivered .* where forward delivered/],
    { events: [one(), one()], refused: [REFUSED] },
  ],
  ...(
    [
      [undefined, /forwardBatch does not fail on a batch of which events are refused/],
      [
        { permanent: true },
        /fails with `permanent: true` for the whole batch, though its sink refuses only some/,
      ],
      [{ failedEvents: [7] }, /name no positions of a batch of \d events; give each as 0 to \d/],
      [{ failedEvents: [0], permanent: true }, /name 0; its sink refuses 1/],
      [{ failedEvents: [1] }, /names 1 without `permanent: true`: they would be sent again without end/],
    ] as const
  ).map(
    ([options, told], nth): Bad => [
      `a refused event that is not told of, ${nth}`,
      'forward',
      refusing(options),
      [told],
      { events: [one(), one()], refused: [REFUSED] },
    ],
  ),
  ...(
    [
      [undefined, /forwardJsonLines does not fail on a batch of which events are refused/],
      [
        () => ({ permanent: true }),
        /forwardJsonLines fails with `permanent: true` for the whole batch, though its sink refuses only some/,
      ],
      [(index) => ({ failedEvents: [{ index: index + 1, permanent: true }] }), /name 2; its sink refuses 1/],
      [(index) => ({ failedEvents: [index] }), /names 1 without `permanent: true`/],
      [() => ({ failedEvents: [99] }), /name no positions of a batch of \d events/],
    ] as readonly (readonly [((index: number) => PluginErrorOptions) | undefined, RegExp])[]
  ).map(
    ([options, told], nth): Bad => [
      `a refused event of bytes that is not told of, ${nth}`,
      'forward',
      refusingBytes(options),
      [told],
      { events: [one(), one()], refused: [REFUSED] },
    ],
  ),
  [
    'documents beside a refused one that are not delivered',
    'forward',
    refusingBytes((index) => ({ failedEvents: [{ index, permanent: true }] }), false),
    [/of a batch with refused events, forwardJsonLines delivered .* where forward delivered/],
    { events: [one(), one()], refused: [REFUSED] },
  ],
];
