import { counted } from '../../../operators/internal.ts';
import type { Path } from '../../sdk/checks/problem.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { timeText } from '../draw/value-text.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { isForwarder } from '../trace.ts';
import { valueText } from './matcher.ts';

/** An event that left an entry of the pipeline, at a virtual time in whole milliseconds. */
export interface ReceivedEvent {
  readonly at: number;
  readonly event: CollectedEvent;
}

/** An assertion that does not hold. */
export interface Finding {
  /** Where it stands, inside `expect`. */
  readonly path: Path;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /**
   * What is wrong: an assertion, an error of a plugin, or a test that could not be run. Default: an assertion.
   */
  readonly kind?: 'assertion' | 'plugin_failed' | 'not_run';
  /** Whether it says only that there was no event to look at, which may be so in some of the runs of a test with `any`. */
  readonly isVacuous?: true;
  /** More lines, to be read in a fixed-width font. */
  readonly details?: string;
}

const MOST_LINES = 5;

/**
 * What left the named entry, in the order of time: for a forwarder, what it has delivered. Random waits end
 * between milliseconds; a test speaks of whole ones.
 */
export function receivedBy({ trace }: PipelineRun, name: string): ReceivedEvent[] {
  const named = trace.rows.filter(({ place }) => place.name === name);
  const forwarders = named.filter(({ place }) => isForwarder(place));
  return (forwarders.length > 0 ? forwarders : named)
    .flatMap(({ marks }) => marks)
    .flatMap((mark) => (mark.kind === 'event' ? [{ at: Math.round(mark.at), event: mark.event }] : []))
    .sort((a, b) => a.at - b.at);
}

/** What the named entry has handed on or, if it is a forwarder, was handed: also what it refused or failed on. */
export function handedTo(run: PipelineRun, name: string): ReceivedEvent[] {
  const rows = run.trace.rows.filter(({ place }) => place.name === name && isForwarder(place));
  if (rows.length === 0) return receivedBy(run, name);
  const marks = rows.flatMap(({ marks }) => marks).filter((mark) => 'event' in mark);
  const seen = new Map<CollectedEvent, ReceivedEvent>();
  for (const { at, event } of [...marks, ...rows.flatMap(({ handed = [] }) => handed)]) {
    if (!seen.has(event)) seen.set(event, { at: Math.round(at), event });
  }
  return [...seen.values()].sort((a, b) => a.at - b.at);
}

/** `1 event`, `2 events` */
export function countedEvents(count: number): string {
  return counted(count, 'event');
}

/** A line of text for each item; of many, for the first ones. */
export function listOf<T>(items: readonly T[], lineOf: (item: T) => string): string {
  const more = items.length - MOST_LINES;
  const lines = items.slice(0, MOST_LINES).map((item) => `  ${lineOf(item)}`);
  return [...lines, ...(more > 0 ? [`  … and ${more} more`] : [])].join('\n');
}

/** One line of text for each event, with its time. */
export function eventLines(events: readonly ReceivedEvent[]): string {
  return listOf(events, ({ at, event }) => `${timeText(at)}  ${valueText(event.data)}`);
}

/** What came, to be shown below a finding. */
export function whatCame(received: readonly ReceivedEvent[]): string {
  return received.length === 0 ? 'Nothing came.' : `What came:\n${eventLines(received)}`;
}
