import type { OperatorFunction, SchedulerLike, Subscription } from 'rxjs';
import { longTimer } from '../../long-timer.ts';
import { ABOVE_0, atLeast, checkRequired, SCHEDULER } from '../../support/check-options.ts';
import { throughText } from '../../support/through-text.ts';
import { PieceMasker } from './piece-masker.ts';
import { REDACT_CHECKS, type RedactOptions, redactorOf } from './redact.ts';
import { LEAST_HELD, MOST_HELD } from './stream-masker.ts';

export interface RedactStreamOptions extends RedactOptions {
  /**
   * The most characters of a line that are held back; longer lines leave in parts, of which the last 4,096 characters stay for the next
   * one. 65,536 by default, and at least 16,384.
   */
  readonly mostHeld?: number | undefined;
  /** Milliseconds without a new piece after which held text leaves. By default, it waits for the rest of its line. */
  readonly flushAfter?: number | undefined;
  /** The scheduler of `flushAfter`. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

/**
 * Masks a text that arrives in pieces of any size, such as the output of a program or the answer of a language model. It masks
 * line by line, as a pipeline masks the lines of a file: a value is also found in the line after its key, and private keys are
 * masked whole. Where the pieces end changes nothing, and no part of a value leaves before it is masked.
 *
 * It holds back what may become part of a match: an incomplete word, and the rest of a line once it contains a keyword of a rule.
 * Everything else leaves at once. Pieces are strings, or UTF-8 that may be cut within a character. It emits strings, none of them
 * empty. What is held back leaves before an error of the source. A callback that throws causes an error notification.
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
  const checks = {
    ...REDACT_CHECKS,
    mostHeld: atLeast(LEAST_HELD),
    flushAfter: ABOVE_0,
    scheduler: SCHEDULER,
  };
  checkRequired('redactStream', options, checks, ['rules']);
  const { mostHeld = MOST_HELD, flushAfter, scheduler, ...redaction } = options;
  const redactor = redactorOf(redaction);
  return throughText((emit, subscription) => {
    const pieces = new PieceMasker(redactor.stream(mostHeld));
    if (flushAfter === undefined) return pieces;
    let pause: Subscription | undefined;
    subscription.add(() => pause?.unsubscribe());
    return {
      write: (piece) => {
        pause?.unsubscribe();
        const text = pieces.write(piece);
        if (pieces.held > 0 && !subscription.closed)
          pause = longTimer(flushAfter, scheduler).subscribe(() => emit(() => pieces.flush()));
        return text;
      },
      end: () => pieces.end(),
    };
  });
}
