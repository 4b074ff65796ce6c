import { describe, it } from '@jest/globals';
import type { OperatorFunction } from 'rxjs';
import { marbles } from '../support/marbles.ts';

/**
 * A source, what the operator makes of it, and when the source was subscribed to, one line for each:
 *
 *     source  -a-b-|
 *     result  -a-b-|
 *     subs    ^----!     (once for each subscription)
 *     unsub   ---!      (if it is unsubscribed from)
 */
export type Diagram = string;

/** The cases that RxJS tests of every operator, apart from `never` and `empty`, which are the same for all. */
export interface Diagrams {
  readonly one: Diagram;
  readonly many: Diagram;
  readonly error: Diagram;
  readonly 'never-ending': Diagram;
  readonly 'early unsubscribe': Diagram;
  /** The operator is that of `throwing`, and the error is 'mine'. */
  readonly 'a callback that throws'?: Diagram;
}

export interface MatrixOptions<T, R> {
  readonly operator: () => OperatorFunction<T, R>;
  /** The operator with a callback that throws 'mine'; undefined if it takes none. */
  readonly throwing: (() => OperatorFunction<T, R>) | undefined;
  /** What the letters of sources stand for. Default: themselves. */
  readonly values?: Readonly<Record<string, T>>;
  /** What the letters of results stand for. Default: as in sources. */
  readonly results?: Readonly<Record<string, R>>;
  readonly diagrams: Diagrams;
}

/** Those of an operator that emits one value for each, at once: `x`, `y` and `z`, of which `y` makes a callback throw. */
export const ONE_FOR_EACH: Diagrams = {
  one: `
    source  x|
    result  x|
    subs    ^!`,
  many: `
    source  x-y-z-|
    result  x-y-z-|
    subs    ^-----!`,
  error: `
    source  x-y-#
    result  x-y-#
    subs    ^---!`,
  'never-ending': `
    source  x-y-z-
    result  x-y-z-
    subs    ^`,
  'early unsubscribe': `
    source  x-y-z-|
    unsub   ---!
    result  x-y
    subs    ^--!`,
  'a callback that throws': `
    source  x-y-z-|
    result  x-#
    subs    ^-!`,
};

const SAME_FOR_ALL: Readonly<Record<string, Diagram>> = {
  never: `
    source  -
    result  -
    subs    ^`,
  empty: `
    source  |
    result  |
    subs    (^!)`,
};

/** RxJS's test matrix for an operator, its values and its subscriptions. */
export function testOperator<T, R>(name: string, options: MatrixOptions<T, R>): void {
  const { operator, throwing = operator, values, diagrams } = options;
  const results = options.results ?? (values as Readonly<Record<string, R>> | undefined);

  describe(`${name}: the matrix`, () => {
    it.each(Object.entries({ ...SAME_FOR_ALL, ...diagrams }))('%s', (which, diagram) => {
      const { source, result, subs, unsub } = rows(diagram);
      const isThrowing = which === 'a callback that throws';
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold<T>(source, values);
        const tested = e1.pipe(isThrowing ? throwing() : operator());
        expectObservable(tested, unsub).toBe(result, results, isThrowing ? 'mine' : 'error');
        expectSubscriptions(e1.subscriptions).toBe(subs);
      });
    });
  });
}

function rows(diagram: Diagram) {
  const all = (name: string) =>
    [...diagram.matchAll(new RegExp(`^ *${name} +(.*)$`, 'gm'))].map(([, marble]) => marble as string);
  const one = (name: string) => {
    const [marble] = all(name);
    if (marble === undefined) throw new Error(`a diagram without a ${name}:\n${diagram}`);
    return marble;
  };
  return { source: one('source'), result: one('result'), subs: all('subs'), unsub: all('unsub')[0] };
}
