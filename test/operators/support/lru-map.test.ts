import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LruMap } from '../../../operators/support/lru-map.ts';

/** The same, slowly: keys from the oldest to the newest. */
class Model {
  entries: [number, string][] = [];
  readonly #maxSize: number;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: number): string | undefined {
    const value = this.peek(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  peek(key: number): string | undefined {
    return this.entries.find(([known]) => known === key)?.[1];
  }

  set(key: number, value: string): void {
    this.delete(key);
    this.entries = [...this.entries, [key, value] as [number, string]].slice(-this.#maxSize);
  }

  delete(key: number): void {
    this.entries = this.entries.filter(([known]) => known !== key);
  }
}

const key = fc.integer({ min: 0, max: 5 });
const steps = fc.array(
  fc.oneof(
    fc.record({ does: fc.constant('get' as const), key }),
    fc.record({ does: fc.constant('set' as const), key, value: fc.string() }),
    fc.record({ does: fc.constant('delete' as const), key }),
  ),
  { maxLength: 40 },
);
type Step = ReturnType<typeof steps.generate>['value'][number];

function take(step: Step, map: LruMap<number, string> | Model): unknown {
  switch (step.does) {
    case 'get':
      return map.get(step.key);
    case 'set':
      return map.set(step.key, step.value);
    case 'delete':
      return map.delete(step.key);
  }
}

describe('LruMap', () => {
  it('forgets what was not used for longest', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), steps, (maxSize, steps) => {
        const map = new LruMap<number, string>(maxSize);
        const model = new Model(maxSize);
        for (const step of steps) {
          expect(take(step, map)).toBe(take(step, model));
          for (let n = 0; n <= 5; n++)
            expect([map.peek(n), map.has(n)]).toEqual([model.peek(n), model.peek(n) !== undefined]);
        }
      }),
    );
  });
});
