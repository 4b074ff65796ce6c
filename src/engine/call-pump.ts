import { Observable, type Subscriber } from 'rxjs';
import { Pump, subscribeInner } from '../../operators/internal.ts';

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
 * Makes the calls of a forwarder, some at a time. Completes the subscriber when the source has ended, nothing waits and all
 * calls have ended. Errors with what `next` or `send` throws, and with what a call emits as an error.
 */
export class CallPump<Call> {
  readonly #subscriber: Subscriber<never>;
  readonly #options: CallPumpOptions<Call>;
  readonly #pump: Pump;
  #calls = 0;
  #hasEnded = false;

  constructor(subscriber: Subscriber<never>, options: CallPumpOptions<Call>) {
    this.#subscriber = subscriber;
    this.#options = options;
    this.#pump = new Pump(() => this.#step(), subscriber);
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

  /** Makes the calls that may be made now. */
  run(): void {
    this.#pump.run();
  }

  #step(): boolean {
    const { concurrency, next, send, isEmpty } = this.#options;
    const call = this.#calls < concurrency ? next() : undefined;
    if (call !== undefined) {
      const sent = send(call);
      if (sent instanceof Observable) this.#waitFor(sent);
    } else if (this.#hasEnded && !this.isBusy && isEmpty()) this.#subscriber.complete();
    return call !== undefined;
  }

  #waitFor(sent: Observable<never>): void {
    this.#calls++;
    const ended = () => {
      this.#calls--;
      this.#options.onEnded?.();
      this.run();
    };
    subscribeInner(this.#subscriber, sent, () => {}, ended);
  }
}
