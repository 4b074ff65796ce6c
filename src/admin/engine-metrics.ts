import { asyncScheduler } from 'rxjs';
import type { BufferStatus } from '../buffer/event-buffer.ts';
import type { EntryCounters, PipelineCounters } from '../engine/counters.ts';
import type { Histogram } from '../engine/histogram.ts';
import type { PipelineHealth, PipelineState, PipelineStatus } from '../sdk/status.ts';

/** What is known of a pipeline when metrics are asked for. */
export interface WatchedPipeline {
  readonly status: PipelineStatus;
  readonly health: PipelineHealth;
  readonly counters: PipelineCounters;
}

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number | Histogram];

/** A metric that is read from the counters of the engine when it is asked for. */
export interface EngineMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Beside `pipeline`. */
  readonly labels: readonly string[];
  read(pipeline: WatchedPipeline): readonly Sample[];
}

const STATES: readonly PipelineState[] = [
  'disabled',
  'idle',
  'running',
  'backing_off',
  'completed',
  'failed',
  'stopped',
];

const ENTRY = ['kind', 'entry', 'plugin'];
type Kind = EntryCounters['kind'];
const ALL: readonly Kind[] = ['collect', 'process', 'buffer', 'forward', 'dead_letter'];
const SINKS: readonly Kind[] = ['forward', 'dead_letter'];

/** Reads a value of each entry of some kinds; `undefined` leaves the entry out. */
function ofEntries(kinds: readonly Kind[], read: (entry: EntryCounters) => number | Histogram | undefined) {
  return ({ counters }: WatchedPipeline): Sample[] =>
    counters.entries.flatMap((entry): Sample[] => {
      const value = kinds.includes(entry.kind) ? read(entry) : undefined;
      return value === undefined ? [] : [[labelsOf(entry), value]];
    });
}

/** Reads several values of each entry, each with a value of one more label. */
function ofParts(
  kinds: readonly Kind[],
  label: string,
  read: (entry: EntryCounters) => Iterable<readonly [string, number | Histogram]>,
) {
  return ({ counters }: WatchedPipeline): Sample[] =>
    counters.entries
      .filter(({ kind }) => kinds.includes(kind))
      .flatMap((entry) =>
        Array.from(read(entry), ([part, value]): Sample => [{ ...labelsOf(entry), [label]: part }, value]),
      );
}

/** They have reached no forwarder: the count is that of the pipeline. */
function unroutedOf({ counters: { unrouted } }: WatchedPipeline): Sample[] {
  return unrouted === undefined ? [] : [[{ reason: 'no_route' }, unrouted]];
}

function ofBuffer(read: (status: BufferStatus) => number | undefined) {
  return ({ counters: { buffer } }: WatchedPipeline): Sample[] => {
    const value = buffer && read(buffer.status);
    return value === undefined ? [] : [[{}, value]];
  };
}

function labelsOf({ kind, name, plugin }: EntryCounters): Labels {
  return { kind, entry: name, plugin };
}

/** Every metric of the engine. docs/monitoring.md has them in a table, which a test compares with this. */
export const ENGINE_METRICS: readonly EngineMetric[] = [
  {
    name: 'millrace_events_received_total',
    type: 'counter',
    help: 'Events that reached a plugin entry; for a collector, events that it emitted.',
    labels: ENTRY,
    read: ofEntries(ALL, ({ received }) => received),
  },
  {
    name: 'millrace_events_sent_total',
    type: 'counter',
    help: 'Events that left a plugin entry; for a forwarder, events that it delivered.',
    labels: ENTRY,
    read: ofEntries(ALL, ({ sent }) => sent),
  },
  {
    name: 'millrace_received_bytes_total',
    type: 'counter',
    help: 'Bytes that a collector has read, for plugins that report them.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ bytes }) => bytes),
  },
  {
    name: 'millrace_sent_bytes_total',
    type: 'counter',
    help: 'Bytes that a forwarder has written, for plugins that report them.',
    labels: ENTRY,
    read: ofEntries(SINKS, ({ bytes }) => bytes),
  },
  {
    name: 'millrace_events_in_flight',
    type: 'gauge',
    help: 'Events of a collector that are not acknowledged, or events that a forwarder has received and not delivered.',
    labels: ENTRY,
    read: ofEntries(['collect', 'forward', 'dead_letter'], (entry) =>
      entry.kind === 'collect' ? entry.inFlight : entry.waiting,
    ),
  },
  {
    name: 'millrace_events_acknowledged_total',
    type: 'counter',
    help: 'Events of a collector that are acknowledged, by the worst outcome in their batch.',
    labels: [...ENTRY, 'outcome'],
    read: ofParts(['collect'], 'outcome', ({ acknowledged }) => Object.entries(acknowledged)),
  },
  {
    name: 'millrace_events_dropped_total',
    type: 'counter',
    help: 'Events that went no further, by reason; those without a route have no entry.',
    labels: [...ENTRY, 'reason'],
    read: (pipeline) => [
      ...ofParts(ALL, 'reason', ({ dropped }) => dropped)(pipeline),
      ...unroutedOf(pipeline),
    ],
  },
  {
    name: 'millrace_events_refused_total',
    type: 'counter',
    help: 'Events that the full buffer on disk of a pipeline has refused, and that their senders were told to send again.',
    labels: ENTRY,
    read: ofEntries(['buffer'], ({ rejected }) => rejected),
  },
  {
    name: 'millrace_events_failed_total',
    type: 'counter',
    help: 'Events that a plugin entry failed on for good.',
    labels: ENTRY,
    read: ofEntries(ALL, ({ failed }) => failed),
  },
  {
    name: 'millrace_events_dead_lettered_total',
    type: 'counter',
    help: 'Events that were given to the dead letter because a plugin entry, or the condition of a forwarder, failed on them.',
    labels: ENTRY,
    read: ofEntries(['collect', 'process', 'forward'], ({ deadLettered }) => deadLettered),
  },
  {
    name: 'millrace_values_masked_total',
    type: 'counter',
    help: 'Values that a mask has replaced, by rule.',
    labels: [...ENTRY, 'rule'],
    read: ofParts(['process'], 'rule', ({ masked }) =>
      Array.from(masked, ([rule, { count }]): [string, number] => [rule, count]),
    ),
  },
  {
    name: 'millrace_retries_total',
    type: 'counter',
    help: 'Calls of a forwarder that were made again after a failure.',
    labels: ENTRY,
    read: ofEntries(SINKS, ({ retries }) => retries),
  },
  {
    name: 'millrace_forward_batch_events',
    type: 'histogram',
    help: 'Events in a call of a forwarder.',
    labels: ENTRY,
    read: ofEntries(SINKS, ({ batchEvents }) => batchEvents),
  },
  {
    name: 'millrace_forward_call_duration_seconds',
    type: 'histogram',
    help: 'Duration of a call of a forwarder, by result: ok or error.',
    labels: [...ENTRY, 'result'],
    read: ofParts(SINKS, 'result', ({ callSeconds }) => Object.entries(callSeconds)),
  },
  {
    name: 'millrace_acknowledge_duration_seconds',
    type: 'histogram',
    help: 'Time from the collection of an event to its acknowledgement.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ acknowledgeSeconds }) => acknowledgeSeconds),
  },
  {
    name: 'millrace_lag_bytes',
    type: 'gauge',
    help:
      'Bytes that a collector knows of and has not read, for collectors of files. While its pipeline is full, up to 512 KiB ' +
      'more are read and wait.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ lagBytes }) => lagBytes),
  },
  {
    name: 'millrace_lag_messages',
    type: 'gauge',
    help: 'Messages that a collector knows of and has not received, for collectors of queues.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ lagMessages }) => lagMessages),
  },
  {
    name: 'millrace_lost_bytes_total',
    type: 'counter',
    help: 'Bytes that were gone before a collector could read them.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ lostBytes }) => lostBytes),
  },
  {
    name: 'millrace_lost_files_total',
    type: 'counter',
    help: 'Files of a collector that were gone before they were read to their ends.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ lostFiles }) => lostFiles),
  },
  {
    name: 'millrace_file_truncations_total',
    type: 'counter',
    help: 'Files of a collector that were truncated, each of which may have lost lines.',
    labels: ENTRY,
    read: ofEntries(['collect'], ({ truncations }) => truncations),
  },
  {
    name: 'millrace_buffer_bytes',
    type: 'gauge',
    help: 'Bytes that the buffer on disk of a pipeline takes.',
    labels: [],
    read: ofBuffer(({ bytes }) => bytes),
  },
  {
    name: 'millrace_buffer_events',
    type: 'gauge',
    help: 'Events in the buffer on disk of a pipeline that are not acknowledged.',
    labels: [],
    read: ofBuffer(({ events }) => events),
  },
  {
    name: 'millrace_buffer_oldest_age_seconds',
    type: 'gauge',
    help: 'Seconds since the oldest event in the buffer on disk was written; absent while it is empty.',
    labels: [],
    read: ofBuffer(({ oldest }) =>
      oldest === undefined ? undefined : (asyncScheduler.now() - oldest) / 1000,
    ),
  },
  {
    name: 'millrace_buffer_full',
    type: 'gauge',
    help: 'Whether the buffer on disk of a pipeline is full, so that events wait or are refused: 1 or 0.',
    labels: [],
    read: ({ counters: { buffer } }) => (buffer === undefined ? [] : [[{}, buffer.isFull ? 1 : 0]]),
  },
  {
    name: 'millrace_events_given_up_total',
    type: 'counter',
    help: 'Events in flight when the deadline of a stop passed or a run failed.',
    labels: [],
    read: ({ counters }) => [[{}, counters.givenUp]],
  },
  {
    name: 'millrace_pipeline_state',
    type: 'gauge',
    help: 'The state of a pipeline: 1 for the present one, 0 for the others.',
    labels: ['state'],
    read: ({ status }) => STATES.map((state) => [{ state }, state === status.state ? 1 : 0]),
  },
  {
    name: 'millrace_pipeline_ready',
    type: 'gauge',
    help: 'Whether a pipeline is ready, as /health/ready says: 1 or 0.',
    labels: [],
    read: ({ health }) => [[{}, health.isReady ? 1 : 0]],
  },
  {
    name: 'millrace_pipeline_restarts_total',
    type: 'counter',
    help: 'Restarts of a pipeline.',
    labels: [],
    read: ({ counters }) => [[{}, counters.restarts]],
  },
  {
    name: 'millrace_last_acknowledgement_age_seconds',
    type: 'gauge',
    help: 'Seconds since an event of a pipeline was acknowledged last; absent before the first one.',
    labels: [],
    read: ({ counters: { acknowledgedAt, clock } }) =>
      acknowledgedAt === undefined ? [] : [[{}, (clock.read() - acknowledgedAt) / 1000]],
  },
];
