import { type MonoTypeOperatorFunction, Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { type Backoff, backoffDelay } from './backoff.ts';
import {
  BOOLEAN,
  type Checks,
  COUNT_OR_INFINITY,
  checkOptions,
  FROM_0,
  FUNCTION,
  SCHEDULER,
} from './check-options.ts';
import { longTimer } from './long-timer.ts';
import { steadyClock } from './steady-clock.ts';
import { subscribeFor } from './subscribe-for.ts';

export interface RestartPolicy extends Backoff {
  /** Consecutive failures at most: the last one is passed on. `Infinity`: none is. */
  readonly attempts: number;
  /** Milliseconds: a run that stayed up this long was healthy, and the count of failures begins anew. */
  readonly healthyAfter: number;
  /** Whether a run that completed is started again as well. */
  readonly onComplete: boolean;
  /** Whether an error is passed on at once, since another run would end with the same. Default: none is. */
  readonly isFatal?: ((error: unknown) => boolean) | undefined;
  /** What time is measured and waited by. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

export interface RestartObserver {
  /** A run begins. */
  readonly onStart?: (() => void) | undefined;
  /** A run ended, and the next one begins in `wait` ms. `error` is absent if the run completed. */
  readonly onWait?:
    | ((wait: number, failures: number, error?: { readonly cause: unknown }) => void)
    | undefined;
}

export const POLICY_CHECKS: Checks<RestartPolicy> = {
  base: FROM_0,
  cap: FROM_0,
  attempts: COUNT_OR_INFINITY,
  healthyAfter: FROM_0,
  onComplete: BOOLEAN,
  isFatal: FUNCTION,
  random: FUNCTION,
  scheduler: SCHEDULER,
};
const OBSERVER_CHECKS: Checks<RestartObserver> = { onStart: FUNCTION, onWait: FUNCTION };

/**
 * Subscribes again to a source that failed, or ended, after a backoff with full jitter. Unlike
 * `retry({ resetOnSuccess: true })`, the count is reset by a healthy period and never by a value: a source that
 * emits once and fails does not spin. Every restart goes through a timer, so no source loops in one stack.
 *
 * Errors: the last error, once there were `attempts` failures without a healthy run between them, or at once if it
 * `isFatal`; what `random` or the observer throws, at once.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `attempts` is neither an integer of at least 1 nor `Infinity`, or `base`, `cap` or
 * `healthyAfter` is not a finite number of at least 0.
 *
 * @example
 * let runs = 0;
 * const connect$ = defer(() => (++runs < 3 ? throwError(() => new Error('down')) : of('up')));
 * const policy = { base: 1000, cap: 60_000, attempts: 5, healthyAfter: 10_000, onComplete: false };
 *
 * // It waits half of 1 s, then half of 2 s. Without `random`, waits are drawn.
 * connect$.pipe(restartWithBackoff({ ...policy, random: () => 0.5 })); // 'up' at 1.5 s
 */
export function restartWithBackoff<T>(
  policy: RestartPolicy,
  observer: RestartObserver = {},
): MonoTypeOperatorFunction<T> {
  const required = ['base', 'cap', 'attempts', 'healthyAfter', 'onComplete'] as const;
  checkOptions('restartWithBackoff', policy, POLICY_CHECKS, required);
  checkOptions('restartWithBackoff', observer, OBSERVER_CHECKS);
  const { base, cap, random, scheduler } = policy;
  const { onStart, onWait } = observer;
  return (source) =>
    new Observable<T>((subscriber) => {
      const now = steadyClock(scheduler);
      let failures = 0;
      let ends = 0;
      let run: Subscription | undefined;

      const guarded = (step: () => void) => {
        try {
          step();
        } catch (error) {
          subscriber.error(error);
        }
      };

      const start = () => {
        run?.unsubscribe();
        const startedAt = now();
        onStart?.();
        run = subscribeFor(subscriber, source, {
          next: (value) => subscriber.next(value),
          error: (cause) => guarded(() => ended(startedAt, { cause })),
          complete: () => guarded(() => ended(startedAt)),
        });
      };

      const ended = (startedAt: number, error?: { readonly cause: unknown }) => {
        if (now() - startedAt >= policy.healthyAfter) {
          failures = 0;
          ends = 0;
        }
        ends++;
        if (error !== undefined) {
          failures++;
          if (failures >= policy.attempts || policy.isFatal?.(error.cause) === true) {
            subscriber.error(error.cause);
            return;
          }
        } else if (!policy.onComplete) {
          subscriber.complete();
          return;
        }
        const wait = backoffDelay(ends, { base, cap, random });
        onWait?.(wait, failures, error);
        if (!subscriber.closed) subscriber.add(longTimer(wait, scheduler).subscribe(() => guarded(start)));
      };

      guarded(start);
    });
}
