import { isoNow } from '../../../operators/internal.ts';
import { EventBatch } from '../../../src/sdk/event-batch.ts';
import { type Args, type Bad, type Ctx, collector, one, processor } from './make.ts';

const pure = (process: (args: Args) => unknown, more: object = {}) => ({
  ...processor(process),
  traits: { pure: true },
  ...more,
});

let total = 0;
const counts = new Map<unknown, number>();

const withExample = (example: unknown, more: object = {}) => ({
  ...processor(({ event }) => ({ ...event, data: { ...event.data, seen: true } })),
  example,
  ...more,
});

const EXAMPLE = 'seen: { plugin: ./seen.mjs }';

/** Plugins that say of themselves what is not so. */
export const BAD_DECLARED: readonly Bad[] = [
  ...(
    [
      [
        'counts events in its module',
        ({ event }) => ({ ...event, data: { n: total++ } }),
        /something else the second time/,
      ],
      [
        'drops what it has seen before',
        ({ event }) => {
          const text = JSON.stringify(event);
          counts.set(text, (counts.get(text) ?? 0) + 1);
          return counts.get(text) === 1 ? event : [];
        },
        /something else the second time/,
      ],
      ['stamps events', ({ event }) => ({ ...event, timestamp: isoNow() }), /something else the second time/],
      [
        'draws lots',
        ({ event }) => ({ ...event, data: { n: Math.random() } }),
        /something else the second time/,
      ],
      [
        'remembers in its cache',
        ({ ctx, event }) => ({ ...event, data: { n: Object.keys(ctx.cache).length } }),
        /uses ctx\.cache/,
      ],
      [
        'logs',
        ({ ctx, event }) => {
          ctx.logger.info('one more');
          return event;
        },
        /it uses ctx\.logger, which workers do not have/,
      ],
      [
        'asks for its pipeline',
        ({ ctx, event }) => ({ ...event, data: { from: ctx.pipeline } }),
        /uses ctx\.pipeline/,
      ],
      ['promises events', async ({ event }) => event, /neither a promise nor an iterable/],
      [
        'yields events',
        function* ({ event }) {
          yield event;
        },
        /neither a promise nor an iterable/,
      ],
    ] as readonly (readonly [string, (args: Args) => unknown, RegExp])[]
  ).map(([name, process, told]): Bad => [`a pure processor that ${name}`, 'process', pure(process), [told]]),
  [
    'a pure processor that logs lines',
    'process',
    pure(({ event }) => event, {
      mapLines: ({ ctx }: { ctx: Ctx }) => ({
        map(line: string) {
          ctx.logger.debug('a line');
          return line;
        },
      }),
    }),
    [/it uses ctx\.logger/],
  ],
  ['an example that is not YAML', 'process', withExample('['), [/its `example` is not YAML/]],
  ['an example that is a number', 'process', withExample(7), [/its `example` is not a string/]],
  ['an example without a plugin', 'process', withExample('a: { b: 1 }'), [/its `example` is not an entry/]],
  [
    'an example with unknown fields',
    'process',
    withExample('a: { plugin: ./seen.mjs, colour: red }'),
    [/its schema refuses its `example`/],
  ],
  [
    'events of an example that become others',
    'process',
    withExample(EXAMPLE, { exampleEvents: [{ given: { a: 1 }, gives: [{ a: 1 }] }] }),
    [/for {"a":1} it gave \[{"a":1,"seen":true}\], where `exampleEvents` says \[{"a":1}\]/],
  ],
  [
    'events without an example',
    'process',
    withExample(undefined, { exampleEvents: [{ given: {}, gives: [] }] }),
    [/it has `exampleEvents` and no `example`/],
  ],
  [
    'a collector that has emitted all and does not complete',
    'collect',
    {
      ...collector(async function* ({ ctx }: { ctx: Ctx }) {
        yield one();
        await new Promise<void>((done) => ctx.signal.addEventListener('abort', () => done()));
      }),
      traits: { usesState: false },
    },
    [/with ctx\.once it emitted all that it has and did not complete in 200 ms/],
    { time: 'real', patience: 200 },
  ],
  [
    'a generator whose batches have no regard for the room',
    'collect',
    {
      ...collector(function* () {
        yield new EventBatch([one(), one(), one()]);
      }),
      traits: { usesState: false },
    },
    [/with room for 2 events it emitted a batch of 3, .* also in a generator/],
  ],
];
