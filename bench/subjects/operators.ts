import { last, map, mergeMap, type OperatorFunction, of, range } from 'rxjs';
import { batchBy, dedupe, gatherMap, orderedMap } from '../../operators/index.ts';
import type { Subject } from './subject.ts';

/** Operators over a synchronous source of numbers, beside RxJS's own. */
export const OPERATORS = {
  'map, of RxJS': through(map((n) => n)),
  'mergeMap(of), of RxJS': through(mergeMap((n) => of(n))),
  'orderedMap, arrays': through(orderedMap((n) => [n])),
  'orderedMap, Observables': through(orderedMap((n) => of(n))),
  'gatherMap, arrays': through(gatherMap((numbers) => numbers)),
  'batchBy, 256': through(batchBy({ count: 256 })),
  'dedupe, 1,000 keys': through(dedupe({ key: (n) => n % 1000, within: 1000 })),
} as const satisfies Record<string, Subject>;

function through(operator: OperatorFunction<number, unknown>): Subject {
  return {
    group: 'operators',
    prepare: (count) => () => range(0, count).pipe(operator, last()).subscribe(),
  };
}
