import {
  concat,
  concatMap,
  defer,
  EMPTY,
  identity,
  ignoreElements,
  type Observable,
  raceWith,
  retry,
  tap,
  throwError,
} from 'rxjs';
import { backoffDelay, longTimer } from '../../operators/index.ts';
import { steadyClock } from '../../operators/internal.ts';
import {
  BACKOFF,
  isFatal,
  isPermanent,
  MillraceError,
  PluginError,
  retryAfterOf,
  safeReason,
} from '../sdk/errors.ts';
import { availableResults, streamResults } from '../sdk/plugin.ts';
import { elapsedText } from './retry-log.ts';

export interface AttemptPolicy {
  /** What is tried, for messages: `forwarder archive`. */
  readonly name: string;
  /** Attempts at most; undefined: without end. */
  readonly attempts: number | undefined;
  /** Seconds for one attempt; undefined: no limit. */
  readonly timeout: number | undefined;
  /** With `once`, milliseconds: a call that has failed for so long ends the run. Undefined: it is made again without end. */
  readonly giveUpAfter: number | undefined;
  readonly random: () => number;
  readonly onRetry: (attempt: number, wait: number, error: unknown) => void;
  /** Called with true when a call is to be tried again for the first time, and with false when its attempts have ended. */
  readonly onFailing: (isFailing: boolean) => void;
  /** Holds back the calls of a forwarder after an error with `retryAfter`. */
  readonly pause?: Pause;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 60_000;

/** A time in which a forwarder is not to be called. */
export class Pause {
  #left: () => number = () => 0;

  /**
   * Milliseconds until it ends; 0 if there is none. Less than one is none: a timer may be early by a rounding error, and
   * another one for the rest might not move the clock at all.
   */
  get left(): number {
    const left = this.#left();
    return left < 1 ? 0 : left;
  }

  /** Starts one, unless there is one that ends later. */
  begin(ms: number): void {
    if (ms <= this.left) return;
    const elapsed = steadyClock();
    this.#left = () => ms - elapsed();
  }
}

/** The attempts to deliver some events, over all the calls that it takes. */
export class Attempts {
  readonly policy: AttemptPolicy;
  /** The number of failed attempts. */
  failed = 0;
  #failingFor: (() => number) | undefined;

  constructor(policy: AttemptPolicy, failed = 0) {
    this.policy = policy;
    this.failed = failed;
  }

  /**
   * One more has failed. Returns the milliseconds until the next one, of which the log is told, or undefined if there is
   * none: `limit` attempts have failed.
   *
   * @throws MillraceError `MILLRACE_GAVE_UP` if they have failed for longer than the run may wait.
   */
  next(error: unknown, limit = this.policy.attempts): number | undefined {
    const { name, giveUpAfter = Number.POSITIVE_INFINITY, pause, random, onFailing, onRetry } = this.policy;
    this.failed++;
    const failingFor = this.#failingFor?.() ?? 0;
    const left = giveUpAfter - failingFor;
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) pause?.begin(Math.min(left, retryAfter * 1000));
    if (limit !== undefined && this.failed >= limit) return undefined;
    if (this.#failingFor === undefined) {
      this.#failingFor = steadyClock();
      onFailing(true);
    }
    if (left <= 0) throw gaveUp(name, this.failed, failingFor, error);
    const backoff =
      (error as { readonly [BACKOFF]?: number } | null | undefined)?.[BACKOFF] ??
      backoffDelay(this.failed, { base: FIRST_WAIT, cap: LONGEST_WAIT, random });
    const wait = Math.min(left, retryAfter === undefined ? backoff : retryAfter * 1000);
    onRetry(this.failed, wait, error);
    return wait;
  }

  /** They succeeded, or are given up. */
  end(): void {
    if (this.#failingFor === undefined) return;
    this.#failingFor = undefined;
    this.policy.onFailing(false);
  }
}

/**
 * Whether the run fails with an error, in place of another attempt. One that says that every event would fail the same way
 * is waited out like any other, because a token may be rotated or a table created meanwhile. Only with `once`, and without a
 * limit on attempts, it fails the run, which is then started again some times.
 */
export function failsRun(error: unknown, { attempts, giveUpAfter }: AttemptPolicy): boolean {
  const hasEnd = giveUpAfter !== undefined && attempts === undefined;
  return isFatal(error) && (isPermanent(error) || hasEnd);
}

/** Makes a call, unless a pause holds it back. Creates no Observable for one that succeeds at once. */
export function startCall(
  call: () => unknown,
  { pause }: AttemptPolicy,
): Observable<unknown> | 'succeeded' | 'held back' {
  if (pause !== undefined && pause.left > 0) return 'held back';
  try {
    const returned = call();
    return availableResults(returned) === undefined ? streamResults(returned) : 'succeeded';
  } catch (error) {
    return throwError(() => error);
  }
}

/**
 * Completes when the call that was started succeeds, or one of those that are made again. `afterFailure` gets the error of
 * each and returns an Observable whose first value starts the next call. One that completes without a value ends the
 * calls, and one that errors fails them. A call is made when no pause is left.
 */
export function repeatCall(
  started: Observable<unknown> | 'held back',
  call: () => unknown,
  { timeout, pause }: AttemptPolicy,
  {
    succeeded,
    afterFailure,
  }: { succeeded: () => void; afterFailure: (error: unknown) => Observable<unknown> },
): Observable<never> {
  const call$ = defer(() => {
    const returned = call();
    return availableResults(returned) ?? streamResults(returned);
  });
  let next$ = started === 'held back' ? call$ : started;
  return defer(() => {
    const called$ = next$.pipe(
      ignoreElements(),
      timeout === undefined ? identity : raceWith(timeOut(timeout)),
    );
    next$ = call$;
    return pause === undefined ? called$ : concat(untilOver(pause), called$);
  }).pipe(tap({ complete: succeeded }), retry({ delay: afterFailure }));
}

/** Calls until it succeeds, with backoff between. Errors when the attempts are used up, or with an error that is not retried. */
export function attempt(call: () => unknown, policy: AttemptPolicy): Observable<never> {
  const attempts = new Attempts(policy);
  const afterFailure = (error: unknown) => {
    const wait = failsRun(error, policy) || isPermanent(error) ? undefined : attempts.next(error);
    return wait === undefined ? throwError(() => error) : longTimer(wait);
  };
  const started = startCall(call, policy);
  if (started === 'succeeded') return EMPTY;
  const end = () => attempts.end();
  return repeatCall(started, call, policy, { succeeded: end, afterFailure }).pipe(tap({ error: end }));
}

/** Completes when no pause is left: another call may have made it longer. */
function untilOver(pause: Pause): Observable<never> {
  return defer(() => {
    const { left } = pause;
    return left > 0 ? concat(longTimer(left).pipe(ignoreElements()), untilOver(pause)) : EMPTY;
  });
}

/** Not rxjs's `timeout`: beyond 24 days Node's timers fire at once. */
function timeOut(seconds: number): Observable<never> {
  const message = `the forwarder did not finish within delivery.timeout (${seconds} s)`;
  return longTimer(seconds * 1000).pipe(concatMap(() => throwError(() => new PluginError(message))));
}

/** The run fails, no other one follows, and nothing that it could not deliver is acknowledged. */
function gaveUp(name: string, attempts: number, ms: number, cause: unknown): MillraceError {
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  const message = `${name} failed ${times} over ${elapsedText(ms)}, and this run gives up: ${safeReason(cause)}`;
  const error = new MillraceError('MILLRACE_GAVE_UP', message, { cause });
  return Object.assign(error, { fatal: true, permanent: true });
}
