import { printable } from '../sdk/printable.ts';
import type { DropReason, PipelineState, PipelineStats } from '../sdk/status.ts';
import type { Colours } from './colours.ts';
import { count, duration, perSecond } from './format.ts';

/** What a summary tells of one pipeline. */
export interface PipelineResult {
  readonly pipeline: string;
  readonly state: PipelineState;
  readonly stats: PipelineStats;
  readonly elapsedMs: number;
  /** The names of its forwarders: one that got nothing is shown too. */
  readonly forwarders: readonly string[];
  /** Whether a mask is among its processors: then "masked 0" is worth a line. */
  readonly masks: boolean;
  /** Why it failed, safe to print. */
  readonly reason: string | undefined;
}

/** A label, its number, and what follows the number. */
type Row = readonly [label: string, value: string, note: string];

const DROPS = {
  filtered: 'filtered out by a processor',
  processor_failed: 'a processor failed on them',
  forwarder_failed: 'a forwarder did not take them',
  buffer_full: 'came faster than they were taken',
} satisfies Record<DropReason, string>;

/** A map, because entries may have any name, `constructor` too. */
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
  if (masks || masked.length > 0) rows.push(['  masked', count(sum(masked)), 'values'], ...details(masked));
  rows.push(['  out', '', ''], ...details(forwarded));
  rows.push(['  dropped', count(sum(dropped)), ''], ...details(dropped, NOTES));
  if (stats.dead_lettered > 0) rows.push(['  dead-lettered', count(stats.dead_lettered), '']);
  if (stats.retries > 0) rows.push(['  retries', count(stats.retries), 'of forwarders']);
  if (stats.given_up > 0)
    rows.push(['  given up', count(stats.given_up), 'still in flight when it was stopped']);
  if (stats.in_flight > 0) rows.push(['  in flight', count(stats.in_flight), 'not delivered when it ended']);
  if (stats.lost_bytes > 0)
    rows.push(['  lost', count(stats.lost_bytes), 'bytes at least, gone before they were read']);
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
