import type { Trace } from '../trace.ts';
import { gapText, timeText } from './value-text.ts';

/** A time at which something happened; or a span of them, collapsed. Milliseconds. */
export interface Column {
  readonly from: number;
  readonly to: number;
  /** What the axis says; it may be the difference to the column before. */
  readonly label: string;
  /** What it says where there is no column before. */
  readonly exact: string;
  /** Since the column before. */
  readonly gap: number;
  /** The gap in words, where time is too long to be drawn. */
  readonly pause: string | undefined;
}

/** The time axis that all stages share. */
export interface Axis {
  readonly columns: readonly Column[];
  /** The column that a time belongs to. */
  columnOf(at: number): number;
}

/** More columns than this are collapsed. */
const MOST_COLUMNS = 40;
/** Of a run that is collapsed, so many columns at its start and its end are drawn. */
const HEAD = 3;
const TAIL = 2;
/** A gap so many times the run's usual one parts it: bursts are seen as such. */
const BURST = 10;
const LONG = 1000;
/** So many times in a row may be written as differences. */
const MOST_RELATIVE = 2;
/** What is collapsed becomes about so many columns, each of so many times at least. */
const MOST_PARTS = 4;
const FEWEST_TIMES = 4;

type Landmarks = ReadonlyMap<number, ReadonlySet<string>>;

/** Distinct times become columns; if there are too many, runs in which nothing new happens are collapsed. */
export function axisOf(trace: Trace): Axis {
  const landmarks = landmarksOf(trace, false);
  const times = [...landmarks.keys()].sort((a, b) => a - b);
  const spans = collapsed(times, landmarksOf(trace, true), landmarks);
  let relative = 0;
  const columns = spans.map(([from, to], i) => {
    const gap = i === 0 ? 0 : from - (spans[i - 1] as Span)[1];
    const exact = to === from ? timeText(from) : `${timeText(from)}…${timeText(to)}`;
    // Just after the one before it, and far from the start, a time is written as the difference; but not many in a row.
    const isNear = to === from && gap > 0 && gap < LONG && from >= LONG && relative < MOST_RELATIVE;
    relative = isNear ? relative + 1 : 0;
    return {
      from,
      to,
      gap,
      exact,
      label: isNear ? `+${gap}ms` : exact,
      pause: gap >= LONG ? gapText(gap) : undefined,
    };
  });
  const indexes = new Map<number, number>();
  for (const time of times) {
    const last = indexes.get(time) ?? columns.findLastIndex(({ from }) => from <= time);
    indexes.set(time, last);
  }
  return { columns, columnOf: (at) => indexes.get(Math.round(at)) as number };
}

type Span = readonly [from: number, to: number];

/**
 * What happens at each time that should not disappear in a collapsed run.
 *
 * @param isEach whether that is each drop, retry and dead letter, and the first event of each forwarder; else only the
 * first of each kind at a stage
 */
function landmarksOf({ states, rows, files = [] }: Trace, isEach: boolean): Landmarks {
  const landmarks = new Map<number, Set<string>>();
  const add = (at: number, what: string | undefined) => {
    const time = Math.round(at);
    const set = landmarks.get(time) ?? new Set();
    landmarks.set(time, what === undefined ? set : set.add(what));
  };
  for (const { at, state } of states) add(at, state);
  const actions = new Set<string>();
  for (const { at, text } of files) {
    add(at, actions.has(text) ? undefined : text);
    actions.add(text);
  }
  for (const { place, marks } of rows) {
    const seen = new Set<string>();
    for (const mark of marks) {
      const what = `${place.kind} ${place.name} ${mark.kind}${mark.kind === 'drop' ? ` ${mark.reason}` : ''}`;
      const isFirst = !seen.has(what);
      const isLandmark =
        mark.kind === 'event'
          ? isEach && isFirst && place.kind === 'forward'
          : isEach || isFirst || mark.kind === 'end' || mark.kind === 'error';
      seen.add(what);
      add(mark.at, isLandmark ? what : undefined);
    }
  }
  return landmarks;
}

/** With as many landmarks as there is room for. */
function collapsed(times: readonly number[], each: Landmarks, first: Landmarks): Span[] {
  if (times.length <= MOST_COLUMNS) return times.map((time) => [time, time]);
  for (const landmarks of [each, first]) {
    const spans = elided(runsOf(times, landmarks));
    if (spans.length <= 1.5 * MOST_COLUMNS) return spans;
  }
  return elided(runsOf(times, outermost(times, first), false));
}

/** Consecutive times between landmarks; a landmark is a run of its own. */
function runsOf(times: readonly number[], landmarks: Landmarks, areBurstsParted = true): number[][] {
  const runs: number[][] = [];
  let run: number[] = [];
  const close = () => {
    if (run.length > 0) runs.push(...(areBurstsParted ? bursts(run) : [run]));
    run = [];
  };
  for (const time of times) {
    if ((landmarks.get(time)?.size ?? 0) === 0) run.push(time);
    else {
      close();
      runs.push([time]);
    }
  }
  close();
  return runs;
}

function bursts(run: readonly number[]): number[][] {
  const gaps = run.slice(1).map((time, i) => time - (run[i] as number));
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1] ?? 0;
  const parts: number[][] = [[run[0] as number]];
  gaps.forEach((gap, i) => {
    const time = run[i + 1] as number;
    if (gap > BURST * usual) parts.push([time]);
    else parts.at(-1)?.push(time);
  });
  return parts;
}

/** The middles of long runs become columns: several if there are few such runs, else one each. */
function elided(runs: readonly (readonly number[])[]): Span[] {
  const isLong = (run: readonly number[]) => run.length > HEAD + TAIL + 2;
  const parts = Math.max(1, Math.floor(MOST_PARTS / Math.max(1, runs.filter(isLong).length)));
  const single = (time: number): Span => [time, time];
  return runs.flatMap((run) =>
    isLong(run)
      ? [
          ...run.slice(0, HEAD).map(single),
          ...parted(run.slice(HEAD, -TAIL), parts),
          ...run.slice(-TAIL).map(single),
        ]
      : run.map(single),
  );
}

/** Columns of about equally many times: one alone would say nothing about what happened in which order. */
function parted(times: readonly number[], most: number): Span[] {
  const parts = Math.max(1, Math.min(most, Math.floor(times.length / FEWEST_TIMES)));
  return Array.from({ length: parts }, (_, part): Span => {
    const [from, to] = [part, part + 1].map((end) => Math.round((end * times.length) / parts)) as [
      number,
      number,
    ];
    return [times[from] as number, times[to - 1] as number];
  });
}

/** Only the first and the last of each landmark, for a run with so many that they have to be collapsed too. */
function outermost(times: readonly number[], landmarks: Landmarks): Landmarks {
  const at = new Map<string, number[]>();
  for (const time of times) {
    for (const what of landmarks.get(time) ?? []) at.set(what, [at.get(what)?.[0] ?? time, time]);
  }
  const kept = new Map<number, Set<string>>();
  for (const [what, ends] of at) {
    for (const time of ends) kept.set(time, (kept.get(time) ?? new Set()).add(what));
  }
  return kept;
}
