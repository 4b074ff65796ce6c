import { describe, expect, it } from '@jest/globals';
import { Subscriber } from 'rxjs';
import { Pump } from '../../../operators/support/pump.ts';

describe('Pump', () => {
  it('takes steps until there is nothing to do, and again when it is asked to', () => {
    const queue = [1, 2, 3];
    const seen: number[] = [];
    const pump = new Pump(() => {
      const next = queue.shift();
      if (next !== undefined) seen.push(next);
      return next !== undefined;
    });
    expect(seen).toEqual([]);
    pump.run();
    expect(seen).toEqual([1, 2, 3]);
    queue.push(4);
    pump.run();
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(pump.isRunning).toBe(false);
  });

  it('never nests, however often a step asks for another one', () => {
    let steps = 0;
    let depth = 0;
    let deepest = 0;
    let isAlwaysRunning = true;
    const pump = new Pump(() => {
      deepest = Math.max(deepest, ++depth);
      // 100,000 calls of `expect` would take seconds.
      isAlwaysRunning &&= pump.isRunning;
      if (++steps < 100_000) pump.run();
      depth--;
      return false;
    });
    pump.run();
    expect(steps).toBe(100_000);
    expect(deepest).toBe(1);
    expect(isAlwaysRunning).toBe(true);
  });

  it('takes another step if one was asked for during the step that found nothing to do', () => {
    let isFull = true;
    const seen: string[] = [];
    const pump = new Pump(() => {
      seen.push(isFull ? 'full' : 'room');
      if (!isFull) return false;
      isFull = false;
      pump.run();
      return false;
    });
    pump.run();
    expect(seen).toEqual(['full', 'room']);
  });

  it('takes no step after its subscriber was closed', () => {
    let steps = 0;
    const subscriber = new Subscriber<never>();
    const pump = new Pump(() => {
      if (++steps === 3) subscriber.unsubscribe();
      pump.run();
      return true;
    }, subscriber);
    pump.run();
    pump.run();
    expect(steps).toBe(3);
  });

  it('passes what a step throws to its subscriber, and takes no further one', () => {
    const errors: unknown[] = [];
    let steps = 0;
    const subscriber = new Subscriber<never>({
      next: () => {},
      error: (e: unknown) => errors.push(e),
      complete: () => {},
    });
    const pump = new Pump(() => {
      steps++;
      throw 'no';
    }, subscriber);
    pump.run();
    pump.run();
    expect(errors).toEqual(['no']);
    expect(steps).toBe(1);
    expect(pump.isRunning).toBe(false);
  });

  it('without a subscriber passes what a step throws to its caller, and can be run again', () => {
    let isBroken = true;
    let done = 0;
    const pump = new Pump(() => {
      if (isBroken) throw new Error('no');
      done++;
      return false;
    });
    expect(() => pump.run()).toThrow('no');
    expect(pump.isRunning).toBe(false);
    isBroken = false;
    pump.run();
    expect(done).toBe(1);
  });
});
