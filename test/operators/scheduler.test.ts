import { describe, expect, it } from '@jest/globals';
import {
  catchError,
  concat,
  interval,
  type MonoTypeOperatorFunction,
  map,
  mergeMap,
  NEVER,
  type Observable,
  of,
  take,
  throwError,
  VirtualTimeScheduler,
} from 'rxjs';
import * as operators from '../../operators/index.ts';

/** What a stream emits, each value with its time, when nothing but this scheduler moves time. */
function timed(stream: (scheduler: VirtualTimeScheduler) => Observable<unknown>, until = 1000): string[] {
  const scheduler = new VirtualTimeScheduler(undefined, until);
  const seen: string[] = [];
  const subscription = stream(scheduler).subscribe((value) => seen.push(`${value}@${scheduler.now()}`));
  scheduler.flush();
  subscription.unsubscribe();
  return seen;
}

const ticks = (scheduler: VirtualTimeScheduler, operator: MonoTypeOperatorFunction<string>) =>
  interval(10, scheduler).pipe(
    take(5),
    map(() => 'a'),
    operator,
  );

describe('the scheduler that is given moves all time of', () => {
  it('dedupe', () => {
    const passed = timed((scheduler) => ticks(scheduler, operators.dedupe({ within: 20, scheduler })));
    expect(passed).toEqual(['a@10', 'a@30', 'a@50']);
  });

  it('sampleFirst', () => {
    const passed = timed((scheduler) => ticks(scheduler, operators.sampleFirst({ per: 30, scheduler })));
    expect(passed).toEqual(['a@10', 'a@40']);
  });

  it('rateLimit', () => {
    const limit = { count: 1, per: 25, onExceeded: 'delay' } as const;
    const passed = timed((scheduler) => ticks(scheduler, operators.rateLimit({ ...limit, scheduler })));
    expect(passed).toEqual(['a@10', 'a@35', 'a@60', 'a@85', 'a@110']);
  });

  it('batchBy', () => {
    const batches = timed((scheduler) =>
      interval(10, scheduler).pipe(take(3), operators.batchBy({ within: 15, scheduler })),
    );
    expect(batches).toEqual(['0,1@25', '2@30']);
  });

  it('bufferUntilIdle', () => {
    const buffers = timed((scheduler) =>
      interval(10, scheduler).pipe(take(3), operators.bufferUntilIdle({ idle: 5, scheduler })),
    );
    expect(buffers).toEqual(['0@15', '1@25', '2@30']);
  });

  it('circuitBreaker', () => {
    const answers = timed((scheduler) => {
      const breaker = operators.circuitBreaker({ failures: 1, openFor: 25, scheduler });
      const call$ = throwError(() => new Error('down')).pipe(
        breaker,
        catchError((error: Error) => of(error.name)),
      );
      return interval(10, scheduler).pipe(
        take(4),
        mergeMap(() => call$),
      );
    });
    expect(answers).toEqual(['Error@10', 'CircuitOpenError@20', 'CircuitOpenError@30', 'Error@40']);
  });

  it('delayRange', () => {
    const delayed = timed((scheduler) =>
      of('a').pipe(operators.delayRange({ minimum: 100, maximum: 100 }, { scheduler })),
    );
    expect(delayed).toEqual(['a@100']);
  });

  it('childEvents', () => {
    const options = { name: 'x', count: 1, delay: 50 };
    const events = timed((scheduler) =>
      of({ data: {} }).pipe(
        operators.childEvents({ ...options, scheduler }),
        map(({ data }) => JSON.stringify(data)),
      ),
    );
    expect(events).toEqual(['{}@50', '{"x-child-count":1}@100']);
  });

  it('poll', () => {
    const polled = timed((scheduler) => operators.poll(() => ['up'], { interval: 40, scheduler }), 100);
    expect(polled).toEqual(['up@0', 'up@40', 'up@80']);
  });

  it('longTimer', () => {
    expect(timed((scheduler) => operators.longTimer(70, scheduler))).toEqual(['0@70']);
  });

  it('restartWithBackoff, whose healthy period it measures', () => {
    const policy = { base: 10, cap: 100, attempts: 2, healthyAfter: 30, onComplete: false, random: () => 1 };
    const failures: number[] = [];
    const onWait = (_: number, failed: number) => void failures.push(failed);
    const runs = timed(
      (scheduler) =>
        concat(
          operators.longTimer(40, scheduler),
          throwError(() => 'down'),
        ).pipe(operators.restartWithBackoff({ ...policy, scheduler }, { onWait })),
      150,
    );
    expect(runs).toEqual(['0@40', '0@90', '0@140']);
    expect(failures).toEqual([1, 1, 1]);
  });

  it('retryWithBackoff', () => {
    const failing = throwError(() => 'down');
    const waits: number[] = [];
    const scheduler = new VirtualTimeScheduler();
    const observer = { onWait: (wait: number) => void waits.push(wait) };
    failing
      .pipe(operators.retryWithBackoff({ attempts: 3, random: () => 1, scheduler }, observer))
      .subscribe({ error: (error) => waits.push(scheduler.now(), error) });
    scheduler.flush();
    expect(waits).toEqual([1000, 2000, 3000, 'down']);
  });

  it('pullFrom, which pauses between slices', () => {
    const scheduler = new VirtualTimeScheduler();
    let pulled = 0;
    const rows = Array.from({ length: 20_000 }, (_, i) => i);
    operators
      .pullFrom(rows, { room: 1, room$: concat(of(1), NEVER) }, { scheduler })
      .subscribe(() => pulled++);
    expect(pulled).toBe(16_384);
    scheduler.flush();
    expect(pulled).toBe(20_000);
  });
});
