// The one operator that this application puts between its events and whatever stores them.

import { entropyMask, regexMask } from 'millrace/operators';
import { catchError, concatMap, EMPTY, of, pipe } from 'rxjs';

const RULES = {
  EMAIL: '(?<![\\w.+-])[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+',
  PASSWORD: '(?i)(?<=password=)\\S+',
};

/**
 * Masks every string of an event, at any depth: first what the rules know, then whatever looks random, such as
 * session tokens. An event that cannot be masked never passes: it is dropped and reported, and the next one follows.
 *
 * @template {object} E
 * @param {(error: Error) => void} onDropped
 * @returns {import('rxjs').MonoTypeOperatorFunction<E>}
 */
export function masked(onDropped) {
  const mask = pipe(
    /** @type {import('rxjs').MonoTypeOperatorFunction<E>} */ (regexMask({ rules: RULES })),
    /** @type {import('rxjs').MonoTypeOperatorFunction<E>} */ (entropyMask({ mask_str: 'TOKEN' })),
  );
  // Event by event, because an error ends the stream that it comes from.
  return concatMap((event) =>
    of(event).pipe(
      mask,
      catchError((error) => {
        onDropped(error);
        return EMPTY;
      }),
    ),
  );
}
