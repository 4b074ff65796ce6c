import { printable } from '../../sdk/printable.ts';
import type { FlightLevel } from '../flight-counter.ts';
import type { Trace, TraceMark, TraceRow } from '../trace.ts';
import { type Cell, cellsOf, groupBy } from './cells.ts';
import { type Axis, axisOf, type Column } from './columns.ts';
import { type FilesLane, filesLane } from './files-lane.ts';
import type { Panel } from './grid.ts';
import { type Legend, legendOf, type Sign, signsOf } from './legend.ts';
import { settingsTexts } from './settings-texts.ts';
import { timeText } from './value-text.ts';
import { Variants } from './variants.ts';

/** A stage: its operator, and what left it. */
export interface LayoutRow {
  readonly kind: TraceRow['place']['kind'] | 'files';
  readonly name: string;
  readonly plugin: string;
  readonly settings: readonly string[];
  /** By column. */
  readonly cells: ReadonlyMap<number, Cell>;
  readonly segments: readonly Segment[];
}

/** What stands before the name of a stage. */
export const STAGE_WORDS: Readonly<Record<LayoutRow['kind'], string>> = {
  files: '',
  collect: 'collect ',
  process: '',
  buffer: '',
  forward: 'forward ',
  dead_letter: 'dead letter ',
};

/** A run, ready to be drawn as text or as SVG: every stage on one common axis of time. */
export interface Layout {
  readonly pipeline: string;
  /** How the run ended, and its counts. */
  readonly summary: string;
  readonly columns: readonly Column[];
  readonly states: readonly StateSpan[];
  readonly rows: readonly LayoutRow[];
  readonly lanes: readonly Lane[];
  readonly legend: Legend;
  readonly signs: readonly Sign[];
}

/** A number that changes over time, to be drawn as an area. */
export interface Lane {
  readonly name: string;
  /** For each column the highest number in it, and the number after it. */
  readonly levels: readonly { readonly most: number; readonly after: number }[];
}

/** Runs with fewer columns show well enough what is in flight. */
const FEWEST_LANE_COLUMNS = 12;

/** What is in flight, and what waits for room: of long runs, and where something waits. */
function lanesOf({ flight = [] }: Trace, axis: Axis): Lane[] {
  const laneOf = (name: string, of: (level: FlightLevel) => readonly [most: number, after: number]): Lane => {
    let last = 0;
    const byColumn = groupBy(flight, ({ at }) =>
      axis.columns.findLastIndex(({ from }) => from <= Math.round(at)),
    );
    const levels = axis.columns.map((_, column) => {
      const own = (byColumn.get(column) ?? []).map(of);
      const most = Math.max(last, ...own.map(([highest]) => highest));
      last = own.at(-1)?.[1] ?? last;
      return { most, after: last };
    });
    return { name, levels };
  };
  const inFlight = laneOf('in flight', ({ most, inFlight }) => [most, inFlight]);
  const buffered = laneOf('waiting for room', ({ buffered }) => [buffered, buffered]);
  const isEmpty = buffered.levels.every(({ most }) => most === 0);
  if (!isEmpty) return [inFlight, buffered];
  return axis.columns.length >= FEWEST_LANE_COLUMNS && flight.some(({ most }) => most > 1) ? [inFlight] : [];
}

/** Lays a run out. All text in it is printable. */
export function layoutOf(traced: Trace): Layout {
  const trace = { ...traced, rows: traced.rows.map((row) => ({ ...row, marks: endsLast(row, traced) })) };
  const axis = axisOf(trace);
  const states = statesOf(trace, axis);
  const variants = new Variants(trace);
  const rows = trace.rows.map(
    (row): LayoutRow => ({
      kind: row.place.kind,
      name: printable(row.place.name),
      plugin: printable(row.plugin),
      settings: settingsTexts(row.settings),
      cells: cellsOf(row, axis, variants),
      segments: segmentsOf(row, states, axis),
    }),
  );
  const legend = legendOf(variants, drawnNames(rows));
  const lane = filesLane(trace);
  const laneRows = lane === undefined ? [] : [laneRow(lane, axis, variants)];
  return {
    pipeline: printable(trace.pipeline),
    summary: summaryOf(trace),
    columns: axis.columns,
    states,
    rows: laneRows.concat(rows),
    lanes: lanesOf(trace, axis),
    legend: lane === undefined ? legend : { ...legend, lines: [...lane.legend, ...legend.lines] },
    signs: signsOf(trace),
  };
}

/** Files are there all the time, whether or not the pipeline runs. */
function laneRow({ row }: FilesLane, axis: Axis, variants: Variants): LayoutRow {
  const segments = [{ from: 0, to: axis.columns.length - 1, isOpen: false }];
  return {
    kind: 'files',
    name: 'files',
    plugin: row.plugin,
    settings: [],
    cells: cellsOf(row, axis, variants),
    segments,
  };
}

function drawnNames(rows: readonly LayoutRow[]): Set<string> {
  const cells = rows.flatMap((row) => [...row.cells.values()]);
  return new Set(cells.flatMap(({ glyphs }) => glyphs.map(({ text }) => text)));
}

/** The stages to draw in a panel; settings are shown once, and a collector or forwarder at rest is not shown. */
export function stagesIn({ rows }: Layout, panel: Panel): LayoutRow[] {
  const isIn = ({ from, to, isOpen }: Segment) => from <= panel.to && (to >= panel.from || isOpen);
  return rows
    .filter(
      ({ kind, segments, cells }) =>
        panel.from === 0 ||
        kind === 'process' ||
        segments.some(isIn) ||
        [...cells.keys()].some((column) => column >= panel.from && column <= panel.to),
    )
    .map((row) => (panel.from === 0 ? row : { ...row, settings: [] }));
}

function summaryOf({ states, rows }: Trace): string {
  const last = states.at(-1) ?? { at: 0, state: 'idle' };
  const latest = Math.max(last.at, ...rows.map(({ marks }) => marks.at(-1)?.at ?? 0));
  const ending = last.state === 'running' ? 'still running at' : `${last.state} after`;
  const count = (kind: string, isMeant: (row: TraceRow) => boolean = () => true) =>
    rows
      .filter(isMeant)
      .reduce((sum, { marks }) => sum + marks.filter((mark) => mark.kind === kind).length, 0);
  const delivered = rows
    .filter(({ place }) => place.kind === 'forward')
    .map(
      ({ place, marks }) => `${printable(place.name)} ${marks.filter(({ kind }) => kind === 'event').length}`,
    );
  const troubles = (
    [
      ['retry', 'retried'],
      ['drop', 'dropped'],
      ['dead_letter', 'dead-lettered'],
    ] as const
  ).flatMap(([kind, word]) => (count(kind) === 0 ? [] : [`${count(kind)} ${word}`]));
  const counts = [`${count('event', ({ place }) => place.kind === 'collect')} collected`, ...troubles];
  const parts = [`${ending} ${timeText(latest)}`, counts.join(', ')];
  return [...parts, ...(delivered.length === 0 ? [] : [`delivered: ${delivered.join(', ')}`])].join(' · ');
}

/** From one column to another in which a stage was at work. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  /** Whether it goes on after the picture's end. */
  readonly isOpen: boolean;
}

/** A state of the pipeline, from a column on. */
export interface StateSpan extends Segment {
  readonly state: Trace['states'][number]['state'];
}

/** The states, each to where the next one begins. Of those that begin at the same time the last one counts. */
function statesOf({ states }: Trace, { columns, columnOf }: Axis): StateSpan[] {
  const starts = [...new Map(states.map(({ at, state }) => [columnOf(at), state]))];
  return starts.map(([from, state], i) => ({
    from,
    state,
    to: starts[i + 1]?.[0] ?? columns.length - 1,
    isOpen: i === starts.length - 1 && state === 'running',
  }));
}

/** While the pipeline ran; for a collector, until it ended or failed. */
function segmentsOf({ place, marks }: TraceRow, states: readonly StateSpan[], axis: Axis): Segment[] {
  const running = states.filter(({ state }) => state === 'running');
  if (place.kind !== 'collect') return running;
  const ends = marks
    .filter(({ kind }) => kind === 'end' || kind === 'error')
    .map(({ at }) => axis.columnOf(at));
  return running.map(({ from, to, isOpen }) => {
    const next = ends.findIndex((end) => end >= from && end <= to);
    const [end] = next < 0 ? [] : ends.splice(next, 1);
    return { from, to: end ?? to, isOpen: isOpen && end === undefined };
  });
}

/**
 * A collector's marks, its end after all that came of it: what the window held back is admitted later than the
 * collector ended, and in a marble row nothing follows the end.
 */
function endsLast({ place, marks }: TraceRow, { states }: Trace): readonly TraceMark[] {
  if (place.kind !== 'collect') return marks;
  const starts = states.filter(({ state }) => state === 'running').map(({ at }) => at);
  const runOf = ({ at }: TraceMark) => starts.findLastIndex((start) => start <= at);
  const isEnd = ({ kind }: TraceMark) => kind === 'end' || kind === 'error';
  const moved = marks.map((mark) => {
    const last = isEnd(mark)
      ? marks.findLast((other) => !isEnd(other) && runOf(other) === runOf(mark))
      : mark;
    return last !== undefined && last.at > mark.at ? { ...mark, at: last.at } : mark;
  });
  return moved.sort((a, b) => a.at - b.at || Number(isEnd(a)) - Number(isEnd(b)));
}
