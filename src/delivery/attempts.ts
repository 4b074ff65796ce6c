import {
  concatMap,
  defer,
  identity,
  ignoreElements,
  type Observable,
  raceWith,
  retry,
  tap,
  throwError,
} from 'rxjs';
import { backoffDelay } from '../../operators/backoff.ts';
import { longTimer } from '../../operators/long-timer.ts';
import { steadyClock } from '../../operators/steady-clock.ts';
import { isFatal, isPermanent, MillraceError, PluginError, safeReason } from '../errors.ts';
import { atHand, eventually } from '../returned.ts';

export interface AttemptPolicy {
  /** What is tried, for messages: `forwarder archive`. */
  readonly name: string;
  /** Attempts at most; undefined: without end. */
  readonly attempts: number | undefined;
  /** Seconds for one attempt; undefined: no limit. */
  readonly timeout: number | undefined;
  /** Milliseconds: a call that has failed for so long ends with a fatal error; undefined: never. */
  readonly giveUpAfter: number | undefined;
  readonly random: () => number;
  readonly onRetry: (attempt: number, wait: number, error: unknown) => void;
  /** Called with true when a call is to be tried again for the first time, and with false when its attempts have ended. */
  readonly onFailing: (isFailing: boolean) => void;
  /** Errors after which the same call is not tried again. Default: permanent and fatal ones only. */
  readonly isFinal?: (error: unknown) => boolean;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 60_000;

/** Milliseconds to wait after so many failed attempts. */
export function retryWait(attempts: number, random: () => number): number {
  return backoffDelay(attempts, { base: FIRST_WAIT, cap: LONGEST_WAIT, random });
}

/**
 * Calls until it succeeds, with backoff between. Returns undefined if the first call succeeded at once: then no
 * Observable was made. Otherwise an Observable that completes with success, or errors when the attempts are used
 * up or the error is permanent, fatal or final. It emits nothing.
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
  const { giveUpAfter = Number.POSITIVE_INFINITY } = policy;
  let attempts = 0;
  let failingFor: (() => number) | undefined;
  const ended = () => {
    if (failingFor !== undefined) policy.onFailing(false);
  };
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
        const isFinal = isFatal(error) || isPermanent(error) || policy.isFinal?.(error) === true;
        if (isFinal || attempts === policy.attempts) return throwError(() => error);
        if (failingFor === undefined) {
          failingFor = steadyClock();
          policy.onFailing(true);
        }
        const left = giveUpAfter - failingFor();
        if (left <= 0) return throwError(() => gaveUp(policy.name, attempts, failingFor?.() ?? 0, error));
        const wait = Math.min(left, retryWait(attempts, policy.random));
        policy.onRetry(attempts, wait, error);
        return longTimer(wait);
      },
    }),
    tap({ complete: ended, error: ended }),
  );
}

/** Not rxjs's `timeout`: beyond 24 days Node's timers fire at once. */
function timeOut(seconds: number): Observable<never> {
  const message = `the forwarder did not finish within delivery.timeout (${seconds} s)`;
  return longTimer(seconds * 1000).pipe(concatMap(() => throwError(() => new PluginError(message))));
}

/** Fatal: the run fails, and nothing that it could not deliver is acknowledged. */
function gaveUp(name: string, attempts: number, ms: number, cause: unknown): MillraceError {
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  const message = `${name} failed ${times} over ${elapsedText(ms)}, and this run gives up: ${safeReason(cause)}`;
  return Object.assign(new MillraceError('MILLRACE_GAVE_UP', message, { cause }), { fatal: true });
}

/**
 * A time that has passed, in whole units.
 *
 * @example
 * elapsedText(12_345); // '12 s'
 * elapsedText(300_000); // '5 min'
 */
export function elapsedText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
