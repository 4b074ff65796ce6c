import { asyncScheduler, concat, concatMap, defer, EMPTY, type Observable, of, throwError } from 'rxjs';
import { longTimer } from '../../operators/long-timer.ts';
import { PluginError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { ForwardPlugin } from '../sdk/plugin.ts';
import { type Duration, toMilliseconds } from './duration.ts';
import { anything } from './stand-in-collector.ts';

/** A call of a forwarder: one event, or a batch of them if the forwarder takes batches. */
export interface ForwarderCall {
  /** The first of its events. */
  readonly event: CollectedEvent;
  readonly events: readonly CollectedEvent[];
  /** Counted from 1, over all calls of the test. */
  readonly call: number;
  /** When it began and ended: virtual milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** How a forwarder of a test behaves. */
export interface ForwarderBehaviour {
  /** How long each call takes, which is one event, or one batch if the forwarder takes batches. Default: no time. */
  readonly takes?: Duration;
  /** The first calls that fail: so many, or `always`, or those that a function picks. Default: none. */
  readonly fails?: number | 'always' | ((call: ForwarderCall) => boolean);
  /** Failures are permanent: the event is not tried again. Default: false. */
  readonly permanent?: boolean;
}

export interface ForwarderObserver {
  /** At each attempt to deliver an event. */
  handed(event: CollectedEvent): void;
  /** These events are about to be delivered, by one call. */
  delivering(events: readonly CollectedEvent[]): void;
  /** All but the first `count` events that were delivered are cut off the output again. */
  cutBack(count: number): void;
}

/**
 * Takes events as told, and delivers them nowhere. It takes batches if the forwarder that it stands in for does, so that
 * the engine gathers them in the same way, and its output can be cut back if that of the other can.
 */
export function standInForwarder(
  plugin: ForwardPlugin,
  { takes = 0, fails = 0, permanent = false }: ForwarderBehaviour,
  observer: ForwarderObserver,
): ForwardPlugin {
  const duration = toMilliseconds(takes);
  let calls = 0;
  /** Events in the output of a pipeline that delivers exactly once. */
  let written = 0;

  const failsNow = (events: readonly CollectedEvent[], from: number) => {
    calls++;
    if (typeof fails !== 'function') return fails === 'always' || calls <= fails;
    const [event] = events as readonly [CollectedEvent];
    return fails({ event, events, call: calls, from, to: asyncScheduler.now() });
  };

  const take = (events: readonly CollectedEvent[]): Observable<never> => {
    for (const event of events) observer.handed(event);
    const from = asyncScheduler.now();
    const end$ = defer(() => {
      if (failsNow(events, from)) {
        return throwError(() => new PluginError('the test lets this forwarder fail', { permanent }));
      }
      observer.delivering(events);
      return EMPTY;
    });
    return duration === 0 ? end$ : longTimer(duration).pipe(concatMap(() => end$));
  };

  const standIn: ForwardPlugin = { get_config_schema: anything, forward: ({ event }) => take([event]) };
  if (plugin.forwardBatch !== undefined || plugin.forwardJsonLines !== undefined) {
    standIn.forwardBatch = ({ events }) => take(events);
  }
  if (plugin.exactly !== undefined) {
    const mark = (length: number) => ({ id: 'output', path: 'output', length, head: '' });
    standIn.exactly = ({ begun }) => ({
      restore: (marks) =>
        defer(() => {
          written = marks.at(-1)?.length ?? 0;
          observer.cutBack(written);
          return EMPTY;
        }),
      write: (events) =>
        concat(
          defer(() => begun(mark(written))),
          take(events),
          defer(() => {
            const marks = events.map((_, index) => mark(written + index + 1));
            written += events.length;
            return of(marks);
          }),
        ),
      sync: () => EMPTY,
    });
  }
  return standIn;
}
