import { asyncScheduler, concat, concatMap, defer, EMPTY, type Observable, of } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { BACKOFF, PluginError } from '../sdk/errors.ts';
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
  /** What each call does, one after the other, in the place of `fails`. Later ones succeed, and take what `takes` says. */
  readonly calls?: readonly PlannedCall[];
}

/** One call of a forwarder, or several in a row that go the same way. */
export interface PlannedCall {
  /** Default: no time. */
  readonly takes?: Duration;
  readonly fails?: boolean;
  /** The events of the call that fail, counted from 1; the others are delivered. */
  readonly rejects?: readonly number[];
  /** The failure is permanent, or of the events of `rejects` these, counted from 1. Default: false. */
  readonly permanent?: boolean | readonly number[];
  /** Every event would fail the same way: see `fatal` in docs/plugins.md. Default: false. */
  readonly fatal?: boolean;
  /** How long the pipeline waits before it calls the forwarder again, for any event. Default: it does not wait. */
  readonly retryAfter?: Duration;
  /** How long the pipeline waits before it tries these events again. Default: as it would, a random time. */
  readonly backoff?: Duration;
  /** How many calls go this way. Default: 1. */
  readonly count?: number;
}

interface ForwarderObserver {
  /** At each attempt to deliver an event. */
  handed(event: CollectedEvent): void;
  /** These events are about to be delivered, by one call. */
  delivering(events: readonly CollectedEvent[]): void;
  /** All but the first `count` events that were delivered are cut off the output again. */
  cutBack(count: number): void;
}

/**
 * Takes events as told, and delivers them nowhere. It takes batches if the forwarder that it stands in for does, so that
 * the engine gathers them in the same way, and it can be used with `exactly_once` as that one can.
 */
export function standInForwarder(
  plugin: ForwardPlugin,
  { takes = 0, fails = 0, permanent = false, calls: planned = [] }: ForwarderBehaviour,
  observer: ForwarderObserver,
  jitter: () => number,
): ForwardPlugin {
  const duration = toMilliseconds(takes);
  const nextPlanned = plannedCalls(planned);
  let calls = 0;
  /** Events in the output of a pipeline that delivers exactly once. */
  let written = 0;

  const failsNow = (events: readonly CollectedEvent[], from: number) => {
    calls++;
    if (typeof fails !== 'function') return fails === 'always' || calls <= fails;
    const [event] = events as readonly [CollectedEvent];
    return fails({ event, events, call: calls, from, to: asyncScheduler.now() });
  };

  /** Throws if the call fails. What takes no time is done at once: an Observable for each event would take longer. */
  const take = (events: readonly CollectedEvent[]): readonly never[] | Observable<never> => {
    for (const event of events) observer.handed(event);
    const from = asyncScheduler.now();
    // Taken when the call starts: it may be ended from outside, by `delivery.timeout`.
    const call = nextPlanned();
    const end = (): readonly never[] => {
      const error = call === undefined ? undefined : failureOf(call, events.length);
      if (error !== undefined) throw error;
      if (call === undefined && failsNow(events, from)) throw new PluginError(FAILURE, { permanent });
      observer.delivering(events);
      return [];
    };
    const lasts = call === undefined ? duration : toMilliseconds(call.takes ?? 0);
    return lasts === 0 ? end() : longTimer(lasts + jitter()).pipe(concatMap(end));
  };

  const standIn: ForwardPlugin = {
    get_config_schema: anything,
    traits: { deduplicates: plugin.traits?.deduplicates === true },
    forward: ({ event }) => take([event]),
  };
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
          defer(() => take(events)),
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

const FAILURE = 'the test lets this forwarder fail';

/** Returns the next of the planned calls with each call; undefined when there are no more. */
function plannedCalls(planned: readonly PlannedCall[]): () => PlannedCall | undefined {
  let position = 0;
  let made = 0;
  return () => {
    const call = planned[position];
    if (call !== undefined && ++made >= (call.count ?? 1)) {
      position++;
      made = 0;
    }
    return call;
  };
}

/** Undefined if the call succeeds. A call with fewer events than were recorded rejects those that it has. */
function failureOf(call: PlannedCall, size: number): PluginError | undefined {
  const { fails = false, rejects = [], permanent = false, fatal = false, retryAfter, backoff } = call;
  const failedEvents = rejects
    .filter((position) => position <= size)
    .map((position) => ({
      index: position - 1,
      permanent: typeof permanent === 'boolean' ? permanent : permanent.includes(position),
    }));
  if (!fails && failedEvents.length === 0) return undefined;
  const retry = retryAfter === undefined ? {} : { retryAfter: toMilliseconds(retryAfter) / 1000 };
  const options = { permanent: permanent === true, ...retry, ...(fails ? {} : { failedEvents }) };
  return Object.assign(
    new PluginError(FAILURE, options),
    fatal && { fatal },
    backoff !== undefined && { [BACKOFF]: toMilliseconds(backoff) },
  );
}
