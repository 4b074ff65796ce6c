import { type MonoTypeOperatorFunction, Observable, type SchedulerLike } from 'rxjs';
import { ABOVE_0, type Checks, COUNT, checkOptions, FUNCTION, SCHEDULER } from './support/check-options.ts';
import { steadyClock } from './support/clock.ts';
import { subscribeFor } from './support/subscribe-for.ts';

export interface CircuitBreakerOptions {
  /** Consecutive failures that open the circuit. Default: 5. */
  readonly failures?: number | undefined;
  /** Milliseconds for which an open circuit refuses every call, before it allows a trial call. Default: 30,000. */
  readonly openFor?: number | undefined;
  /** Whether an error means that the service is down, rather than that the call was wrong. Default: every error does. */
  readonly isFailure?: ((error: unknown) => boolean) | undefined;
  /** The scheduler that measures time. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<CircuitBreakerOptions> = {
  failures: COUNT,
  openFor: ABOVE_0,
  isFailure: FUNCTION,
  scheduler: SCHEDULER,
};

/** A call that was refused because earlier calls failed. */
export class CircuitOpenError extends Error {
  override readonly name = 'CircuitOpenError';
  readonly code = 'MILLRACE_CIRCUIT_OPEN';
  /** Milliseconds until the next trial call. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super(`the circuit is open after repeated failures; try again in ${retryAfter} ms`);
    this.retryAfter = retryAfter;
  }
}

/**
 * Stops calls to a service that keeps failing. After `failures` failures in a row, each subscription fails at once with a
 * {@link CircuitOpenError} and does not subscribe to the source. After `openFor`, one trial call is allowed. If it
 * succeeds, the circuit closes; if it fails, the circuit stays open for another `openFor`.
 *
 * Create one operator and use it for all calls to the same service, so that they share its state. A call succeeds when it
 * completes, or when its subscriber leaves after a value, as `firstValueFrom` does.
 *
 * Use it instead of `retry` when many calls go to the same service, and each would wait for its own timeout. If
 * `retryWithBackoff({ waitFrom: (error) => error.retryAfter })` follows it, a call waits for the trial.
 *
 * Errors: those of the source; CircuitOpenError; what `isFailure` throws.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `failures` is not an integer of at least 1, or `openFor` is not above 0.
 *
 * @example
 * let calls = 0;
 * const call$ = defer(() => throwError(() => `down ${++calls}`));
 * const breaker = circuitBreaker({ failures: 2, openFor: 1000 });
 * const attempt$ = call$.pipe(breaker, catchError((error) => of(error.name ?? error)));
 * concat(attempt$, attempt$, attempt$); // 'down 1', 'down 2', 'CircuitOpenError'
 */
export function circuitBreaker<T>(options: CircuitBreakerOptions = {}): MonoTypeOperatorFunction<T> {
  checkOptions('circuitBreaker', options, CHECKS);
  const { failures = 5, openFor = 30_000, isFailure = () => true, scheduler } = options;
  const now = steadyClock(scheduler);
  let failed = 0;
  /** Undefined while the circuit is closed. */
  let openUntil: number | undefined;
  let isTrying = false;

  return (source) =>
    new Observable<T>((subscriber) => {
      const isTrial = openUntil !== undefined;
      const wait = (openUntil ?? 0) - now();
      if (isTrial && (wait > 0 || isTrying)) {
        subscriber.error(new CircuitOpenError(Math.max(0, wait)));
        return;
      }
      isTrying = isTrial;
      let hasEmitted = false;
      let hasFailed = false;

      const succeed = () => {
        if (openUntil !== undefined && !isTrial) return;
        failed = 0;
        openUntil = undefined;
      };

      subscriber.add(() => {
        if (isTrial) isTrying = false;
        if (hasEmitted && !hasFailed) succeed();
      });
      subscribeFor(subscriber, source, {
        next: (value) => {
          hasEmitted = true;
          subscriber.next(value);
        },
        error: (error) => {
          hasFailed = true;
          try {
            if (!isFailure(error)) succeed();
            else if (++failed >= failures || isTrial) openUntil = now() + openFor;
          } catch (thrown) {
            subscriber.error(thrown);
          }
          subscriber.error(error);
        },
        complete: () => {
          succeed();
          subscriber.complete();
        },
      });
    });
}
