import { printable } from '../../sdk/printable.ts';
import type { Trace, TraceRow } from '../trace.ts';
import { type Cell, cellsOf } from './cells.ts';
import { axisOf, type Column } from './columns.ts';
import { endsLast } from './ends.ts';
import { type Legend, legendOf, type Sign, signsOf } from './legend.ts';
import type { Panel } from './panels.ts';
import { type Segment, type StateSpan, segmentsOf, statesOf } from './segments.ts';
import { settingsTexts } from './settings.ts';
import { timeText } from './time-text.ts';
import { Variants } from './variants.ts';

/** A stage: its operator, and what left it. */
export interface LayoutRow {
  readonly kind: TraceRow['place']['kind'];
  readonly name: string;
  readonly plugin: string;
  readonly settings: readonly string[];
  /** By column. */
  readonly cells: ReadonlyMap<number, Cell>;
  readonly segments: readonly Segment[];
}

/** A run, ready to be drawn as text or as SVG: every stage on one common axis of time. */
export interface Layout {
  readonly pipeline: string;
  /** How the run ended, and its counts. */
  readonly summary: string;
  readonly columns: readonly Column[];
  readonly states: readonly StateSpan[];
  readonly rows: readonly LayoutRow[];
  readonly legend: Legend;
  readonly signs: readonly Sign[];
}

/** Lays a run out. All text in it is printable. */
export function layoutOf(traced: Trace): Layout {
  const trace = { ...traced, rows: traced.rows.map((row) => ({ ...row, marks: endsLast(row, traced) })) };
  const axis = axisOf(trace);
  const states = statesOf(trace, axis);
  const variants = new Variants(trace);
  const rows = trace.rows.map((row) => ({
    kind: row.place.kind,
    name: printable(row.place.name),
    plugin: printable(row.plugin),
    settings: settingsTexts(row.settings),
    cells: cellsOf(row, axis, variants),
    segments: segmentsOf(row, states, axis),
  }));
  return {
    pipeline: printable(trace.pipeline),
    summary: summaryOf(trace),
    columns: axis.columns,
    states,
    rows,
    legend: legendOf(variants, drawnNames(rows)),
    signs: signsOf(trace),
  };
}

function drawnNames(rows: readonly LayoutRow[]): Set<string> {
  const cells = rows.flatMap((row) => [...row.cells.values()]);
  return new Set(cells.flatMap(({ glyphs }) => glyphs.map(({ text }) => text)));
}

/** The stages to draw in a panel; settings are shown once, and a collector or forwarder at rest is not shown. */
export function rowsIn({ rows }: Layout, panel: Panel): LayoutRow[] {
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
