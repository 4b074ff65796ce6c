import {
  defer,
  type MonoTypeOperatorFunction,
  type Observable,
  repeat,
  retry,
  type SchedulerLike,
  tap,
} from 'rxjs';
import { type Backoff, backoffDelay } from './backoff.ts';
import { longTimer } from './long-timer.ts';
import {
  BOOLEAN,
  type Check,
  type Checks,
  COUNT_OR_INFINITY,
  checkOptions,
  checkRequired,
  checkValue,
  FROM_0,
  FUNCTION,
  SCHEDULER,
} from './support/check-options.ts';
import { steadyClock } from './support/clock.ts';

export interface RestartPolicy extends Backoff {
  /** The maximum number of consecutive failures; the last one is passed on. With `Infinity`, none is. */
  readonly attempts: number;
  /** Milliseconds: a run that stays up this long is healthy and resets the failure count. With `Infinity`, none is healthy. */
  readonly healthyAfter: number;
  /** Whether a completed run is restarted too. */
  readonly onComplete: boolean;
  /** Whether an error is passed on at once, because another run would fail in the same way. Default: none is. */
  readonly isFatal?: ((error: unknown) => boolean) | undefined;
  /**
   * Returns the milliseconds to wait if an error asks for a wait, such as by `Retry-After`, and otherwise `undefined`.
   * `cap` does not limit this wait.
   */
  readonly waitFrom?: ((error: unknown) => number | undefined) | undefined;
  /** The scheduler that measures time and waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

export interface RestartObserver {
  /** A run starts. */
  readonly onStart?: (() => void) | undefined;
  /** A run ended, and the next one starts in `wait` ms. `error` is absent if the run completed. */
  readonly onWait?:
    | ((wait: number, failures: number, error?: { readonly cause: unknown }) => void)
    | undefined;
}

const FROM_0_OR_INFINITY: Check = (value) =>
  value === Infinity || FROM_0(value) === true || 'a number of at least 0, or Infinity';

export const POLICY_CHECKS: Checks<RestartPolicy> = {
  base: FROM_0,
  cap: FROM_0,
  attempts: COUNT_OR_INFINITY,
  healthyAfter: FROM_0_OR_INFINITY,
  onComplete: BOOLEAN,
  isFatal: FUNCTION,
  waitFrom: FUNCTION,
  random: FUNCTION,
  scheduler: SCHEDULER,
};
const OBSERVER_CHECKS: Checks<RestartObserver> = { onStart: FUNCTION, onWait: FUNCTION };

/**
 * Subscribes again to a source that failed or completed, after a backoff with full jitter. Unlike with
 * `retry({ resetOnSuccess: true })`, a healthy period resets the failure count, and a value does not. So a source that
 * emits once and fails cannot spin. Every restart goes through a timer, so restarts never nest in one call stack.
 *
 * Use it instead of `retry` and `repeat` when the source runs for a long time: a healthy period resets the count, and
 * waits grow.
 *
 * Errors: the last error, after `attempts` failures without a healthy run between them, or at once if it `isFatal`. Also
 * what `random`, `isFatal`, `waitFrom` or the observer throws, and a wait that is not a number of at least 0, at once.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `attempts` is neither an integer of at least 1 nor `Infinity`, `base` or `cap` is not
 * a finite number of at least 0, or `healthyAfter` is neither that nor `Infinity`.
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
  checkRequired('restartWithBackoff', policy, POLICY_CHECKS, required);
  checkOptions('restartWithBackoff', observer, OBSERVER_CHECKS);
  const { base, cap, random, scheduler, attempts, healthyAfter, onComplete, isFatal, waitFrom } = policy;
  const { onStart, onWait } = observer;
  return (source) =>
    defer(() => {
      const now = steadyClock(scheduler);
      let startedAt = 0;
      let failures = 0;
      let ends = 0;

      const begin = () => {
        startedAt = now();
        onStart?.();
      };

      /** Notifies when the next run starts. It emits, because a notifier that only completes would end the stream. */
      const pauseAfter = (error?: { readonly cause: unknown }): Observable<0> => {
        if (now() - startedAt >= healthyAfter) {
          failures = 0;
          ends = 0;
        }
        ends++;
        if (error !== undefined) {
          failures++;
          if (failures >= attempts || isFatal?.(error.cause) === true) throw error.cause;
        }
        const wait = waitOf(error) ?? backoffDelay(ends, { base, cap, random });
        onWait?.(wait, failures, error);
        return longTimer(wait, scheduler).pipe(tap(begin));
      };

      const waitOf = (error?: { readonly cause: unknown }): number | undefined => {
        const wait = error && waitFrom?.(error.cause);
        if (wait !== undefined) checkValue('restartWithBackoff', 'the result of waitFrom', wait, FROM_0);
        return wait;
      };

      begin();
      const retried = source.pipe(retry({ delay: (cause) => pauseAfter({ cause }) }));
      return onComplete ? retried.pipe(repeat({ delay: () => pauseAfter() })) : retried;
    });
}
