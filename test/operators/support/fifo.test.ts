import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { Fifo } from '../../../operators/support/fifo.ts';

describe('Fifo', () => {
  it('gives items in the order in which they came, and undefined when it is empty', () => {
    const fifo = new Fifo<number | undefined>();
    expect([fifo.size, fifo.peek(), fifo.shift()]).toEqual([0, undefined, undefined]);
    fifo.push(1);
    fifo.push(undefined);
    expect([fifo.size, fifo.peek(), fifo.shift()]).toEqual([2, 1, 1]);
    fifo.push(3);
    expect([fifo.shift(), fifo.shift(), fifo.shift(), fifo.size]).toEqual([undefined, 3, undefined, 0]);
    fifo.push(4);
    expect([fifo.size, fifo.peek(), fifo.shift()]).toEqual([1, 4, 4]);
  });

  it('keeps no item that was taken', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const fifo = new Fifo<object>();
    const taken = [{}, {}, {}].map((item) => {
      fifo.push(item);
      return new WeakRef(item);
    });
    while (fifo.size > 0) fifo.shift();
    await new Promise(setImmediate);
    collect();
    expect(taken.map((item) => item.deref())).toEqual([undefined, undefined, undefined]);
    expect(fifo.peek()).toBeUndefined();
  });
});
