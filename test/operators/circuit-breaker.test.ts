import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER, type Observable, of, Subject, throwError } from 'rxjs';
import { CircuitOpenError, circuitBreaker } from '../../operators/circuit-breaker.ts';
import { retryWithBackoff } from '../../operators/retry-with-backoff.ts';
import { marbles } from '../support/marbles.ts';
import { testOperator } from './operator-matrix.ts';

testOperator<string, string>('circuitBreaker', {
  operator: () => circuitBreaker(),
  throwing: () =>
    circuitBreaker({
      isFailure: () => {
        throw 'mine';
      },
    }),
  diagrams: {
    one: `
      source  -a|
      result  -a|
      subs    ^-!`,
    many: `
      source  -a-b|
      result  -a-b|
      subs    ^---!`,
    error: `
      source  -a#
      result  -a#
      subs    ^-!`,
    'never-ending': `
      source  -a-
      result  -a-
      subs    ^`,
    'early unsubscribe': `
      source  -a-b|
      unsub   --!
      result  -a-
      subs    ^-!`,
    'a callback that throws': `
      source  -a#
      result  -a#
      subs    ^-!`,
  },
});

const down$ = throwError(() => 'down');

/** What a subscription ends with. */
function endOf(source: Observable<unknown>): unknown {
  let end: unknown = 'open';
  source.subscribe({
    error: (error) => {
      end = error instanceof CircuitOpenError ? error.retryAfter : error;
    },
    complete: () => {
      end = 'done';
    },
  });
  return end;
}

describe('circuitBreaker', () => {
  it('opens after failures in a row, lets one call through after a while, and closes if it succeeds', () => {
    marbles(({ cold }) => {
      const breaker = circuitBreaker<unknown>({ failures: 2, openFor: 100 });
      const at = (ms: number, act: () => void) => cold(`${ms}ms (a|)`).subscribe(act);
      expect([down$, of('a'), down$, down$, down$].map((call) => endOf(call.pipe(breaker)))).toEqual([
        ...['down', 'done', 'down', 'down', 100],
      ]);
      at(60, () => expect(endOf(of('a').pipe(breaker))).toBe(40));
      // A trial that fails opens it for as long again.
      at(100, () => expect(endOf(down$.pipe(breaker))).toBe('down'));
      at(110, () => expect(endOf(of('a').pipe(breaker))).toBe(90));
      at(200, () => {
        const trial = new Subject();
        const result: unknown[] = [];
        trial.pipe(breaker).subscribe((value) => result.push(value));
        expect(endOf(of('a').pipe(breaker))).toBe(0);
        trial.complete();
        expect(endOf(of('a').pipe(breaker))).toBe('done');
      });
    });
  });

  it('takes a value that is all that was asked for as a success, and no value as none', async () => {
    const breaker = circuitBreaker<unknown>({ failures: 2 });
    expect(endOf(down$.pipe(breaker))).toBe('down');
    await firstValueFrom(of('a', 'b').pipe(breaker));
    expect(endOf(down$.pipe(breaker))).toBe('down');
    NEVER.pipe(breaker).subscribe().unsubscribe();
    expect(endOf(down$.pipe(breaker))).toBe('down');
    expect(endOf(down$.pipe(breaker))).toBeGreaterThan(29_000);
  });

  it('does not count errors that are no failure of the other side', () => {
    const breaker = circuitBreaker<unknown>({ failures: 1, isFailure: (error) => error === 'down' });
    for (let i = 0; i < 3; i++) expect(endOf(throwError(() => 'bad').pipe(breaker))).toBe('bad');
    expect(endOf(down$.pipe(breaker))).toBe('down');
    expect(endOf(of('a').pipe(breaker))).toBeGreaterThan(29_000);
  });

  it('tells retryWithBackoff how long to wait', () => {
    marbles(({ expectObservable }) => {
      const breaker = circuitBreaker<string>({ failures: 1, openFor: 500 });
      endOf(down$.pipe(breaker));
      const waitFrom = (error: unknown) => (error as CircuitOpenError).retryAfter;
      expectObservable(of('a').pipe(breaker, retryWithBackoff({ waitFrom }))).toBe('500ms (a|)');
    });
  });
});
