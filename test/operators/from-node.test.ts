import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, tap, toArray } from 'rxjs';
import { type FromEventEmitterOptions, fromEventEmitter } from '../../operators/from-event-emitter.ts';
import { fromNodeStream } from '../../operators/from-node-stream.ts';
import { InFlightWindow } from '../../operators/in-flight-window.ts';

describe('fromEventEmitter', () => {
  /** One value at a time, each until `release`. */
  function follow(options: FromEventEmitterOptions<number> = {}) {
    const emitter = new EventEmitter();
    const window = new InFlightWindow(1);
    const seen: unknown[] = [];
    const subscription = fromEventEmitter(emitter, 'n', window, options).subscribe({
      next: (n) => {
        window.take(1);
        seen.push(n);
      },
      error: (error) => seen.push(`failed: ${error}`),
      complete: () => seen.push('done'),
    });
    const emit = (...numbers: number[]) => numbers.forEach((n) => void emitter.emit('n', n));
    return { emitter, emit, seen, subscription, release: () => window.release(1) };
  }

  it.each([
    ['newest', [1, 2, 3], [4, 5]],
    ['oldest', [1, 4, 5], [2, 3]],
  ] as const)('keeps what there is room for in its buffer, drops the %s and counts', (drop, kept, lost) => {
    const dropped: [number, number][] = [];
    const options = { buffer: 2, drop, onDrop: (...report: [number, number]) => void dropped.push(report) };
    const { emit, release, seen } = follow(options);
    emit(1, 2, 3, 4, 5);
    release();
    release();
    expect(seen).toEqual(kept);
    expect(dropped).toEqual(lost.map((n, i) => [n, i + 1]));
  });

  it('ends after what waits, and listens no longer', () => {
    const { emitter, emit, release, seen } = follow({ end: 'close' });
    emit(1, 2);
    emitter.emit('close');
    emit(3);
    expect(seen).toEqual([1]);
    release();
    expect(seen).toEqual([1, 2, 'done']);
    expect(emitter.eventNames()).toEqual([]);
  });

  it('fails with an error event, after what waits', () => {
    const { emitter, emit, release, seen } = follow();
    emit(1, 2);
    emitter.emit('error', 'broken');
    release();
    expect(seen).toEqual([1, 2, 'failed: broken']);
  });

  it('listens no longer when it is unsubscribed from', () => {
    const { emitter, subscription } = follow();
    subscription.unsubscribe();
    expect(emitter.eventNames()).toEqual([]);
  });
});

describe('fromNodeStream', () => {
  it('reads what there is room for, and leaves the rest to the stream', async () => {
    const window = new InFlightWindow(2);
    let made = 0;
    const stream = Readable.from(
      (function* () {
        while (made < 1000) yield made++;
      })(),
      { highWaterMark: 4 },
    );
    const read = lastValueFrom(
      fromNodeStream<number>(stream, window).pipe(
        tap(() => window.take(1)),
        toArray(),
      ),
    );
    await new Promise(setImmediate);
    expect(window.open).toBe(2);
    expect(made).toBeLessThan(10);
    const releasing = setInterval(() => window.release(window.open), 0);
    const values = await read.finally(() => clearInterval(releasing));
    expect(values).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  });

  it('fails with the error of the stream, and when it is destroyed before its end', async () => {
    const failing = new Readable({ read: () => failing.destroy(new Error('broken')) });
    await expect(lastValueFrom(fromNodeStream(failing, new InFlightWindow(1)))).rejects.toThrow('broken');
    const closed = new Readable({ read: () => closed.destroy() });
    const result = lastValueFrom(fromNodeStream(closed, new InFlightWindow(1)));
    await expect(result).rejects.toThrow('the stream was closed before its end');
    await expect(lastValueFrom(fromNodeStream(closed, new InFlightWindow(1)))).rejects.toThrow(
      'before its end',
    );
  });

  it('destroys the stream when it is unsubscribed from', () => {
    const stream = Readable.from(['a']);
    fromNodeStream(stream, new InFlightWindow(1)).subscribe().unsubscribe();
    expect(stream.destroyed).toBe(true);
  });
});
