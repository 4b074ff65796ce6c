import { counted } from '../../../operators/internal.ts';
import type { DropReason } from '../../sdk/status.ts';
import type { TraceMark, TraceRow } from '../trace.ts';
import type { Axis } from './columns.ts';
import { gapText } from './value-text.ts';
import { NO_LETTER, type Variants } from './variants.ts';

/**
 * The items by their keys, in the order of first appearance (`Map.groupBy` needs Node 21).
 *
 * @example
 * groupBy([1, 2, 3], (n) => n % 2); // new Map([[1, [1, 3]], [0, [2]]])
 */
export function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** One mark to draw; or many of a kind, collapsed. */
export interface Glyph {
  readonly kind: TraceMark['kind'];
  /** The event's name, or the number of the attempt; a range if there are many. */
  readonly text: string;
  /** The letter whose colour it has. */
  readonly letter: string;
  readonly isChanged: boolean;
  /** Of a drop: whether the configuration asks for it. */
  readonly isMeant?: boolean;
  readonly count: number;
}

/** What happened at a stage in a column. */
export interface Cell {
  readonly glyphs: readonly Glyph[];
  /** The wait before a retry, the reason of a drop, how many calls delivered a batch. */
  readonly note: string | undefined;
}

/** More marks of a kind than this in one cell are collapsed. */
const MOST_STACKED = 4;

/** Drop reasons in a word or two, to stand in the picture. */
export const REASON_WORDS: Readonly<Record<DropReason | 'given_up', string>> = {
  filtered: 'filtered',
  collector_failed: 'failed',
  processor_failed: 'failed',
  forwarder_failed: 'gave up',
  no_route: 'no route',
  route_failed: 'route failed',
  buffer_full: 'full',
  given_up: 'given up',
};

/** Drops that a configuration asks for, by a condition. */
export const isMeantDrop = (reason: DropReason | 'given_up') =>
  reason === 'filtered' || reason === 'no_route';

/** The cells of a row, by column. */
export function cellsOf({ place, marks }: TraceRow, axis: Axis, variants: Variants): Map<number, Cell> {
  const byColumn = groupBy(marks, ({ at }) => axis.columnOf(at));
  const name = place.kind === 'dead_letter' ? deadLetterGlyph : eventGlyph;
  return new Map(
    [...byColumn].map(([column, inColumn]) => {
      const byKind = groupBy(inColumn, ({ kind }) => kind);
      const glyphs = [...byKind.values()].flatMap((ofKind) =>
        stacked(ofKind.map((mark) => name(mark, variants))),
      );
      return [column, { glyphs, note: noteOf(inColumn) }];
    }),
  );
}

function eventGlyph(mark: TraceMark, variants: Variants): Glyph {
  const { kind } = mark;
  if (kind === 'retry') return { kind, text: String(mark.attempt), letter: '', isChanged: false, count: 1 };
  if (kind === 'error' || kind === 'end') return { kind, text: '', letter: '', isChanged: false, count: 1 };
  const variant = variants.of(mark.letter, mark.event);
  const { letter } = mark;
  const glyph = {
    kind,
    text: variant?.name ?? letter,
    letter,
    isChanged: variant?.before !== undefined,
    count: 1,
  };
  return kind === 'drop' ? { ...glyph, isMeant: isMeantDrop(mark.reason) } : glyph;
}

/** An entry of the dead letter is named as the event that it holds. */
function deadLetterGlyph(mark: TraceMark, variants: Variants): Glyph {
  const held = mark.kind === 'event' ? mark.event.data.event : undefined;
  const isHeld = typeof held === 'object' && held !== null && 'data' in held;
  return eventGlyph(isHeld ? ({ ...mark, event: held } as TraceMark) : mark, variants);
}

function stacked(glyphs: readonly Glyph[]): readonly Glyph[] {
  const [first] = glyphs as [Glyph];
  const last = glyphs.at(-1) as Glyph;
  if (glyphs.length <= (first.kind === 'retry' ? 1 : MOST_STACKED)) return glyphs;
  const end = last.letter === NO_LETTER ? '' : last.text;
  const text = first.text === last.text ? first.text : `${first.text}…${end}`;
  return [
    {
      ...first,
      text,
      isChanged: glyphs.some(({ isChanged }) => isChanged),
      count: glyphs.length,
      ...(first.kind === 'drop' ? { isMeant: glyphs.every(({ isMeant }) => isMeant) } : {}),
    },
  ];
}

function noteOf(marks: readonly TraceMark[]): string | undefined {
  const waits = marks.flatMap((mark) => (mark.kind === 'retry' ? [mark.wait] : []));
  const ends = [...new Set([Math.min(...waits), Math.max(...waits)].map(gapText))];
  const reasons = marks.flatMap((mark) => (mark.kind === 'drop' ? [REASON_WORDS[mark.reason]] : []));
  const words = [...(waits.length === 0 ? [] : [ends.join('…')]), ...new Set(reasons), ...callsOf(marks)];
  return words.length === 0 ? undefined : words.join(', ');
}

/** In how many calls a forwarder delivered events, if one of them delivered several. */
function callsOf(marks: readonly TraceMark[]): string[] {
  const delivered = marks.flatMap((mark) => (mark.kind === 'event' ? [mark.batch] : []));
  const batches = new Set(delivered.filter((batch) => batch !== undefined));
  if (batches.size === 0) return [];
  const calls = batches.size + delivered.filter((batch) => batch === undefined).length;
  return [counted(calls, 'call')];
}
