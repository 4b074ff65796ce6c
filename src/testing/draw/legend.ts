import { counted } from '../../../operators/internal.ts';
import { printable } from '../../sdk/printable.ts';
import type { Trace } from '../trace.ts';
import { type Glyph, groupBy, isMeantDrop, REASON_WORDS } from './cells.ts';
import { changesBetween, changesText, eventText } from './changes.ts';
import { valueText } from './value-text.ts';
import { NO_LETTER, type Variant, type Variants } from './variants.ts';

/** A line below the picture: what a name stands for. */
export interface LegendLine {
  readonly names: readonly string[];
  readonly text: string;
  /** The entry that made the change. */
  readonly stage: string | undefined;
}

export interface Legend {
  readonly lines: readonly LegendLine[];
  /** Events of which the picture does not say what they hold. */
  readonly more: number;
}

const MOST_LINES = 14;
const MOST_NAMES = 6;

/** What the events hold and what the stages made of them; the same change to several events is one line. */
export function legendOf(variants: Variants, drawn: ReadonlySet<string>): Legend {
  const sources = new Set(variants.all.flatMap(({ event }) => event.data.source ?? []));
  const describe = ({ event, before, parts }: Variant) =>
    before === undefined
      ? eventText(event, sources.size > 1)
      : partsText(parts) + changesText(changesBetween(before.event, event));
  const telling = variants.all.filter((variant) => variant.letter !== NO_LETTER && !isPlain(variant));
  const all = [...groupBy(telling, (variant) => `${variant.stage}\n${describe(variant)}`).values()];
  const groups = firstOf(all, (group) => group.some(({ name }) => drawn.has(name)));
  const lines = groups.map((group) => {
    const [first] = group as [Variant];
    const names = group.map(({ name }) => name);
    return {
      names:
        names.length > MOST_NAMES ? [...names.slice(0, MOST_NAMES - 1), '…', names.at(-1) as string] : names,
      text: describe(first),
      stage: first.before === undefined ? undefined : first.stage,
    };
  });
  return {
    lines,
    more: variants.all.filter((variant) => !isPlain(variant)).length - groups.flat().length,
  };
}

/** As many groups as there is room for, in their order: those with a name in the picture come first. */
function firstOf(groups: readonly Variant[][], isDrawn: (group: readonly Variant[]) => boolean): Variant[][] {
  const ranked = [...groups.filter(isDrawn), ...groups.filter((group) => !isDrawn(group))];
  const kept = new Set(ranked.slice(0, MOST_LINES));
  return groups.filter((group) => kept.has(group));
}

/** The events that were joined to one, before what that changed. */
function partsText(parts: readonly string[]): string {
  if (parts.length === 0) return '';
  const named = parts.filter((name) => name !== NO_LETTER).slice(0, MOST_NAMES);
  const more = parts.length - named.length;
  const names = [
    ...named,
    ...(more === 0 ? [] : [counted(more, named.length === 0 ? 'event' : 'more event')]),
  ];
  const last = names.pop();
  return `joined from ${names.length === 0 ? last : `${names.join(', ')} and ${last}`}; `;
}

/** A letter that the test gave no value stands for itself. */
function isPlain({ letter, event, before }: Variant): boolean {
  const { value, ...others } = event.data;
  return before === undefined && value === letter && Object.keys(others).length === 0;
}

/** What the signs in the picture mean: those that it has, each with its sign as the drawing writes it. */
export interface Sign {
  readonly kind: Glyph['kind'];
  /** Of drops: whether the configuration asks for them. */
  readonly isMeant?: boolean;
  readonly meaning: string;
}

export function signsOf({ rows }: Trace): Sign[] {
  const marks = rows.flatMap((row) => row.marks.map((mark) => ({ ...mark, row })));
  const signs: Sign[] = [];
  const add = (kind: Glyph['kind'], meaning: string) => {
    if (marks.some((mark) => mark.kind === kind)) signs.push({ kind, meaning });
  };
  const reasons = [...new Set(marks.flatMap((mark) => (mark.kind === 'drop' ? [mark.reason] : [])))];
  const addDrops = (isMeant: boolean, what: string) => {
    const words = reasons
      .filter((reason) => isMeantDrop(reason) === isMeant)
      .map((reason) => (REASON_WORDS[reason] === reason ? reason : `${REASON_WORDS[reason]}: ${reason}`));
    if (words.length > 0) signs.push({ kind: 'drop', isMeant, meaning: `${what} (${words.join(', ')})` });
  };
  add('retry', 'an attempt failed; the next one after the time below');
  addDrops(false, 'dropped');
  addDrops(true, 'dropped on purpose');
  add('dead_letter', `to the dead letter${deadLetterErrors({ rows })}`);
  add('error', 'the collector failed');
  add('end', 'the collector completed');
  return signs;
}

function deadLetterErrors({ rows }: Pick<Trace, 'rows'>): string {
  const errors = new Set<string>();
  for (const { place, marks } of rows) {
    if (place.kind !== 'dead_letter') continue;
    for (const mark of marks) {
      const error = mark.kind === 'event' ? mark.event.data.error : undefined;
      if (typeof error === 'string') errors.add(valueText(error, 60));
    }
  }
  const [first] = errors;
  if (first === undefined) return '';
  return `: ${printable(first)}${errors.size > 1 ? ` and ${counted(errors.size - 1, 'other error')}` : ''}`;
}
