import { counted } from '../../operators/support/counted.ts';
import { safeReason } from '../sdk/errors.ts';
import type { PipelineHealth, PipelineStatus } from '../sdk/status.ts';
import { isoNow } from '../sdk/time.ts';
import { elapsedText } from './attempts.ts';
import type { EntryCounters, PipelineCounters } from './stats.ts';

/**
 * Whether a pipeline is well, and in words what is wrong. It is not ready if it has failed or waits after a failure, and
 * if none of its events was delivered or acknowledged for `stalledAfter` milliseconds while it had some in flight. A
 * forwarder that fails is a problem from its first failure on, but the pipeline stays ready until then.
 */
export function pipelineHealth(
  status: PipelineStatus,
  counters: PipelineCounters,
  stalledAfter: number,
): PipelineHealth {
  const { pipeline, state } = status;
  const ended = problemOf(status);
  if (ended !== undefined) return { pipeline, state, isReady: false, problems: [ended] };
  const troubles = counters.entries.flatMap((entry) => troubleOf(entry) ?? []);
  const stall = stallOf(counters, stalledAfter, troubles.length > 0);
  if (stall === undefined) return { pipeline, state, isReady: true, problems: troubles };
  return { pipeline, state, isReady: false, problems: [...troubles, stall] };
}

/** What keeps a pipeline from running; undefined if it runs, is about to, or has ended as it should. */
function problemOf({ state, since, failures, retryIn = 0, error }: PipelineStatus): string | undefined {
  if (state === 'failed') return `has failed: ${safeReason(error)}`;
  if (state === 'stopped') return 'was stopped';
  if (state === 'idle') return 'has not been started';
  if (state !== 'backing_off' || failures === 0) return undefined;
  const next = clockTime(new Date(Date.parse(since) + retryIn).toISOString(), 19);
  return `has failed ${times(failures)} in a row and starts again at ${next}: ${safeReason(error)}`;
}

function troubleOf({ kind, name, trouble }: EntryCounters): string | undefined {
  if (trouble === undefined) return undefined;
  const what = kind === 'dead_letter' ? 'dead letter' : 'forwarder';
  return `${what} ${name} has failed ${times(trouble.failures)} since ${clockTime(trouble.since)}: ${trouble.reason}`;
}

function stallOf(counters: PipelineCounters, stalledAfter: number, isFailing: boolean): string | undefined {
  const { inFlight, progressAt } = counters;
  const now = counters.clock.read();
  if (inFlight === 0 || now - progressAt < stalledAfter) return undefined;
  const stall = `has made no progress for ${elapsedText(now - progressAt)} with ${counted(inFlight, 'event')} in flight`;
  if (isFailing) return stall;
  const calls = counters.entries.flatMap(({ name, openCalls }) => {
    if (openCalls.size === 0) return [];
    return `forwarder ${name} has not answered for ${elapsedText(now - Math.min(...openCalls.values()))}`;
  });
  return `${stall}: ${calls.length > 0 ? calls.join(', ') : 'no forwarder is being called, so a processor holds them'}`;
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
