import { z } from 'zod';
import { batching } from '../../../src/sdk/batching.ts';
import { PluginError, type PluginErrorOptions } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import type { LineMapping } from '../../../src/sdk/plugin.ts';
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
];
