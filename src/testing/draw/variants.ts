import { inspect } from 'node:util';
import type { CollectedEvent } from '../../sdk/events.ts';
import { printable } from '../../sdk/printable.ts';
import type { Trace, TraceMark, TraceRow } from '../trace.ts';
import { distance } from './changes.ts';

/** What an event looked like after some stage: `a` as it came in, `a′` after it was changed. */
export interface Variant {
  readonly name: string;
  readonly letter: string;
  /** Several events may go by one letter: their number. */
  readonly origin: number;
  readonly event: CollectedEvent;
  /** The entry that made it so. */
  readonly stage: string;
  /** What it was made from; undefined as it came in. */
  readonly before: Variant | undefined;
  /** The names of the events that were joined to it. */
  readonly parts: readonly string[];
}

/** The letter of all events for which there was none left. */
export const NO_LETTER = '·';

/**
 * Names what becomes of events on their way, so that a change is seen: the same data has the same name at every
 * stage, in every run. Timestamps make no difference.
 */
export class Variants {
  readonly #byLetter = new Map<string, Map<string, Variant>>();

  constructor({ rows }: Trace) {
    for (const row of rows) {
      if (row.place.kind === 'dead_letter') continue;
      for (const mark of row.marks) if ('event' in mark) this.#add(mark, row);
    }
  }

  /** All of them, in the order of their letters' first appearance. */
  get all(): Variant[] {
    return [...this.#byLetter.values()].flatMap((variants) => [...variants.values()]);
  }

  of(letter: string, event: CollectedEvent): Variant | undefined {
    return this.#byLetter.get(letter)?.get(keyOf(event));
  }

  #add(mark: Extract<TraceMark, { event: unknown }>, { place }: TraceRow): void {
    const { letter, event } = mark;
    const known = this.#byLetter.get(letter) ?? new Map<string, Variant>();
    this.#byLetter.set(letter, known);
    const key = keyOf(event);
    if (known.has(key)) return;
    if (letter === NO_LETTER) {
      // Which of the many events of this letter it was is not known: only whether it is new.
      const [first] = place.kind === 'collect' ? [] : known.values();
      known.set(key, { name: letter, letter, origin: 0, event, stage: place.name, before: first, parts: [] });
      return;
    }
    const others = [...known.values()];
    const before = place.kind === 'collect' ? undefined : nearest(others, event, place.name);
    const kin = others.filter(({ origin }) => origin === before?.origin).length;
    const origin = before?.origin ?? others.filter((other) => other.before === undefined).length;
    const name = printable(letter) + subscript(origin) + primes(kin);
    const joined = mark.kind === 'event' ? (mark.parts ?? []) : [];
    const parts = joined.map((part) => this.of(part.letter, part.event)?.name ?? part.letter);
    known.set(key, { name, letter, origin, event, stage: place.name, before, parts });
  }
}

const keyOf = ({ timestamp, ...event }: CollectedEvent): string =>
  inspect(event, { depth: null, sorted: true, maxArrayLength: null, maxStringLength: null });

/** What came into the stage and differs least, the latest of several. */
function nearest(known: readonly Variant[], event: CollectedEvent, stage: string): Variant | undefined {
  const variants = known.filter((variant) => variant.stage !== stage || variant.before === undefined);
  const distances = variants.map((variant) => distance(variant.event, event));
  return variants[distances.lastIndexOf(Math.min(...distances))];
}

function subscript(origin: number): string {
  return origin === 0 ? '' : digits(origin + 1, '₀₁₂₃₄₅₆₇₈₉');
}

function primes(count: number): string {
  return ['', '′', '″', '‴'][count] ?? digits(count, '⁰¹²³⁴⁵⁶⁷⁸⁹');
}

const digits = (number: number, shapes: string) =>
  [...String(number)].map((digit) => shapes[Number(digit)]).join('');
