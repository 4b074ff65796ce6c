import { expect } from '@jest/globals';
import { isObservable, type Observable, take } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { isCode } from './docstrings.ts';

/** One value that an example claims, for Observables perhaps with its time in milliseconds. */
interface ClaimedValue {
  readonly code: string;
  readonly at: number | undefined;
}

interface Claim {
  readonly values: readonly ClaimedValue[];
  /** The claim ends in `…`: there is more to come. */
  readonly isOpen: boolean;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const AT = /\s+at\s+(\d+(?:\.\d+)?)\s*(ms|s|min|h|d)$/;

/**
 * Reads what stands behind a statement: a JavaScript expression; for an Observable several of them between commas,
 * each perhaps with the time when it comes (`30 at 1.5 s`), and `…` at the end if there is more. `nothing` means an
 * Observable that completes without a value.
 */
export function readClaim(text: string): Claim {
  if (text.trim() === 'nothing') return { values: [], isOpen: false };
  const isOpen = /(?:,\s*)?…$/.test(text);
  const values: ClaimedValue[] = [];
  let piece = '';
  for (const part of text.replace(/(?:,\s*)?…$/, '').split(',')) {
    piece += piece === '' ? part : `,${part}`;
    const time = AT.exec(piece);
    const code = piece.replace(AT, '').trim();
    if (!isCode(`(${code})`)) continue;
    values.push({
      code,
      at: time === null ? undefined : Number(time[1]) * (UNITS[time[2] as string] as number),
    });
    piece = '';
  }
  if (piece !== '' || values.length === 0) {
    throw new Error(`not a value: \`${text}\`; prose stands on a line of its own, before the statement`);
  }
  return { values, isOpen };
}

/** Checks the value of a statement against its claim. Observables run in virtual time. */
export async function checkClaim(
  actual: unknown,
  claim: Claim,
  evaluate: (code: string) => unknown,
): Promise<void> {
  const wanted = claim.values.map(({ code }) => evaluate(code));
  if (!isObservable(actual)) {
    if (claim.isOpen || claim.values.length !== 1) throw new Error('several values are claimed of one value');
    expect(await actual).toEqual(wanted[0]);
    return;
  }
  const seen = emissions(claim.isOpen ? actual.pipe(take(wanted.length)) : actual, wanted.length);
  expect(seen.values.map(({ value }) => value)).toEqual(wanted);
  expect(seen.isComplete).toBe(true);
  const isTimed = ({ at }: ClaimedValue) => at !== undefined;
  if (claim.values.some(isTimed)) {
    expect(seen.values.map(({ at }) => at)).toEqual(claim.values.map(({ at }) => at));
  }
}

/** What an Observable emits in virtual time, one value more than wanted at most, so that an endless one ends. */
function emissions(source: Observable<unknown>, wanted: number) {
  const values: { value: unknown; at: number }[] = [];
  let isComplete = false;
  let failure: { readonly error: unknown } | undefined;
  const scheduler = new TestScheduler(() => {});
  scheduler.run(() => {
    source.pipe(take(wanted + 1)).subscribe({
      next: (value) => values.push({ value, at: scheduler.now() }),
      error: (error) => {
        failure = { error };
      },
      complete: () => {
        isComplete = true;
      },
    });
  });
  if (failure !== undefined) throw failure.error;
  return { values, isComplete };
}
