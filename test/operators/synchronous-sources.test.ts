import { describe, expect, it } from '@jest/globals';
import { type OperatorFunction, of, range, take, tap } from 'rxjs';
import * as operators from '../../operators/index.ts';

const text = (n: number) => ({ data: { n: String(n) } });
const mapped: Readonly<Record<string, OperatorFunction<number, unknown>>> = {
  batchBy: operators.batchBy({ count: 1 }),
  childEvents: (source) =>
    source.pipe(
      operators.orderedMap((n) => [text(n)]),
      operators.childEvents({ name: 'x', count: 0 }),
    ),
  dedupe: operators.dedupe({ within: 1000 }),
  gatherMap: operators.gatherMap((values) => values),
  inFlight: operators.inFlight(new operators.InFlightWindow(1), (n) => [n]),
  orderedMap: operators.orderedMap((n) => [n]),
  rateLimit: operators.rateLimit({ count: 10, per: 1000 }),
  restartWithBackoff: operators.restartWithBackoff({
    base: 1,
    cap: 1,
    attempts: 1,
    healthyAfter: 1,
    onComplete: true,
  }),
  retryWithBackoff: operators.retryWithBackoff(),
  sampleFirst: operators.sampleFirst({ first: 10 }),
  sampleRate: operators.sampleRate({ rate: 1 }),
  untilAborted: operators.untilAborted(new AbortController().signal),
};

describe.each(Object.entries(mapped))('%s', (_, operator) => {
  it('stops a source that emits synchronously as soon as its consumer leaves', () => {
    let emitted = 0;
    range(0, 100_000)
      .pipe(
        tap(() => emitted++),
        operator,
        take(3),
      )
      .subscribe();
    expect(emitted).toBe(3);
  });
});

describe.each([
  ['orderedMap', operators.orderedMap],
  ['gatherMap', operators.gatherMap],
])('%s', (_, map) => {
  it('stops an inner source that emits synchronously', () => {
    let emitted = 0;
    const inner = range(0, 100_000).pipe(tap(() => emitted++));
    of('a')
      .pipe(
        map(() => inner),
        take(3),
      )
      .subscribe();
    expect(emitted).toBe(3);
  });
});
