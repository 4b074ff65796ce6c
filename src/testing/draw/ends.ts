import type { Trace, TraceMark, TraceRow } from '../trace.ts';

/**
 * A collector's marks, its end after all that came of it: what the window held back is admitted later than the
 * collector ended, and in a marble row nothing follows the end.
 */
export function endsLast({ place, marks }: TraceRow, { states }: Trace): readonly TraceMark[] {
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
