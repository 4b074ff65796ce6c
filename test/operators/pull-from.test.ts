import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, lastValueFrom, NEVER, take, timer, toArray } from 'rxjs';
import { InFlightWindow } from '../../operators/in-flight-window.ts';
import { pullFrom } from '../../operators/pull-from.ts';
import { marbles } from '../support/marbles.ts';

function* naturals(onEnd: () => void = () => {}) {
  try {
    for (let n = 1; ; n++) yield n;
  } finally {
    onEnd();
  }
}

describe('pullFrom', () => {
  it('pulls an iterable to its end', async () => {
    const values = pullFrom([1, 2, 3], new InFlightWindow(10)).pipe(toArray());
    expect(await firstValueFrom(values)).toEqual([1, 2, 3]);
  });

  it('completes at once where there is nothing to pull', async () => {
    async function* none() {}
    expect(await firstValueFrom(pullFrom([], new InFlightWindow(1)).pipe(toArray()))).toEqual([]);
    expect(await firstValueFrom(pullFrom(none(), new InFlightWindow(1)).pipe(toArray()))).toEqual([]);
  });

  it('fails if the iterable cannot be opened', () => {
    const broken = {
      [Symbol.iterator]: (): Iterator<never> => {
        throw 'broken';
      },
    };
    marbles(({ expectObservable }) => {
      expectObservable(pullFrom(broken, new InFlightWindow(1))).toBe('#', {}, 'broken');
    });
  });

  it('pulls a stream of Node, whose promises may be of another realm', async () => {
    const values = pullFrom(Readable.from(['a', 'b']), new InFlightWindow(10)).pipe(take(5), toArray());
    expect(await firstValueFrom(values)).toEqual(['a', 'b']);
  });

  it('pulls no further than there is room, and goes on when there is', () => {
    const window = new InFlightWindow(2);
    const pulled: number[] = [];
    const subscription = pullFrom(naturals(), window).subscribe((n) => {
      pulled.push(n);
      window.take(1);
    });
    expect(pulled).toEqual([1, 2]);
    window.release(1);
    expect(pulled).toEqual([1, 2, 3]);
    subscription.unsubscribe();
  });

  it('pulls an async generator one value at a time, however slow the consumer is', async () => {
    const window = new InFlightWindow(3);
    let made = 0;
    async function* source() {
      for (;;) yield ++made;
    }
    const seen: number[] = [];
    const subscription = pullFrom(source(), window).subscribe((n) => {
      seen.push(n);
      window.take(1);
    });
    await firstValueFrom(timer(0));
    expect(made).toBe(3);
    window.release(2);
    await firstValueFrom(timer(0));
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    subscription.unsubscribe();
  });

  it('does not nest, and lets timers run beside an endless iterable', async () => {
    const window = new InFlightWindow(1);
    let pulled = 0;
    const subscription = pullFrom(naturals(), window).subscribe(() => {
      pulled++;
      window.take(1);
      window.release(1);
    });
    await firstValueFrom(timer(5));
    subscription.unsubscribe();
    expect(pulled).toBeGreaterThan(16_384);
  });

  it('closes the iterator on unsubscription', () => {
    let ended = 0;
    pullFrom(
      naturals(() => ended++),
      new InFlightWindow(10),
    )
      .pipe(take(2))
      .subscribe();
    expect(ended).toBe(1);
  });

  it('passes on what the iterator throws or rejects with', async () => {
    function* failing() {
      yield 1;
      throw new Error('no more');
    }
    async function* rejecting() {
      yield 1;
      throw new Error('no more');
    }
    await expect(lastValueFrom(pullFrom(failing(), new InFlightWindow(10)))).rejects.toThrow('no more');
    await expect(lastValueFrom(pullFrom(rejecting(), new InFlightWindow(10)))).rejects.toThrow('no more');
  });

  it.each([null, undefined])('fails on a promise of %p in place of a result', async (result) => {
    const broken = {
      [Symbol.asyncIterator]: () => ({ next: async () => result as unknown as IteratorResult<number> }),
    };
    await expect(lastValueFrom(pullFrom(broken, new InFlightWindow(10)))).rejects.toThrow(TypeError);
  });

  it('passes on what the getters of an awaited result throw', async () => {
    const result = {
      get done(): boolean {
        throw new Error('no result');
      },
      value: 1,
    };
    const broken = { [Symbol.asyncIterator]: () => ({ next: async () => result as IteratorResult<number> }) };
    await expect(lastValueFrom(pullFrom(broken, new InFlightWindow(10)))).rejects.toThrow('no result');
  });

  it('waits without end where there is never room', () => {
    let pulled = 0;
    pullFrom(naturals(), { room: 0, room$: NEVER }).subscribe(() => pulled++);
    expect(pulled).toBe(0);
  });
});
