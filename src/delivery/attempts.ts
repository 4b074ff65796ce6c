import {
  concatMap,
  defer,
  identity,
  ignoreElements,
  type Observable,
  raceWith,
  retry,
  throwError,
} from 'rxjs';
import { backoffDelay } from '../../operators/backoff.ts';
import { longTimer } from '../../operators/long-timer.ts';
import { isFatal, isPermanent, PluginError } from '../errors.ts';
import { atHand, eventually } from '../returned.ts';

export interface AttemptPolicy {
  /** Attempts at most; undefined: without end. */
  readonly attempts: number | undefined;
  /** Seconds for one attempt; undefined: no limit. */
  readonly timeout: number | undefined;
  readonly random: () => number;
  readonly onRetry: (attempt: number, wait: number, error: unknown) => void;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 60_000;

/**
 * Calls until it succeeds, with backoff between. Returns undefined if the first call succeeded at once: then no
 * Observable was made. Otherwise an Observable that completes with success, or errors when the attempts are used
 * up or the error is permanent or fatal. It emits nothing.
 */
export function attempt(call: () => unknown, policy: AttemptPolicy): Observable<never> | undefined {
  let first: Observable<unknown>;
  try {
    const returned = call();
    if (atHand(returned) !== undefined) return undefined;
    first = eventually(returned);
  } catch (error) {
    first = throwError(() => error);
  }
  return attemptAgain(first, call, policy);
}

function attemptAgain(
  first: Observable<unknown>,
  call: () => unknown,
  policy: AttemptPolicy,
): Observable<never> {
  let attempts = 0;
  return defer(() => {
    attempts++;
    if (attempts === 1) return first;
    const returned = call();
    return atHand(returned) ?? eventually(returned);
  }).pipe(
    ignoreElements(),
    policy.timeout === undefined ? identity : raceWith(timeOut(policy.timeout)),
    retry({
      delay: (error) => {
        if (isFatal(error) || isPermanent(error) || attempts === policy.attempts)
          return throwError(() => error);
        const wait = backoffDelay(attempts, { base: FIRST_WAIT, cap: LONGEST_WAIT, random: policy.random });
        policy.onRetry(attempts, wait, error);
        return longTimer(wait);
      },
    }),
  );
}

/** Not rxjs's `timeout`: beyond 24 days Node's timers fire at once. */
function timeOut(seconds: number): Observable<never> {
  const message = `the forwarder did not finish within delivery.timeout (${seconds} s)`;
  return longTimer(seconds * 1000).pipe(concatMap(() => throwError(() => new PluginError(message))));
}
