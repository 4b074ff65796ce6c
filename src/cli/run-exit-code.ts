import type { Logger } from '../sdk/context.ts';
import { ExitCode } from './exit-code.ts';
import { counted } from './format.ts';
import type { PipelineResult } from './summary.ts';

/**
 * What a run ends with, and a log line for each pipeline that came to its end and lost events that a plugin failed on.
 * One that was stopped did not come to its end, and one that failed has said why.
 */
export function runExitCode(results: readonly PipelineResult[], logger: Logger): number {
  const lossy = results.filter((result) => result.state === 'completed' && lostEvents(result) > 0);
  for (const result of lossy) {
    logger.error(
      `${result.pipeline}: ${counted(lostEvents(result), 'event')} lost: a plugin failed on what no dead letter took ` +
        '(`delivery.dead_letter`); the exit code is 1',
    );
  }
  const isGood = lossy.length === 0 && results.every(({ state }) => state !== 'failed');
  return isGood ? ExitCode.ok : ExitCode.failed;
}

/** What goes to the dead letter is not counted as dropped. */
function lostEvents({ stats: { dropped } }: PipelineResult): number {
  return (dropped.processor_failed ?? 0) + (dropped.forwarder_failed ?? 0);
}
