import type { Observable } from 'rxjs';
import { steadyClock } from '../../operators/internal.ts';
import { withholderFor } from '../sdk/checks/shown-values.ts';
import { type AnalyticsConfig, forwardersOf } from '../sdk/config.ts';
import { isMask } from '../sdk/plugin.ts';
import { printable } from '../sdk/printable.ts';
import { failureReason } from '../sdk/run-failure.ts';
import {
  type DropReason,
  isFinal,
  type PipelineState,
  type PipelineStats,
  type PipelineStatus,
} from '../sdk/status.ts';
import type { GlobalOptions } from './commands.ts';
import { count, duration, perSecond } from './format.ts';
import type { LiveSource } from './live-line.ts';
import { createLogger } from './logger.ts';
import { type Colours, coloursFor, StatusTerminal } from './terminal.ts';

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
      // It may still be running if the reader of its output has left.
      state: isFinal(status.state) ? status.state : 'stopped',
      stats: counters,
      elapsedMs: times.elapsed(pipeline),
      forwarders: forwardersOf(entry),
      masks: (entry.process ?? []).some((name) => isMask(config.processors[name]?.loaded_plugin)),
      stdinLeft: stdinLeft(config, entry.collect, counters),
      reason: status.state === 'failed' ? withholderFor(config)(failureReason(status.error)) : undefined,
    };
  });
}

function stdinLeft(
  { collectors }: AnalyticsConfig,
  names: readonly string[],
  { backlog_bytes = 0 }: PipelineStats,
): number | undefined {
  if (!names.some((name) => collectors[name]?.loaded_plugin.traits?.readsStdin === true)) return undefined;
  return names.length === 1 ? backlog_bytes : 0;
}

/** Where a command logs, and where it reports the results of its pipelines: standard error, in the format asked for. */
export function standardError(
  { logLevel: level, logFormat: format }: GlobalOptions,
  terminal = new StatusTerminal(process.stderr),
) {
  const colours = coloursFor(process.stderr);
  const write = (text: string) => terminal.write(text);
  const logger = createLogger({ level, format, colours, terminal: terminal.isTerminal, write });
  /** A table, or one JSON log line per pipeline. Left out above level `info`. */
  const report = (results: readonly PipelineResult[]) => {
    if (format === 'json') {
      for (const { pipeline, state, stats, elapsedMs, reason } of results) {
        const fields = { pipeline, state, elapsed_ms: Math.round(elapsedMs), ...stats, reason };
        logger.info(`${pipeline}: ${state} after ${duration(elapsedMs)}`, fields);
      }
    } else if (level === 'info' || level === 'debug') {
      write(summaryText(results, colours));
    }
  };
  return { logger, report };
}

/** When each pipeline started and ended, by a monotonic clock. */
export class RunTimes {
  readonly #now = steadyClock();
  readonly #spans = new Map<string, { start: number; end: number | undefined }>();

  /** @param states$ the manager's, before it starts anything */
  constructor(states$: Observable<PipelineStatus>) {
    states$.subscribe(({ pipeline, state }) => {
      const span = this.#spans.get(pipeline);
      if (state === 'running' && span === undefined) {
        this.#spans.set(pipeline, { start: this.#now(), end: undefined });
      } else if (span !== undefined) {
        span.end = isFinal(state) ? this.#now() : undefined;
      }
    });
  }

  /** Milliseconds from a pipeline's first start to its end, or to now. */
  elapsed(pipeline: string): number {
    const span = this.#spans.get(pipeline);
    return span === undefined ? 0 : (span.end ?? this.#now()) - span.start;
  }
}

/** The content of the summary of one pipeline. */
export interface PipelineResult {
  readonly pipeline: string;
  readonly state: PipelineState;
  readonly stats: PipelineStats;
  readonly elapsedMs: number;
  /** Also those that got no event. */
  readonly forwarders: readonly string[];
  /** Whether one of its processors is a mask: then "masked 0" is shown. */
  readonly masks: boolean;
  /**
   * Bytes that were read from standard input and not emitted; undefined if the pipeline does not read it. If it has other
   * collectors, whose bytes would be among them, 0.
   */
  readonly stdinLeft: number | undefined;
  /** Why it failed, safe to print. */
  readonly reason: string | undefined;
}

type Row = readonly [label: string, value: string, note: string];

const DROPS = {
  filtered: 'filtered out by a processor',
  collector_failed: 'a collector could not read them',
  processor_failed: 'a processor failed on them',
  forwarder_failed: 'a forwarder failed on them',
  no_route: 'the condition of no forwarder was true',
  route_failed: 'the condition of a forwarder failed on them',
  buffer_full: 'arrived faster than they were processed',
} satisfies Record<DropReason, string>;

/** A Map, because an entry may be called `constructor`. */
const NOTES: ReadonlyMap<string, string> = new Map(Object.entries(DROPS));
const NO_NOTES: typeof NOTES = new Map();

/** The summaries of several pipelines, their numbers in one column. */
export function summaryText(results: readonly PipelineResult[], colours: Colours): string {
  const blocks = results.map((result) => ({ result, rows: summaryRows(result) }));
  const rows = blocks.flatMap((block) => block.rows);
  const labels = Math.max(...rows.map(([label]) => label.length));
  const values = Math.max(...rows.map(([, value]) => value.length));
  const line = ([label, value, note]: Row) => {
    const text = `${label.padEnd(labels)}  ${value.padStart(values)}`.trimEnd();
    return note === '' ? text : `${text}  ${colours.dim(note)}`;
  };
  return blocks
    .map(({ result, rows }) => `\n${headline(result, colours)}\n${rows.map(line).join('\n')}\n`)
    .join('');
}

function headline({ pipeline, state, elapsedMs, reason }: PipelineResult, colours: Colours): string {
  const paint = state === 'failed' ? colours.red : state === 'completed' ? colours.green : colours.yellow;
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  return `${colours.bold(printable(pipeline))}  ${paint(state)} after ${duration(elapsedMs)}${why}`;
}

function summaryRows({ stats, elapsedMs, masks, forwarders }: PipelineResult): Row[] {
  const masked = Object.entries(stats.masked);
  const dropped = Object.entries(stats.dropped);
  const counts = new Map(Object.entries(stats.forwarded));
  const forwarded = forwarders.map((name): [string, number] => [name, counts.get(name) ?? 0]);
  const rows: Row[] = [
    ['  in', count(stats.collected), `events, ${perSecond(stats.collected, elapsedMs)}/s`],
  ];
  if (stats.joined > 0) rows.push(['  joined', count(stats.joined), 'lines, to the one before them']);
  if (masks || masked.length > 0) rows.push(['  masked', count(sum(masked)), 'values'], ...details(masked));
  rows.push(['  out', '', ''], ...details(forwarded));
  rows.push(['  dropped', count(sum(dropped)), ''], ...details(dropped, NOTES));
  if (stats.rejected > 0)
    rows.push(['  refused', count(stats.rejected), 'by the full buffer: their senders have them']);
  if (stats.dead_lettered > 0) rows.push(['  dead-lettered', count(stats.dead_lettered), '']);
  if (stats.retries > 0) rows.push(['  retries', count(stats.retries), 'of forwarders']);
  if (stats.given_up > 0)
    rows.push(['  given up', count(stats.given_up), 'still in flight when it was stopped']);
  if (stats.in_flight > 0) rows.push(['  in flight', count(stats.in_flight), 'not delivered when it ended']);
  if (stats.lost_bytes > 0)
    rows.push(['  lost', count(stats.lost_bytes), 'bytes at least, gone before they were read']);
  if (stats.lost_files > 0)
    rows.push([
      '  lost',
      count(stats.lost_files),
      'files that were gone before they were read to their ends',
    ]);
  if (stats.truncations > 0)
    rows.push(['  truncated', count(stats.truncations), 'times: lines written just before may be lost']);
  return rows;
}

/** Counters under their heading, the largest first. */
function details(counters: readonly [string, number][], notes = NO_NOTES): Row[] {
  return [...counters]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, value]) => [`    ${printable(name)}`, count(value), notes.get(name) ?? '']);
}

function sum(counters: readonly [string, number][]): number {
  return counters.reduce((total, [, value]) => total + value, 0);
}
