import type { MonoTypeOperatorFunction } from 'rxjs';
import {
  POLICY_CHECKS,
  type RestartObserver,
  type RestartPolicy,
  restartWithBackoff,
} from './restart-with-backoff.ts';
import { checkOptions, type Optional } from './support/check-options.ts';

/** A {@link RestartPolicy} in which all options have defaults. */
export type RetryPolicy = Optional<Omit<RestartPolicy, 'onComplete'>>;

/**
 * {@link restartWithBackoff} for a source that may complete: subscribes again when it fails, and passes on the completion.
 * By default, it waits up to 1 s, 2 s, 4 s, … 60 s, and passes on the fifth failure, unless a run of 10 s or more came
 * between the failures.
 *
 * Use it instead of `retry` when the source needs time to recover.
 *
 * Errors: the last error, after `attempts` failures without a healthy run between them.
 *
 * @throws TypeError and RangeError as {@link restartWithBackoff} does.
 *
 * @example
 * let calls = 0;
 * const call$ = defer(() => (++calls < 3 ? throwError(() => new Error('busy')) : of('done')));
 * call$.pipe(retryWithBackoff({ base: 100, random: () => 0.5 })); // 'done' at 150 ms
 *
 * // A server that asks for a wait, by `Retry-After`.
 * const busy = Object.assign(new Error('429'), { retryAfter: 30_000 });
 * let requests = 0;
 * const request$ = defer(() => (++requests < 2 ? throwError(() => busy) : of('taken')));
 * request$.pipe(retryWithBackoff({ waitFrom: (error) => error.retryAfter })); // 'taken' at 30 s
 */
export function retryWithBackoff<T>(
  policy: RetryPolicy = {},
  observer: RestartObserver = {},
): MonoTypeOperatorFunction<T> {
  const { onComplete: _, ...checks } = POLICY_CHECKS;
  checkOptions('retryWithBackoff', policy, checks);
  const { base = 1000, cap = 60_000, attempts = 5, healthyAfter = 10_000, ...others } = policy;
  return restartWithBackoff({ base, cap, attempts, healthyAfter, ...others, onComplete: false }, observer);
}
