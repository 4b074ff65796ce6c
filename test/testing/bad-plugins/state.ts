import { from, map } from 'rxjs';
import type { StateValue } from '../../../src/sdk/context.ts';
import { EventBatch } from '../../../src/sdk/event-batch.ts';
import { collectedEvent } from '../../../src/sdk/events.ts';
import { type Bad, type Ctx, collector } from './make.ts';

const NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const event = (n: number) => collectedEvent({ n });
const next = ({ state }: Ctx) => Number(state?.get('next') ?? 0);

/** Emits numbers in batches of one, from where its state says. */
const numbers = (acknowledge: (ctx: Ctx, n: number) => void, first: (ctx: Ctx) => number = next) =>
  collector(({ ctx }) =>
    from(NUMBERS.slice(first(ctx))).pipe(map((n) => new EventBatch([event(n)], () => acknowledge(ctx, n)))),
  );

/** Collectors that lose or repeat events after a restart. */
export const BAD_STATE: readonly Bad[] = [
  [
    'no state, and no word of it',
    'collect',
    { ...collector(() => from(NUMBERS.map(event))), traits: {} },
    [
      /✗ state: .*\n.*it does not use ctx\.state and does not say so, .*; export const traits = \{ usesState: false \}/,
    ],
  ],
  [
    'an iterable of a function that is no generator, and no word of it',
    'collect',
    { ...collector(() => NUMBERS.map(event)), traits: { usesState: false } },
    [/✗ demand: .*\n.*it waits for room and does not say so, .*; export const traits = \{ waits: true \}/],
  ],
  [
    'a state that is read and never set',
    'collect',
    numbers(() => {}),
    [/after a restart it emitted 1 of 1 acknowledged events again; set ctx\.state in the `acknowledge`/],
  ],
  [
    'a state that is set and never read',
    'collect',
    numbers(
      ({ state }, n) => state?.set('next', n + 1),
      () => 0,
    ),
    [/✗ state: .*\n.*it emitted 1 of 1 acknowledged events again/],
  ],
  [
    'a state that is set before the acknowledgement',
    'collect',
    collector(({ ctx }) =>
      from(NUMBERS.slice(next(ctx))).pipe(
        map((n) => {
          ctx.state?.set('next', n + 1);
          return new EventBatch([event(n)]);
        }),
      ),
    ),
    [
      /✗ acknowledgement: .*\n.*it did not emit \d of \d events again that were not acknowledged, so a crash would lose them/,
    ],
  ],
  [
    'single events, which are never acknowledged, with a state',
    'collect',
    collector(function* ({ ctx }) {
      for (const n of NUMBERS.slice(next(ctx))) {
        ctx.state?.set('next', n + 1);
        yield event(n);
      }
    }),
    [/✗ acknowledgement: .*\n.*set ctx\.state in the `acknowledge` of an EventBatch, and only there/],
  ],
  [
    'a state that skips what follows an acknowledged batch',
    'collect',
    numbers(({ state }, n) => state?.set('next', n + 2)),
    [/✗ state: .*\n.*it did not emit 1 of 1 events again that were not acknowledged/],
  ],
  [
    'a state that is not JSON',
    'collect',
    numbers(({ state }, n) => state?.set('next', new Date(n) as unknown as StateValue)),
    [/it sets ctx\.state\.next to a value that JSON cannot represent; state is kept as JSON/],
  ],
];
