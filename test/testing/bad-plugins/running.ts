import { setTimeout as pauseFor } from 'node:timers/promises';
import { concat, EMPTY, firstValueFrom, interval, map, NEVER, Observable, of, take, tap, timer } from 'rxjs';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { type Bad, type Ctx, collector, forwarder, one, processor } from './make.ts';

/** Timers that bad plugins left, for the test to clear. */
export const leaked: NodeJS.Timeout[] = [];

/** The secret out of the texts of the data; what JSON does not show is kept, or not. */
function masked(event: CollectedEvent, isPlain: boolean): CollectedEvent {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll('hunter2', '***');
    if (Array.isArray(value)) return value.map(walk);
    const isRecord = typeof value === 'object' && value?.constructor === Object;
    if (isRecord) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]));
    return value;
  };
  const data = isPlain ? JSON.parse(JSON.stringify(event.data)) : event.data;
  return { ...event, data: walk(data) as CollectedEvent['data'] };
}

/** Plugins that go wrong while they run. */
export const BAD_RUNNING: readonly Bad[] = [
  [
    'a forwarder that returns something',
    'forward',
    forwarder(() => of('sent')),
    [/returns or emits a value, which nobody takes/],
  ],
  [
    'a forwarder that never ends',
    'forward',
    forwarder(() => NEVER),
    [/forward was not done after an hour of virtual time; complete, or resolve/],
  ],
  [
    'a forwardBatch that forgets',
    'forward',
    {
      ...forwarder(({ ctx, event }) => remember(ctx, [event])),
      forwardBatch: ({ ctx, events }: { ctx: Ctx; events: CollectedEvent[] }) =>
        remember(ctx, events.slice(1)),
    },
    [/forwardBatch delivered .* where forward delivered/],
  ],
  [
    'a mask that looks at texts alone',
    'process',
    { ...processor(({ event }) => [masked(event, false)]), traits: { masks: true } },
    [/it let a Map pass, in which a secret may stand; throw on what you cannot mask/],
  ],
  [
    'a mask that looks at the data alone',
    'process',
    { ...processor(({ event }) => [masked(event, true)]), traits: { masks: true } },
    [/it let the secret pass beside the data; mask every text at any depth/],
    { secret: 'hunter2' },
  ],
  [
    'no look at the room',
    'collect',
    collector(({ ctx }) => (ctx.demand.room > 0 ? interval(10).pipe(map(one)) : EMPTY)),
    [/with room for 2 events it emitted 8; emit at most ctx\.demand\.room/],
  ],
  [
    'no look at the room again',
    'collect',
    collector(({ ctx }) => concat(...Array.from({ length: ctx.demand.room > 9 ? 9 : 2 }, () => of(one())))),
    [/emitted 2 events where 8 were to come.*listen to ctx\.demand\.room\$/],
  ],
  [
    'real timers',
    'process',
    processor(({ event }) => new Promise((resolve) => setTimeout(() => resolve(event), 1))),
    [
      /it used real time: setTimeout\(\) at .*bad-plugins.running\.ts:\d+:\d+.*timer, delay, asyncScheduler\.now/,
    ],
  ],
  [
    'timers of node:timers/promises',
    'forward',
    forwarder(() => pauseFor(1)),
    [/it used real time: setTimeout\(\) of node:timers\/promises at .*bad-plugins/],
  ],
  [
    'RxJS timers after an await',
    'process',
    processor(async ({ event }) => {
      await Promise.resolve();
      await firstValueFrom(timer(1));
      return event;
    }),
    [/it used real time: setInterval\(\) by RxJS after an await at .*bad-plugins/],
  ],
  [
    'clocks',
    'process',
    processor(({ event }) => [
      { ...event, data: { a: Date.now(), b: new Date().toISOString(), c: performance.now() } },
    ]),
    [/Date\.now\(\) at .*bad-plugins.*new Date\(\) at .*bad-plugins.*performance\.now\(\) at/],
  ],
  [
    'a promise that never resolves',
    'process',
    processor(() => new Promise(() => {})),
    [/3 runs were not done after an hour of virtual time/],
  ],
  [
    'a timer that is never cleared',
    'collect',
    collector(
      () =>
        new Observable((subscriber) => {
          const ticks = setInterval(() => subscriber.next(one()), 10);
          leaked.push(ticks);
        }),
    ),
    [/left this open after it was unsubscribed from: Timeout; clear timers/],
    { time: 'real', patience: 100 },
  ],
  [
    'an RxJS timer that is never unsubscribed',
    'collect',
    collector(
      () =>
        new Observable((subscriber) => {
          interval(1000).subscribe(() => subscriber.next(one()));
        }),
    ),
    [/1 RxJS timers of it still run after it was unsubscribed from/],
  ],
  [
    'a deaf ear for the signal',
    'collect',
    collector(() => interval(1000).pipe(map(one))),
    [
      /it goes on after ctx\.signal was aborted; complete then/,
      /ctx\.signal was aborted before it began/,
    ].slice(0, 1),
  ],
  [
    'an error that quotes the event',
    'process',
    processor(({ event }) => {
      if (typeof event.data.line === 'string') JSON.parse(event.data.line.replace(/^[^{].*/, '{}'));
      if (Object.keys(event.data).length === 0) throw new Error('no data');
      if ('text' in event.data) throw new Error(`cannot take ${event.data.text}`);
      return event;
    }),
    [/its error for an event with .* quotes the event, and errors are logged; throw a PluginError/],
  ],
  [
    'an error where nobody can catch it',
    'forward',
    forwarder(({ event }) =>
      timer(1).pipe(
        take(1),
        tap(() => fling(event)),
        map(() => undefined),
      ),
    ),
    [/an event with empty data makes it throw where nobody can catch it/],
  ],
];

function remember({ shared_cache }: Ctx, events: readonly CollectedEvent[]): void {
  const { all = [] } = shared_cache as { all?: CollectedEvent[] };
  shared_cache.all = [...all, ...events];
}

function fling(event: CollectedEvent): void {
  if (Object.keys(event.data).length > 0) return;
  timer(1).subscribe(() => {
    throw new Error('flung');
  });
}
