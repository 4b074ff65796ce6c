import {
  concat,
  EMPTY,
  expand,
  type MonoTypeOperatorFunction,
  map,
  type Observable,
  of,
  range,
  type SchedulerLike,
} from 'rxjs';
import { wait } from './delay-range.ts';
import { orderedMap } from './ordered-map.ts';
import {
  type Checks,
  COUNT_FROM_0,
  checkRequired,
  FROM_0,
  SCHEDULER,
  TEXT,
} from './support/check-options.ts';

export interface ChildEventsOptions {
  /** The prefix of the field with the number of a child: `<name>-child-count`. */
  readonly name: string;
  /** The number of children of each event. */
  readonly count: number;
  /** Milliseconds before the event; child n comes delay × (count ÷ n) after the one before it. 0 by default. */
  readonly delay?: number | undefined;
  /** The scheduler that waits. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const CHECKS: Checks<ChildEventsOptions> = {
  name: TEXT,
  count: COUNT_FROM_0,
  delay: FROM_0,
  scheduler: SCHEDULER,
};

/** What children are made from. */
export interface ParentEvent {
  readonly data: object;
}

/** More than this are not built at once, so that a large count costs no memory. */
const AT_HAND = 1000;

/**
 * Returns an event and its children: copies of it whose data also has `<name>-child-count`, counted from 1. Without a
 * delay, the result is an array. With a delay, it is an Observable that emits them one after the other.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `count` is not an integer of at least 0, or `delay` is not at least 0.
 *
 * @example
 * withChildren({ data: { a: 1 } }, { name: 'x', count: 1 });
 * // [{ data: { a: 1 } }, { data: { a: 1, 'x-child-count': 1 } }]
 */
export function withChildren<E extends ParentEvent>(
  event: E,
  options: ChildEventsOptions,
): readonly E[] | Observable<E> {
  checkRequired('withChildren', options, CHECKS, ['name', 'count']);
  return eventAndChildren(event, options);
}

function eventAndChildren<E extends ParentEvent>(
  event: E,
  { name, count, delay = 0, scheduler }: ChildEventsOptions,
): readonly E[] | Observable<E> {
  const after = <T>(ms: number, value: T) => wait(ms, scheduler).pipe(map(() => value));
  const key = `${name}-child-count`;
  const child = (n: number): E => ({ ...event, data: { ...event.data, [key]: n } });
  if (delay > 0) {
    return after(delay, event).pipe(
      expand((_, i) => (i < count ? after(delay * (count / (i + 1)), i + 1).pipe(map(child)) : EMPTY)),
    );
  }
  if (count > AT_HAND) return concat(of(event), range(1, count).pipe(map(child)));
  return [event, ...Array.from({ length: count }, (_, i) => child(i + 1))];
}

/**
 * {@link withChildren} as an operator: emits each event, then its children. The delays of several events run at the same
 * time. An event waits until all earlier events and their children have been emitted. So an event is delayed at most by
 * its own delays, and the operator holds no more events than arrive in that time.
 *
 * Use it instead of `mergeMap` with timers when events and their children must keep the order of the source.
 *
 * @throws TypeError for an option that is unknown or of the wrong type.
 * @throws RangeError if `count` is not an integer of at least 0, or `delay` is not at least 0.
 *
 * @example
 * of({ data: {} }).pipe(childEvents({ name: 'part', count: 2, delay: 500 }));
 * // { data: {} } at 0.5 s,
 * // { data: { 'part-child-count': 1 } } at 1.5 s,
 * // { data: { 'part-child-count': 2 } } at 2 s
 */
export function childEvents<E extends ParentEvent>(options: ChildEventsOptions): MonoTypeOperatorFunction<E> {
  checkRequired('childEvents', options, CHECKS, ['name', 'count']);
  return orderedMap((event: E) => eventAndChildren(event, options));
}
