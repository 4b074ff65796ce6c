import { lengthOf } from '../expression/measure.ts';
import { type Pattern, parseExpression, type Repetition } from '../expression/pattern.ts';
import { type UnitSet, WORD } from '../expression/unit-set.ts';

/** One step of the engine's way through an expression; the others it goes on to are numbers of steps. */
type Step =
  | { readonly kind: 'take'; readonly units: UnitSet; readonly then: number }
  | { readonly kind: 'either'; readonly first: number; readonly second: number }
  | { readonly kind: 'boundary'; readonly then: number }
  | { readonly kind: 'match' };

/** An expression in steps, and the one to begin with. */
export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
}

const MATCH = 0;
const MOST_STEPS = 300;
/** An expression can have as many as 2 to the power of its length. */
const MOST_STATES = 128;

/** What comes after the last character of a text. */
const END = 128;

class NotAutomatic extends Error {}

/** An expression as a table for texts in ASCII: from each state, for each kind of character, the next state. */
export interface Automaton {
  /** The kind of each character, and of the end of the text (128). */
  readonly kinds: Uint8Array;
  /** How many kinds there are: the length of a row. */
  readonly width: number;
  /**
   * A row for each state, the first for the one in which nothing can match any more: twice the number of the next
   * state, and one more if a match ends ahead of the character.
   */
  readonly table: readonly number[];
  /** The state to begin with, where the character before is no part of a word, and where it is one. */
  readonly outsideWord: number;
  readonly insideWord: number;
}

/** Works the table out. `undefined` if it had too many states. */
export function automatonOf(program: Program): Automaton | undefined {
  return new Builder(program).build();
}

/**
 * The steps of an expression. `undefined` for one with parts that need the engine: references, look-arounds, `^` and
 * `$`, repetitions of what may be empty; and for a very long one.
 */
export function programOf(expression: RegExp): Program | undefined {
  const parsed = parseExpression(expression);
  if (parsed === undefined) return undefined;
  try {
    const writer = new ProgramWriter();
    return { start: writer.add(parsed.pattern, MATCH), steps: writer.steps };
  } catch (error) {
    if (error instanceof NotAutomatic) return undefined;
    throw error;
  }
}

/** An expression as steps, in the order in which the engine would try them. */
class ProgramWriter {
  readonly steps: Step[] = [{ kind: 'match' }];

  /** @returns the step that a part begins with; `then` is the one after it. */
  add(pattern: Pattern, then: number): number {
    switch (pattern.kind) {
      case 'character':
        return this.#step({ kind: 'take', units: pattern.units, then });
      case 'sequence':
        return pattern.items.reduceRight((next, item) => this.add(item, next), then);
      case 'choice': {
        const branches = pattern.branches.map((branch) => this.add(branch, then));
        return branches.reduceRight((second, first) => this.#step({ kind: 'either', first, second }));
      }
      case 'repetition':
        return this.#repetition(pattern, then);
      case 'edge':
        if (pattern.edge === 'boundary') return this.#step({ kind: 'boundary', then });
        throw new NotAutomatic();
      default:
        throw new NotAutomatic();
    }
  }

  #repetition({ item, min, max, isLazy }: Repetition, then: number): number {
    // The engine has rules of its own for a round of nothing.
    if (lengthOf(item).min === 0) throw new NotAutomatic();
    const choice = (round: number): Step => {
      const [first, second] = isLazy ? [then, round] : [round, then];
      return { kind: 'either', first, second };
    };
    let start = then;
    if (max === Number.POSITIVE_INFINITY) {
      start = this.#step(choice(then));
      this.steps[start] = choice(this.add(item, start));
    } else {
      for (let i = min; i < max; i++) start = this.#step(choice(this.add(item, start)));
    }
    for (let i = 0; i < min; i++) start = this.add(item, start);
    return start;
  }

  #step(step: Step): number {
    if (this.steps.length >= MOST_STEPS) throw new NotAutomatic();
    return this.steps.push(step) - 1;
  }
}

/**
 * All ways through an expression at once, in the order of the engine: a state is the list of steps that it could be at
 * after some characters, the one that it would have tried first ahead of the others.
 */
class Builder {
  readonly #program: Program;
  readonly #knowsWords: boolean;
  readonly #states: { readonly steps: readonly number[]; readonly isInWord: boolean }[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(program: Program) {
    this.#program = program;
    this.#knowsWords = program.steps.some(({ kind }) => kind === 'boundary');
  }

  build(): Automaton | undefined {
    const { steps, start } = this.#program;
    const sets = steps.flatMap((step) => (step.kind === 'take' ? [step.units] : []));
    const { kinds, examples } = kindsOf(this.#knowsWords ? [WORD, ...sets] : sets);
    this.#stateOf([], false);
    const outsideWord = this.#stateOf([start], false);
    const insideWord = this.#stateOf([start], true);
    const table: number[] = [];
    for (let state = 0; state < this.#states.length; state++) {
      if (state >= MOST_STATES) return undefined;
      table.push(...this.#row(state, examples));
    }
    return { kinds, width: examples.length, table, outsideWord, insideWord };
  }

  #row(state: number, units: readonly number[]): number[] {
    const { steps, isInWord } = this.#states[state] as { steps: readonly number[]; isInWord: boolean };
    // Worked out once for all units: it takes the most time.
    const within = this.#reached(steps, false);
    const atBoundary = this.#knowsWords ? this.#reached(steps, true) : within;
    return units.map((unit) => {
      const goesOnInWord = unit !== END && WORD.has(unit);
      return this.#entry(isInWord === goesOnInWord ? within : atBoundary, unit, goesOnInWord);
    });
  }

  #entry(reached: readonly number[], unit: number, goesOnInWord: boolean): number {
    const next = new Set<number>();
    for (const at of reached) {
      const step = this.#program.steps[at] as Step;
      if (step.kind === 'take' && has(step.units, unit)) next.add(step.then);
    }
    return 2 * this.#stateOf([...next], goesOnInWord) + (reached.at(-1) === MATCH ? 1 : 0);
  }

  /** The steps that take a character, in order, up to a match: it comes before all after it. */
  #reached(from: readonly number[], isBoundary: boolean): number[] {
    const seen = new Set<number>();
    const reached: number[] = [];
    const isOver = (at: number): boolean => {
      if (seen.has(at)) return false;
      seen.add(at);
      const step = this.#program.steps[at] as Step;
      if (step.kind === 'either') return isOver(step.first) || isOver(step.second);
      if (step.kind === 'boundary') return isBoundary && isOver(step.then);
      reached.push(at);
      return step.kind === 'match';
    };
    from.some(isOver);
    return reached;
  }

  #stateOf(steps: readonly number[], isInWord: boolean): number {
    const isKnownInWord = isInWord && this.#knowsWords && steps.length > 0;
    const name = `${isKnownInWord} ${steps.join()}`;
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#states.push({ steps, isInWord: isKnownInWord }) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }
}

const has = (units: UnitSet, unit: number): boolean => unit !== END && units.has(unit);

/** Assigns a kind to each unit: units that no set distinguishes have the same kind. */
function kindsOf(sets: readonly UnitSet[]): { kinds: Uint8Array; examples: number[] } {
  const kinds = new Uint8Array(END + 1);
  const examples: number[] = [];
  const numbers = new Map<string, number>();
  const distinct = [...new Set(sets)];
  for (let unit = 0; unit <= END; unit++) {
    const members = unit === END ? 'end' : distinct.map((set) => Number(set.has(unit))).join('');
    let number = numbers.get(members);
    if (number === undefined) {
      number = examples.push(unit) - 1;
      numbers.set(members, number);
    }
    kinds[unit] = number;
  }
  return { kinds, examples };
}
