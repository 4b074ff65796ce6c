import { Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';
import { longTimer } from '../../long-timer.ts';
import { ABOVE_0, type Check, checkRequired, SCHEDULER } from '../../support/check-options.ts';
import { subscribeFor } from '../../support/subscribe-for.ts';
import { PieceMasker } from './piece-masker.ts';
import { REDACT_CHECKS, type RedactOptions, redactorOf } from './redact.ts';

export interface RedactStreamOptions extends RedactOptions {
  /**
   * The most characters of a line that wait for what follows them; longer lines leave in parts, each but for its last 4,096
   * characters. 65,536 by default, and 16,384 at least.
   */
  readonly mostHeld?: number | undefined;
  /** Milliseconds without a piece after which what waits leaves. By default it waits for the rest of its line. */
  readonly flushAfter?: number | undefined;
  /** The scheduler that waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

export const MOST_HELD = 65_536;
const LEAST_HELD = 16_384;

export const AT_LEAST_HELD: Check = (value) =>
  (Number.isInteger(value) && (value as number) >= LEAST_HELD) || `an integer of at least ${LEAST_HELD}`;

/**
 * Masks a text that arrives in pieces of any size, such as the output of a program or the answer of a language model. A value
 * that is cut, at whatever place, is found as in the whole text, and no part of it leaves before it is masked. Lines see
 * those before them, so a value after its key is found in the next line too.
 *
 * It holds back what may become part of a match: a word that is not complete, and the rest of a line as soon as that has
 * something by which a rule is found. All else leaves at once. Pieces are strings, or UTF-8 that may be cut within a character; it emits
 * strings, none of them empty.
 *
 * Use it instead of `redact` when one value can be in two notifications.
 *
 * @throws as `redactor`, and RangeError if `flushAfter` is not above 0, or `mostHeld` is below 16,384.
 *
 * @example
 * of('login pin=12', '34 ok').pipe(redactStream({ rules: { PIN: { match: 'pin=([0-9]{4})', mask: 1 } } }));
 * // 'login pin=<:PIN:> ok'
 */
export function redactStream(options: RedactStreamOptions): OperatorFunction<string | Uint8Array, string> {
  const checks = { ...REDACT_CHECKS, mostHeld: AT_LEAST_HELD, flushAfter: ABOVE_0, scheduler: SCHEDULER };
  checkRequired('redactStream', options, checks, ['rules']);
  const { mostHeld = MOST_HELD, flushAfter, scheduler, ...redaction } = options;
  const redactor = redactorOf(redaction, true);
  let count = 0;
  return (source) =>
    new Observable<string>((subscriber) => {
      const pieces = new PieceMasker(redactor.stream(`stream ${++count}`, mostHeld));
      let pause: Subscription | undefined;
      const emit = (text: string) => {
        if (text !== '') subscriber.next(text);
      };
      subscriber.add(() => pause?.unsubscribe());
      subscribeFor(subscriber, source, {
        next: (piece) => {
          pause?.unsubscribe();
          emit(pieces.write(piece));
          if (flushAfter !== undefined && pieces.held > 0)
            pause = longTimer(flushAfter, scheduler).subscribe(() => emit(pieces.flush()));
        },
        error: (error) => {
          emit(pieces.end());
          subscriber.error(error);
        },
        complete: () => {
          emit(pieces.end());
          subscriber.complete();
        },
      });
    });
}
