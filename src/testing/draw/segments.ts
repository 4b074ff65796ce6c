import type { Trace, TraceRow } from '../trace.ts';
import type { Axis } from './columns.ts';

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
export function statesOf({ states }: Trace, { columns, columnOf }: Axis): StateSpan[] {
  const starts = [...new Map(states.map(({ at, state }) => [columnOf(at), state]))];
  return starts.map(([from, state], i) => ({
    from,
    state,
    to: starts[i + 1]?.[0] ?? columns.length - 1,
    isOpen: i === starts.length - 1 && state === 'running',
  }));
}

/** While the pipeline ran; for a collector, until it ended or failed. */
export function segmentsOf({ place, marks }: TraceRow, states: readonly StateSpan[], axis: Axis): Segment[] {
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
