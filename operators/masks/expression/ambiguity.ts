import type { Components, Positions } from './position-automaton.ts';
import type { UnitSet } from './unit-set.ts';

/** Why backtracking over an expression can take time that doubles with each character. */
export interface Ambiguity {
  /** The repetition at fault, as it is written. */
  readonly part: string;
  /** A text that it can take in more than one way, if one was found. */
  readonly text: string | undefined;
}

const MOST_PAIRS = 100_000;

/**
 * A repetition that can take one text in more than one way and be where it was: then the ways multiply with each
 * round. Where there is none, the number of ways is bounded by a power of the length. (An automaton is
 * exponentially ambiguous if and only if some state leads back to itself by one word on two paths.)
 *
 * @param endsAnywhere whether the engine is content wherever the expression may end: no condition can undo that.
 * A repetition that may end after each of its characters then never makes it go back.
 */
export function findAmbiguity(
  positions: Positions,
  components: Components,
  endsAnywhere: boolean,
): Ambiguity | undefined {
  if (positions.unclear !== undefined) return { part: positions.unclear, text: undefined };
  const last = new Set(positions.last);
  for (let loop = 0; loop < components.loops.length; loop++) {
    if (endsAnywhere && !positions.endsLater && components.loops[loop]?.every((member) => last.has(member)))
      continue;
    const found = ambiguityOfLoop(positions, components, loop);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Two paths over one text, side by side, and the pair before them. */
interface Pair {
  readonly one: number;
  readonly other: number;
  readonly before: Pair | undefined;
}

function ambiguityOfLoop(
  positions: Positions,
  { loops, loopOf }: Components,
  loop: number,
): Ambiguity | undefined {
  const { units, next, around } = positions;
  const members = loops[loop] as readonly number[];
  const part = around[members[0] as number] ?? '';
  const inside = members.map((member) => (next[member] ?? []).filter((to) => loopOf[to] === loop));
  const insideOf = new Map(members.map((member, i) => [member, inside[i] as number[]]));
  const seen = new Set<number>();
  const queue: Pair[] = [];
  const add = (one: number, other: number, before: Pair | undefined) => {
    const key = Math.min(one, other) * units.length + Math.max(one, other);
    if (one !== other && seen.has(key)) return;
    if (!(units[one] as UnitSet).intersects(units[other] as UnitSet)) return;
    seen.add(key);
    queue.push({ one, other, before });
  };
  for (const successors of inside) {
    successors.forEach((one, i) => {
      for (const other of successors.slice(i + 1)) add(one, other, undefined);
    });
  }
  for (let i = 0; i < queue.length; i++) {
    const pair = queue[i] as Pair;
    if (pair.one === pair.other) return { part, text: textOf(pair, units) };
    if (queue.length > MOST_PAIRS) return { part, text: undefined };
    for (const one of insideOf.get(pair.one) ?? []) {
      for (const other of insideOf.get(pair.other) ?? []) add(one, other, pair);
    }
  }
  return undefined;
}

const READABLE = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ -_./:=@,;';

function textOf(pair: Pair, units: readonly UnitSet[]): string {
  let text = '';
  for (let at: Pair | undefined = pair; at !== undefined; at = at.before) {
    text = example((units[at.one] as UnitSet).intersection(units[at.other] as UnitSet)) + text;
  }
  return text;
}

function example(units: UnitSet): string {
  for (const character of READABLE) if (units.has(character.charCodeAt(0))) return character;
  return units.members(0x10000)?.[0] ?? '';
}
