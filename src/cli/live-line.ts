import { interval, type Subscription } from 'rxjs';
import { steadyClock } from '../../operators/internal.ts';
import { printable } from '../sdk/printable.ts';
import type { PipelineHealth, PipelineStats, PipelineStatus } from '../sdk/status.ts';
import { bytes, count, counted, perSecond } from './format.ts';

const REFRESH_MS = 200;
/** The rate is that of the last two seconds: steady enough to read, and soon at 0 when nothing comes. */
const RATE_SAMPLES = 2000 / REFRESH_MS;
/** Lines for pipelines with problems: the log above them has to stay visible. */
const MOST_PROBLEMS = 5;

/** Where the live line has its figures from: a Manager. */
export interface LiveSource {
  states(): Readonly<Record<string, PipelineStatus>>;
  stats(): Readonly<Record<string, PipelineStats>>;
}

/** The same, with what is wrong. */
interface WatchedSource extends LiveSource {
  health(): readonly PipelineHealth[];
}

/** The figures of one live line, all pipelines together. */
interface LiveFigures {
  readonly collected: number;
  readonly forwarded: number;
  readonly inFlight: number;
  readonly perSecond: string;
  /** Undefined where no collector reads bytes. */
  readonly backlogBytes: number | undefined;
  /** All pipelines; those with problems have a line each. */
  readonly health: readonly PipelineHealth[];
}

/**
 * `in 12,345 · out 12,300 · in flight 45 · 8,120 events/s · 1.2 GB left to read`, and a line for each pipeline with
 * problems, which says what it waits for.
 */
export function liveText(figures: LiveFigures): string {
  const parts = [
    `in ${count(figures.collected)}`,
    `out ${count(figures.forwarded)}`,
    `in flight ${count(figures.inFlight)}`,
    `${figures.perSecond} events/s`,
  ];
  if (figures.backlogBytes !== undefined) parts.push(`${bytes(figures.backlogBytes)} left to read`);
  // During a stop, one pipeline after the other stops, which is no problem.
  const unhealthy = figures.health.filter(
    ({ state, problems }) => state !== 'stopped' && problems.length > 0,
  );
  const shown = unhealthy
    .slice(0, unhealthy.length > MOST_PROBLEMS ? MOST_PROBLEMS - 1 : MOST_PROBLEMS)
    .map(({ pipeline, problems }) => printable(`${pipeline}: ${problems.join('; ')}`));
  const left = unhealthy.length - shown.length;
  if (left > 0) shown.push(`… and ${counted(left, 'more pipeline')}`);
  return [parts.join(' · '), ...shown].join('\n');
}

/** Hands a new text to `show` five times a second until it is unsubscribed. */
export function liveLine(source: WatchedSource, show: (text: string) => void): Subscription {
  const samples: { time: number; collected: number }[] = [];
  const now = steadyClock();
  const refresh = () => {
    const stats = Object.values(source.stats());
    const total = (pick: (of: PipelineStats) => number) => stats.reduce((sum, of) => sum + pick(of), 0);
    const backlogs = stats.flatMap((of) => of.backlog_bytes ?? []);
    const sample = { time: now(), collected: total((of) => of.collected) };
    samples.push(sample);
    if (samples.length > RATE_SAMPLES + 1) samples.shift();
    const first = samples[0] ?? sample;
    show(
      liveText({
        collected: sample.collected,
        forwarded: total((of) => Object.values(of.forwarded).reduce((sum, n) => sum + n, 0)),
        inFlight: total((of) => of.in_flight),
        perSecond: perSecond(sample.collected - first.collected, sample.time - first.time),
        backlogBytes: backlogs.length > 0 ? backlogs.reduce((sum, n) => sum + n, 0) : undefined,
        health: source.health(),
      }),
    );
  };
  refresh();
  return interval(REFRESH_MS).subscribe(refresh);
}
