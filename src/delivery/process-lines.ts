import type { LineMapping } from '../models/index.ts';
import type { LineEvents } from '../models/line-events.ts';
import type { Turn } from './turns.ts';

type OnFailure = (index: number, error: unknown) => void;

/** What came of some of a batch's lines. */
export interface ProcessedLines {
  readonly done: LineEvents;
  /** The index of the first line that is left; the number of lines if none is. */
  readonly next: number;
}

/**
 * Runs a processor over lines without making events of them. Lines that it fails on are left out; `onFailure` is told
 * which.
 */
export function processLines(lines: LineEvents, mapping: LineMapping, onFailure: OnFailure): LineEvents {
  return processLinesFrom(0, lines, mapping, onFailure).done;
}

/** The same from one line on, until the turn is used up: one line at least. Without a turn, to the last line. */
export function processLinesFrom(
  start: number,
  lines: LineEvents,
  { map, addsVerbatim }: LineMapping,
  onFailure: OnFailure,
  turn?: Turn,
): ProcessedLines {
  const { lines: texts, areVerbatim } = lines.texts;
  const done: string[] = [];
  let next = start;
  let isSpent = false;
  while (next < texts.length && !isSpent) {
    const index = next++;
    const text = texts[index] as string;
    let work = text.length;
    try {
      done.push(map(text));
    } catch (error) {
      onFailure(index, error);
      work = Number.POSITIVE_INFINITY;
    }
    isSpent = turn?.isSpent(work) ?? false;
  }
  return { done: lines.with(done, areVerbatim && addsVerbatim), next };
}
