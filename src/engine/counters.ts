import type { BufferStatus } from '../buffer/event-buffer.ts';
import type { Outcome } from '../sdk/event-batch.ts';
import type { DropReason, PipelineStats } from '../sdk/status.ts';
import { type Clock, TurnClock } from './clock.ts';
import { Histogram } from './histogram.ts';
import type { CallEnded, Calls, EventsOf, PipelineObserver, PluginFailure, StagePlace } from './observer.ts';

/**
 * Seconds. Every entry has a series for each bucket, so there are few. A call takes a millisecond at least, and an event can
 * wait for hours while a forwarder fails.
 */
const CALL_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];
const ACKNOWLEDGE_SECONDS = [...CALL_SECONDS, 300, 7200];
const BATCH_EVENTS = [1, 4, 64, 1024, 4096];

/**
 * The reasons for which an entry of each kind drops events. Their counters exist from the start: Prometheus computes an
 * increase from the first value that it has seen, so that a counter that appears with its first event hides this event.
 */
const DROP_REASONS: Readonly<Record<StagePlace['kind'], readonly DropReason[]>> = {
  collect: ['collector_failed', 'buffer_full'],
  process: ['filtered', 'processor_failed'],
  buffer: ['buffer_full'],
  forward: ['forwarder_failed', 'route_failed'],
  dead_letter: ['forwarder_failed'],
};
/** Values of a label of one entry that a plugin chooses. Those beyond are counted as {@link OTHER}. */
export const MOST_LABEL_VALUES = 1000;
export const OTHER = 'other';

/** A time in which every call of a forwarder has failed. */
export interface Outage {
  /** When the first call failed: ISO 8601 UTC. */
  readonly since: string;
  readonly failures: number;
  /** Why the latest call failed. It may be shown. */
  readonly reason: string;
  /** Milliseconds from the latest failure to the next call. */
  readonly wait: number;
  /** When that is: ISO 8601 UTC. */
  readonly nextAt: string;
}

/**
 * The counters of one plugin entry of a pipeline. The stages add to them once per batch.
 */
export class EntryCounters {
  readonly kind: StagePlace['kind'];
  readonly name: string;
  /** The name of the plugin. */
  readonly plugin: string;
  /** Events that reached the entry; for a collector, events that it emitted. */
  received = 0;
  /** Events that left it; for a forwarder, events that it delivered. */
  sent = 0;
  /** Bytes that a collector has read or a forwarder has written; undefined if the plugin does not report them. */
  bytes: number | undefined;
  /** Only for a collector: events that are not acknowledged yet. */
  inFlight = 0;
  /** Only for a collector, by batch: the worst outcome of its events. What a buffer has refused is counted there. */
  readonly acknowledged = { forwarded: 0, dropped: 0, dead_lettered: 0, refused: 0, failed: 0 };
  /** Only for a forwarder: events that it had received and not delivered when a run ended. */
  abandoned = 0;
  /** Events that the plugin failed on for good. */
  failed = 0;
  /** Events that went to the dead letter because the plugin, or the condition of a forwarder, failed on them. */
  deadLettered = 0;
  /** Only for a buffer: events that it has refused, whose sources were told to send them again. */
  rejected = 0;
  /** Calls of a forwarder that were made again. */
  retries = 0;
  readonly dropped: Map<DropReason, number>;
  readonly masked = new Map<string, { count: number }>();
  /** Bytes that a collector knows of and has not read. */
  lagBytes: number | undefined;
  /** Messages that a collector knows of and has not received. */
  lagMessages: number | undefined;
  lostBytes = 0;
  lostFiles = 0;
  truncations = 0;
  /** Events that became a part of another one. */
  joined = 0;
  /** Seconds from an event's collection to its acknowledgement. */
  readonly acknowledgeSeconds = new Histogram(ACKNOWLEDGE_SECONDS);
  /** Events per call of a forwarder. */
  readonly batchEvents = new Histogram(BATCH_EVENTS);
  readonly callSeconds = { ok: new Histogram(CALL_SECONDS), error: new Histogram(CALL_SECONDS) };
  /** Calls of a forwarder that have not ended, with the time at which each began, by the clock of the pipeline. */
  readonly openCalls = new Map<object, number>();
  /** Seconds for which the entry may hold events back on purpose, to gather a batch or to join lines. */
  holdSeconds = 0;
  /** While every call of a forwarder fails. */
  outage: Outage | undefined;

  constructor({ kind, name }: StagePlace, plugin: string) {
    this.kind = kind;
    this.name = name;
    this.plugin = plugin;
    this.dropped = new Map(DROP_REASONS[kind].map((reason) => [reason, 0]));
  }

  /** Only for a forwarder: events that it has received, and neither delivered nor failed on. */
  get waiting(): number {
    return this.received - this.sent - this.failed - this.abandoned;
  }

  drop(reason: DropReason, count: number): void {
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + count);
  }

  mask(rule: string, count: number): void {
    // Called for each masked text, so it looks into the map only once.
    const known = this.masked.get(rule);
    if (known !== undefined) known.count += count;
    else if (this.masked.size < MOST_LABEL_VALUES || rule === OTHER) this.masked.set(rule, { count });
    else this.mask(OTHER, count);
  }
}

/** The counters of one pipeline, by plugin entry. They last as long as the Manager, restarts of the pipeline included. */
export class PipelineCounters implements PipelineObserver {
  readonly #entries = new Map<string, EntryCounters>();
  /** The entries by the places that the stages pass, which is faster. */
  readonly #byPlace = new WeakMap<StagePlace, EntryCounters>();
  readonly clock: Clock = new TurnClock();
  /** Events that were collected and are not acknowledged yet. */
  inFlight = 0;
  restarts = 0;
  givenUp = 0;
  /** The buffer on disk; undefined if the pipeline has none, or it was never opened. */
  buffer: { readonly status: BufferStatus; readonly isFull: boolean } | undefined;
  /** Events that no forwarder got; undefined if there is a forwarder without a condition. */
  unrouted: number | undefined;
  /** When an event was acknowledged last, by the clock; undefined if none was. */
  acknowledgedAt: number | undefined;
  /** When an event was delivered or acknowledged last, or came while there were no others. */
  progressAt = 0;

  /** The counters of an entry; made when first asked for, which has to be with the name of the plugin. */
  entry(place: StagePlace, plugin = ''): EntryCounters {
    const known = this.#byPlace.get(place);
    if (known !== undefined) return known;
    const key = `${place.kind} ${place.name}`;
    const counters = this.#entries.get(key) ?? new EntryCounters(place, plugin);
    this.#entries.set(key, counters);
    this.#byPlace.set(place, counters);
    return counters;
  }

  get entries(): EntryCounters[] {
    return [...this.#entries.values()];
  }

  /** The longest time in seconds for which the entries hold an event back on purpose: one after the other. */
  get holdSeconds(): number {
    const longest = (kind: StagePlace['kind']) =>
      Math.max(0, ...this.entries.flatMap((entry) => (entry.kind === kind ? entry.holdSeconds : [])));
    const joining = this.#sum((entry) => (entry.kind === 'process' ? entry.holdSeconds : 0));
    return joining + longest('forward') + longest('dead_letter');
  }

  holds(place: StagePlace, seconds: number): void {
    this.entry(place).holdSeconds = seconds;
  }

  collected(place: StagePlace, count: number): void {
    // What comes out of a buffer was counted when the buffer received it.
    if (place.kind !== 'buffer') this.entry(place).received += count;
  }

  refused(place: StagePlace): void {
    this.entry(place).received++;
  }

  admitted(place: StagePlace, count: number): void {
    if (this.inFlight === 0) this.progressAt = this.clock.now;
    this.inFlight += count;
    this.entry(place).inFlight += count;
  }

  received(place: StagePlace, count: number): void {
    this.entry(place).received += count;
  }

  left(place: StagePlace, count: number): void {
    this.entry(place).sent += count;
  }

  joined(place: StagePlace, count: number): void {
    this.entry(place).joined += count;
  }

  dropped(place: StagePlace, reason: DropReason, count: number): void {
    if (reason === 'no_route') this.unrouted = (this.unrouted ?? 0) + count;
    else this.entry(place).drop(reason, count);
  }

  rejected(place: StagePlace, count: number): void {
    this.entry(place).rejected += count;
  }

  pluginFailed(place: StagePlace, { reason }: PluginFailure): void {
    // A forwarder has not received an event on which its condition failed.
    if (reason !== 'route_failed') this.entry(place).failed++;
  }

  deadLettered(place: StagePlace): void {
    this.entry(place).deadLettered++;
  }

  retried(place: StagePlace): void {
    this.entry(place).retries++;
  }

  called(place: StagePlace, { count, events, startedAt }: Calls): CallEnded {
    const { batchEvents, openCalls, callSeconds } = this.entry(place);
    batchEvents.observe(events / count, count);
    const ended: CallEnded = (failure) => {
      // No longer known if the run has ended meanwhile.
      if (!openCalls.delete(ended)) return;
      const now = this.clock.read();
      if (failure === undefined) this.progressAt = now;
      const seconds = Math.max(0, now - startedAt) / 1000 / count;
      callSeconds[failure === undefined ? 'ok' : 'error'].observe(seconds, count);
    };
    openCalls.set(ended, startedAt);
    return ended;
  }

  acknowledged(place: StagePlace, count: number, _events: EventsOf, outcome: Outcome, ms: number): void {
    const { now } = this.clock;
    const entry = this.entry(place);
    this.acknowledgedAt = now;
    this.progressAt = now;
    this.inFlight -= count;
    entry.inFlight -= count;
    if (outcome === 'rejected' || outcome === 'too_large') return;
    entry.acknowledged[outcome] += count;
    entry.acknowledgeSeconds.observe(ms / 1000, count);
  }

  /** Events in flight that no buffer on disk has. */
  get volatile(): number {
    return this.#sum(({ kind, inFlight }) => (kind === 'collect' ? inFlight : 0));
  }

  /** Whether events wait for forwarders, of which each is to be called again after a failure. */
  get isStuck(): boolean {
    const waiting = this.entries.filter(({ kind, waiting }) => isSink(kind) && waiting > 0);
    return (
      waiting.length > 0 &&
      waiting.every(({ outage, openCalls }) => outage !== undefined && openCalls.size === 0)
    );
  }

  /**
   * A run has ended: what is still in flight will never be acknowledged. Returns how many events that are lost, unless their
   * collectors emit them again.
   */
  abandon(): number {
    const abandoned = this.volatile;
    this.inFlight = 0;
    for (const entry of this.#entries.values()) {
      entry.inFlight = 0;
      if (isSink(entry.kind)) entry.abandoned += entry.waiting;
      entry.openCalls.clear();
      entry.outage = undefined;
    }
    return abandoned;
  }

  snapshot(): PipelineStats {
    const { entries } = this;
    const backlogs = entries.flatMap(({ lagBytes }) => lagBytes ?? []);
    return {
      collected: this.#sum(({ kind, received }) => (kind === 'collect' ? received : 0)),
      forwarded: Object.fromEntries(
        entries
          .filter(({ kind, sent }) => kind === 'forward' && sent > 0)
          .map(({ name, sent }) => [name, sent]),
      ),
      dropped: Object.fromEntries(this.#dropped()),
      rejected: this.#sum(({ rejected }) => rejected),
      joined: this.#sum(({ joined }) => joined),
      dead_lettered: this.#sum(({ kind, sent }) => (kind === 'dead_letter' ? sent : 0)),
      masked: Object.fromEntries(
        totals(
          entries.flatMap(({ masked }) =>
            Array.from(masked, ([rule, { count }]): [string, number] => [rule, count]),
          ),
        ),
      ),
      retries: this.#sum(({ retries }) => retries),
      given_up: this.givenUp,
      in_flight: this.inFlight,
      backlog_bytes: backlogs.length === 0 ? undefined : backlogs.reduce((total, bytes) => total + bytes, 0),
      lost_bytes: this.#sum(({ lostBytes }) => lostBytes),
      lost_files: this.#sum(({ lostFiles }) => lostFiles),
      truncations: this.#sum(({ truncations }) => truncations),
    };
  }

  #dropped(): [DropReason, number][] {
    const byEntry = this.entries.flatMap(({ dropped }) => [...dropped]);
    const all = totals([...byEntry, ['no_route', this.unrouted ?? 0] as const]);
    return [...all].filter(([, count]) => count > 0);
  }

  #sum(of: (entry: EntryCounters) => number): number {
    let total = 0;
    for (const entry of this.#entries.values()) total += of(entry);
    return total;
  }
}

const isSink = (kind: StagePlace['kind']) => kind === 'forward' || kind === 'dead_letter';

function totals<K>(counts: readonly (readonly [K, number])[]): Map<K, number> {
  const sums = new Map<K, number>();
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}
