import { Observable, type Subscriber } from 'rxjs';
import { subscribeInner } from '../../operators/internal.ts';

interface CallPumpOptions<Call> {
  /** Calls at a time, at most. */
  readonly concurrency: number;
  /** Takes the next call that may be made now; undefined if there is none. */
  readonly next: () => Call | undefined;
  readonly send: (call: Call) => readonly never[] | Observable<never>;
  /** Whether nothing waits for a call. */
  readonly isEmpty: () => boolean;
  /** Called when a call has ended that was waited for, before the next one is made. */
  readonly onEnded?: () => void;
}

/**
 * Makes the calls of a forwarder. Completes the subscriber when the source has ended, nothing waits and all calls have
 * ended. Errors with what `send` throws or emits as an error.
 */
export class CallPump<Call> {
  readonly #subscriber: Subscriber<never>;
  readonly #options: CallPumpOptions<Call>;
  #calls = 0;
  #isRunning = false;
  #hasEnded = false;

  constructor(subscriber: Subscriber<never>, options: CallPumpOptions<Call>) {
    this.#subscriber = subscriber;
    this.#options = options;
  }

  /** Whether a call is being waited for. */
  get isBusy(): boolean {
    return this.#calls > 0;
  }

  /** Whether no more events will come. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The source has ended. */
  end(): void {
    this.#hasEnded = true;
    this.run();
  }

  /** Makes the calls that may be made now: in a loop, so that calls that complete at once do not nest. */
  run(): void {
    if (this.#isRunning) return;
    const { concurrency, next, send, isEmpty } = this.#options;
    this.#isRunning = true;
    while (this.#calls < concurrency && !this.#subscriber.closed) {
      const call = next();
      if (call === undefined) break;
      let sent: readonly never[] | Observable<never>;
      try {
        sent = send(call);
      } catch (error) {
        this.#subscriber.error(error);
        break;
      }
      if (!(sent instanceof Observable)) continue;
      this.#calls++;
      subscribeInner(
        this.#subscriber,
        sent,
        () => {},
        () => this.#ended(),
      );
    }
    this.#isRunning = false;
    if (this.#hasEnded && !this.isBusy && isEmpty()) this.#subscriber.complete();
  }

  #ended(): void {
    this.#calls--;
    this.#options.onEnded?.();
    this.run();
  }
}
