import { it } from '@jest/globals';
import type { Observable, OperatorFunction } from 'rxjs';
import { marbles } from '../support/marbles.ts';

/**
 * A source, its inner sources by the value that they belong to, and what an operator makes of them:
 *
 *     source  -a-b-|          (hot if it has a ^, where it is subscribed to)
 *     a       --x|            (for a; `*`: for every value; `a hot`: it emits whether it is subscribed to or not)
 *     result  ---x...
 *     subs    ^----!          (of the source; once for each subscription)
 *     a subs  -^--!           (of the inner source; none: it is never subscribed to)
 *     unsub   ---!            (if the result is unsubscribed from)
 */
export type Diagram = string;

/** Gives the inner source of a value; throws 'error' for one without. */
export type Inner = (value: string) => Observable<string>;

export function testDiagrams<R = string>(
  operators: Readonly<Record<string, (inner: Inner) => OperatorFunction<string, R>>>,
  diagrams: Readonly<Record<string, Diagram>>,
  results?: Readonly<Record<string, R>>,
): void {
  for (const [name, operator] of Object.entries(operators)) {
    it.each(Object.entries(diagrams))(`${name}: %s`, (_, diagram) => {
      const rows = rowsOf(diagram);
      const one = (label: string) => rows.find((row) => row.label === label)?.marble;
      const all = (label: string) => rows.flatMap((row) => (row.label === label ? [row.marble] : []));
      marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
        const make = (marble: string, isHot: boolean) => (isHot ? hot(marble) : cold(marble));
        const source = make(one('source') ?? '', one('source')?.includes('^') === true);
        const inners = new Map(
          rows
            .filter(({ label }) => /^(?:\*|[a-z])(?: hot)?$/.test(label))
            .map(({ label, marble }) => [label.charAt(0), make(marble, label.endsWith('hot'))]),
        );
        const inner: Inner = (value) => {
          const found = inners.get(value) ?? inners.get('*');
          if (found === undefined) throw 'error';
          return found;
        };
        expectObservable(source.pipe(operator(inner)), one('unsub')).toBe(one('result') ?? '', results);
        expectSubscriptions(source.subscriptions).toBe(all('subs'));
        for (const [value, { subscriptions }] of inners) {
          expectSubscriptions(subscriptions).toBe(all(`${value} subs`));
        }
      });
    });
  }
}

function rowsOf(diagram: Diagram): readonly { readonly label: string; readonly marble: string }[] {
  return diagram
    .split('\n')
    .filter((row) => row.trim() !== '')
    .map((row) => {
      const [, label, marble] = /^\s*(\S+(?: (?:hot|subs))?)\s\s+(\S.*)$/.exec(row) ?? [];
      if (label === undefined || marble === undefined) throw new Error(`no row of a diagram: ${row}`);
      return { label, marble };
    });
}
