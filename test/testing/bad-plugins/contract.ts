import { EMPTY, interval, map } from 'rxjs';
import { z } from 'zod';
import { BASES, type Bad, collector, forwarder, processor } from './make.ts';

const shared = { timestamp: '2026-01-01T00:00:00Z', data: {} };

/** Plugins whose schema or events are wrong. */
export const BAD_CONTRACT: readonly Bad[] = [
  [
    'no entry function',
    'process',
    { get_config_schema: () => BASES.process },
    [/it lacks the function process/],
  ],
  [
    'a trait that is misspelt',
    'process',
    { ...processor(({ event }) => event), traits: { mask: true } },
    [/it has the unknown trait `mask`; the traits of a process plugin are masks, filters, pure, needsOrder/],
  ],
  ['another kind', 'process', forwarder(() => {}), [/it is a forward plugin; expected a process plugin/]],
  [
    'no schema',
    'forward',
    { get_config_schema: () => undefined, forward() {} },
    [/no safeParse\(\); return a zod schema/],
  ],
  [
    'a loose schema',
    'forward',
    { get_config_schema: () => z.looseObject({}), forward() {} },
    [
      /accepts the key `conformance_unknown_key`.*use z\.strictObject, or extend ForwardConfigBase/,
      /accepts an entry without `plugin`/,
    ],
  ],
  [
    'a configuration that is refused',
    'forward',
    { get_config_schema: () => BASES.forward.extend({ url: z.string() }), forward() {} },
    [/refuses the configuration {"plugin":"conformance"}: url: .*Give `config` fields/],
  ],
  [
    'a schema that writes to its input',
    'forward',
    {
      get_config_schema: () => ({
        safeParse: (data: { plugin?: string }) => {
          if (Object.keys(data).length > 1 || data.plugin === undefined) {
            return { success: false, error: { issues: [] } };
          }
          data.plugin = 'x';
          return { success: true, data };
        },
      }),
      forward() {},
    },
    [/safeParse threw TypeError: .*not write to its input/],
  ],
  [
    'no event',
    'process',
    processor(() => [{ text: 'x' }]),
    [/emitted an object with the keys text; an event is/],
  ],
  [
    'a timestamp that is none',
    'process',
    processor(({ event }) => ({ ...event, timestamp: 4711 })),
    [/has the timestamp 4711; expected ISO 8601/],
  ],
  [
    'no events at all',
    'collect',
    collector(() => EMPTY),
    [/emitted nothing in an hour of virtual time; give/],
  ],
  [
    'a write to an event',
    'process',
    processor(({ event }) => {
      (event.data as Record<string, unknown>).seen = true;
      return event;
    }),
    [/it changed the event that it was given; make a new event/],
  ],
  [
    'a write to an event that is taken back',
    'forward',
    forwarder(({ event }) => {
      const data = event.data as Record<string, unknown>;
      data.seen = true;
      delete data.seen;
    }),
    [/failed on a frozen event, and not on one that can be written to: TypeError/],
  ],
  [
    'a write to the configuration',
    'forward',
    forwarder(({ ctx }) => {
      (ctx.config as { count?: number }).count = 1;
    }),
    [/writes to its configuration, which is frozen: TypeError.*keep state in ctx\.cache/],
  ],
  [
    'one object for all events',
    'collect',
    collector(() => interval(1000).pipe(map(() => shared))),
    [/emits the same object for several events/],
  ],
  [
    'one `data` for all events',
    'process',
    processor(({ event }) => ({ ...event, data: shared.data })),
    [/emits the same `data` for several events/],
  ],
];
