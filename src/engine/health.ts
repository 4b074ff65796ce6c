import { counted, isoNow } from '../../operators/internal.ts';
import type { BufferStatus } from '../buffer/event-buffer.ts';
import { failureReason } from '../sdk/run-failure.ts';
import type { PipelineHealth, PipelineStatus } from '../sdk/status.ts';
import type { EntryCounters, PipelineCounters } from './counters.ts';
import { placeText } from './observer.ts';
import { elapsedText } from './retry-log.ts';

/**
 * Whether a pipeline is ready, and in words what is wrong. It is not ready unless it is running or has completed; while it
 * is being stopped; while its buffer on disk is full, so that it takes nothing more; and if none of its events was delivered
 * or acknowledged for `stalledAfter` milliseconds while it had some in flight. A forwarder that fails is a problem from its first failure on, but the pipeline stays ready until then.
 */
export function pipelineHealth(
  status: PipelineStatus & { readonly isStopping: boolean },
  counters: PipelineCounters,
  stalledAfter: number,
): PipelineHealth {
  const { pipeline, state, isStopping } = status;
  const base = { pipeline, state, isStalled: false };
  const notRunning = problemOf(status);
  if (notRunning !== undefined) return { ...base, isReady: false, problems: [notRunning] };
  const outages = counters.entries.flatMap((entry) => outageOf(entry) ?? []);
  const full = counters.buffer?.isFull === true ? [fullText(counters.buffer.status)] : [];
  if (isStopping) {
    const stopping = `is being stopped: ${counted(counters.inFlight, 'event')} in flight`;
    return { ...base, isReady: false, problems: [stopping, ...full, ...outages] };
  }
  const stall = stallOf(counters, stalledAfter, outages.length > 0);
  if (stall === undefined) return { ...base, isReady: full.length === 0, problems: [...full, ...outages] };
  return { ...base, isReady: false, isStalled: true, problems: [...full, ...outages, stall] };
}

/** What keeps a pipeline from running; undefined if it runs, is about to, or has ended as it should. */
function problemOf({ state, since, failures, retryIn = 0, error }: PipelineStatus): string | undefined {
  if (state === 'failed')
    return `failed at ${clockTime(since)} and is not started again by itself: ${failureReason(error)}`;
  if (state === 'stopped') return `was stopped at ${clockTime(since)}`;
  if (state === 'idle') return 'has not been started yet';
  if (state !== 'backing_off' || failures === 0) return undefined;
  const next = clockTime(new Date(Date.parse(since) + retryIn).toISOString(), 19);
  return `has failed ${times(failures)} in a row and starts again at ${next}: ${failureReason(error)}`;
}

function fullText({ bytes, events }: BufferStatus): string {
  return `the buffer is full: ${counted(events, 'event')} in ${counted(bytes, 'byte')} wait to be delivered`;
}

function outageOf(entry: EntryCounters): string | undefined {
  const { outage } = entry;
  if (outage === undefined) return undefined;
  const { failures, since, reason, wait, nextAt } = outage;
  const next = wait < WORTH_TELLING ? '' : `; next attempt at ${clockTime(nextAt, 19)}`;
  return `${placeText(entry)} has failed ${times(failures)} since ${clockTime(since)}: ${reason}${next}`;
}

/** Milliseconds: the time of an attempt that comes sooner is over when it is read. */
const WORTH_TELLING = 5000;

function stallOf(counters: PipelineCounters, stalledAfter: number, isFailing: boolean): string | undefined {
  const { inFlight, progressAt, entries } = counters;
  const now = counters.clock.read();
  if (inFlight === 0 || now - progressAt < stalledAfter) return undefined;
  const stall = `has made no progress for ${elapsedText(now - progressAt)} with ${counted(inFlight, 'event')} in flight`;
  if (isFailing) return stall;
  const calls = entries.flatMap(({ name, openCalls }) => {
    if (openCalls.size === 0) return [];
    return `forwarder ${name} has not answered for ${elapsedText(now - Math.min(...openCalls.values()))}`;
  });
  if (calls.length > 0) return `${stall}: ${calls.join(', ')}`;
  const waiting = entries.filter(({ kind, waiting }) => kind === 'forward' && waiting > 0);
  if (waiting.length > 0) {
    const names = waiting.map(({ name, waiting }) => `${name} (${counted(waiting, 'event')})`);
    const listed = new Intl.ListFormat('en-GB').format(names);
    return waiting.length === 1
      ? `${stall}: forwarder ${listed} is not being called: it gathers a batch, or was asked to wait`
      : `${stall}: forwarders ${listed} are not being called: they gather batches, or were asked to wait`;
  }
  const processors = entries.filter(({ kind }) => kind === 'process').map(({ name }) => name);
  const holder = processors.length === 1 ? `processor ${processors[0]} holds them` : 'a processor holds them';
  return `${stall}: no forwarder is being called, so ${holder}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : counted(count, 'time');
}

/** `10:02 UTC`, with the date if it is not today's. */
function clockTime(iso: string, end = 16): string {
  const today = isoNow().slice(0, 10);
  const time = iso.slice(0, end).replace('T', ' ');
  return `${iso.startsWith(today) ? time.slice(11) : time} UTC`;
}
