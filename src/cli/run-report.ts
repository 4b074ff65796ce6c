import { variablesOf, withholdLong } from '../checks/shown-values.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import type { Colours } from './colours.ts';
import { duration } from './format.ts';
import type { LiveSource } from './live-line.ts';
import type { LogFormat, LogLevel } from './logger.ts';
import { FINAL_STATES, type RunTimes } from './run-times.ts';
import { type PipelineResult, summaryText } from './summary.ts';

/** How each of the started pipelines ended. */
export function pipelineResults(
  config: AnalyticsConfig,
  names: readonly string[],
  source: LiveSource,
  times: RunTimes,
): PipelineResult[] {
  const states = source.states();
  const stats = source.stats();
  return names.flatMap((pipeline) => {
    const status = states[pipeline];
    const counters = stats[pipeline];
    const entry = config.pipelines[pipeline];
    if (status === undefined || counters === undefined || entry === undefined) return [];
    return {
      pipeline,
      // One that was not waited for, because nobody reads its results any more.
      state: FINAL_STATES.includes(status.state) ? status.state : 'stopped',
      stats: counters,
      elapsedMs: times.elapsed(pipeline),
      forwarders: entry.forward,
      masks: (entry.process ?? []).some((name) => config.processors[name]?.loaded_plugin.masks === true),
      reason:
        status.state === 'failed' ? withholdLong(safeReason(status.error), variablesOf(config)) : undefined,
    };
  });
}

interface ReportOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly colours: Colours;
  readonly logger: Logger;
  write(text: string): void;
}

/** The summary of a run: a table for people, or one log line a pipeline. Left out below level `info`. */
export function reportResults(results: readonly PipelineResult[], options: ReportOptions): void {
  const { level, format, colours, logger, write } = options;
  if (format === 'json') {
    for (const { pipeline, state, stats, elapsedMs, reason } of results) {
      const fields = { pipeline, state, elapsed_ms: Math.round(elapsedMs), ...stats, reason };
      logger.info(`${pipeline}: ${state} after ${duration(elapsedMs)}`, fields);
    }
  } else if (level === 'info' || level === 'debug') {
    write(summaryText(results, colours));
  }
}
