import { Observable } from 'rxjs';
import {
  type Check,
  type Checks,
  COUNT,
  checkOptions,
  checkValue,
  DEMAND,
  FUNCTION,
  hasMethods,
  TEXT,
} from './support/check-options.ts';
import type { Demand } from './support/demand.ts';
import { Fifo } from './support/fifo.ts';
import { Pump } from './support/pump.ts';

/** The methods of Node's `EventEmitter`, and of similar emitters, that are used here. */
export interface EventEmitterLike {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

export interface FromEventEmitterOptions<T> {
  /** The maximum number of values that wait for room. Default: 1,000. */
  readonly buffer?: number | undefined;
  /** The value that is dropped when the buffer is full: the new one, or the oldest. Default: `newest`. */
  readonly drop?: 'newest' | 'oldest' | undefined;
  /** Called with each dropped value, and the number of values dropped so far. */
  readonly onDrop?: ((value: T, dropped: number) => void) | undefined;
  /** The event that completes the result, such as `close`. Default: none. */
  readonly end?: string | undefined;
}

const EMITTER: Check = (value) => hasMethods(value, 'on', 'off') || 'an EventEmitter';
const NAME: Check = (value) => TEXT(value) === true || typeof value === 'symbol' || 'the name of an event';
const DROP: Check = (value) => value === 'newest' || value === 'oldest' || "'newest' or 'oldest'";
const CHECKS: Checks<FromEventEmitterOptions<never>> = {
  buffer: COUNT,
  drop: DROP,
  onDrop: FUNCTION,
  end: TEXT,
};

/**
 * Emits the events of an emitter by demand. An emitter cannot wait, so events that arrive when there is no room wait in a
 * bounded buffer. When the buffer is full, values are dropped and counted. Emits the first argument of each event.
 *
 * Use it instead of `fromEvent` when the consumer can be slower than the emitter.
 *
 * Errors: the argument of an `error` event, after the waiting values; what `onDrop` throws, at once.
 *
 * @throws TypeError for an argument or an option of the wrong type, and for an option that is unknown.
 * @throws RangeError if `buffer` is not an integer of at least 1.
 *
 * @example
 * const window = new InFlightWindow(1);
 * const emitter = new EventEmitter();
 * const seen = [];
 * let lost = 0;
 * const options = { buffer: 1, onDrop: (_, dropped) => (lost = dropped) };
 * fromEventEmitter(emitter, 'line', window, options).subscribe((line) => {
 *   window.take(1);
 *   seen.push(line);
 * });
 * for (const line of ['a', 'b', 'c']) emitter.emit('line', line);
 * window.release(1);
 * seen; // ['a', 'b']
 * lost; // 1
 */
export function fromEventEmitter<T>(
  emitter: EventEmitterLike,
  event: string,
  demand: Demand,
  options: FromEventEmitterOptions<T> = {},
): Observable<T> {
  checkValue('fromEventEmitter', 'emitter', emitter, EMITTER);
  checkValue('fromEventEmitter', 'event', event, NAME);
  checkValue('fromEventEmitter', 'demand', demand, DEMAND);
  checkOptions('fromEventEmitter', options, CHECKS);
  const { buffer = 1000, drop = 'newest', onDrop, end } = options;
  return new Observable<T>((subscriber) => {
    const waiting = new Fifo<T>();
    let dropped = 0;
    /** What is to be done when the values that wait have left. */
    let finish: (() => void) | undefined;

    const pump = new Pump(() => {
      if (waiting.size > 0 && demand.room > 0) subscriber.next(waiting.shift() as T);
      else if (waiting.size === 0 && finish !== undefined) finish();
      else return false;
      return true;
    }, subscriber);
    const take = (value: T) => {
      if (finish !== undefined) return;
      const hasRoom = waiting.size < buffer || (!pump.isRunning && demand.room > 0);
      if (hasRoom || drop === 'oldest') waiting.push(value);
      pump.run();
      if (hasRoom) return;
      dropped++;
      try {
        onDrop?.(drop === 'oldest' ? (waiting.shift() as T) : value, dropped);
      } catch (error) {
        subscriber.error(error);
      }
    };
    const fail = (error: unknown) => {
      finish ??= () => subscriber.error(error);
      pump.run();
    };
    const complete = () => {
      finish ??= () => subscriber.complete();
      pump.run();
    };

    const listeners = [
      [event, take],
      ['error', fail],
      ...(end === undefined ? [] : [[end, complete]]),
    ] as const;
    for (const [name, listener] of listeners) emitter.on(name as string, listener as () => void);
    subscriber.add(() => {
      for (const [name, listener] of listeners) emitter.off(name as string, listener as () => void);
    });
    subscriber.add(demand.room$.subscribe(() => pump.run()));
  });
}
