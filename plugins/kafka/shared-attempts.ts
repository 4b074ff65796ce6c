import { Observable } from 'rxjs';
import { type CallId, PluginError } from '../../src/sdk/index.ts';

/** Outcomes that are kept for attempts that may not come, because the engine has given the call up. */
const MOST_OUTCOMES = 1000;

interface Attempt {
  readonly outcome: Promise<void>;
  /** How many wait for it: none after a timeout of the engine. */
  waiting: number;
  hasEnded: boolean;
}

/**
 * Attempts to make calls, one for each call at a time. One that the engine did not wait for goes on, and gives its outcome to
 * the next attempt for the same call.
 */
export class SharedAttempts {
  readonly #attempts = new Map<CallId, Attempt>();

  /**
   * Emits nothing. `start` makes the call, unless it is being made. It is told whether anyone waits for it. `onSuccess` is
   * called only if the engine gets to know it.
   */
  join(
    id: CallId,
    start: (isWanted: () => boolean) => Promise<void>,
    onSuccess: () => void = () => {},
  ): Observable<never> {
    return new Observable((subscriber) => {
      const attempt = this.#attempts.get(id) ?? this.#begin(id, start);
      attempt.waiting++;
      subscriber.add(() => {
        attempt.waiting--;
      });
      const tell = (outcome: () => void) => {
        if (subscriber.closed) return;
        this.#attempts.delete(id);
        outcome();
      };
      attempt.outcome.then(
        () =>
          tell(() => {
            onSuccess();
            subscriber.complete();
          }),
        (error) => tell(() => subscriber.error(error)),
      );
    });
  }

  #begin(id: CallId, start: (isWanted: () => boolean) => Promise<void>): Attempt {
    const attempt: Attempt = {
      outcome: start(() => attempt.waiting > 0),
      waiting: 0,
      hasEnded: false,
    };
    const end = (isKept: boolean) => {
      attempt.hasEnded = true;
      if (!isKept && attempt.waiting === 0) this.#attempts.delete(id);
    };
    // Without an event that is stored, another attempt can be made in place of this one.
    attempt.outcome.then(
      () => end(true),
      (error) => end(error instanceof PluginError && error.failedEvents !== undefined),
    );
    this.#attempts.set(id, attempt);
    if (this.#attempts.size > MOST_OUTCOMES) this.#forgetOne();
    return attempt;
  }

  #forgetOne(): void {
    for (const [id, { hasEnded, waiting }] of this.#attempts) {
      if (!hasEnded || waiting > 0) continue;
      this.#attempts.delete(id);
      return;
    }
  }
}
