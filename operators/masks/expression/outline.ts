import { shareOf } from './frequency.ts';
import { lengthOf, unitsIn } from './measure.ts';
import { type Pattern, parseExpression, type Repetition } from './pattern.ts';
import { UnitSet } from './unit-set.ts';

/** A character of an outline. */
export interface Step {
  readonly units: UnitSet;
  /** Whether it may be absent. */
  readonly isOptional: boolean;
  /** Whether it may stand there several times. */
  readonly repeats: boolean;
}

/** What characters stand side by side in matches, or in front of them. */
export type Outline = readonly Step[];

/** An outline that is being drawn. */
interface Draft {
  readonly steps: Outline;
  /** Whether nothing is known of what follows. */
  readonly isDone: boolean;
}

const LF = UnitSet.of('\n');
/** Steps of an outline, and outlines of an expression. */
const MOST_STEPS = 40;
const MOST_OUTLINES = 8;
/** More optional characters are taken for any number of them. */
const MOST_OPTIONAL = 4;
/** A choice between short texts is taken for as many of their characters in any order. */
const SHORT = 3;
/** Of a choice between longer texts, the characters up to here are enough. */
const LONG = 5;
/** How much more often the characters of all of them may stand side by side than the texts themselves. */
const MOST_UNITED = 4;
/** How often an outline may be at a character of a log: others say too little. */
const MOST_SHARE = 5e-3;

/**
 * Outlines of which every line has one that an expression matches: `[^0-9] [0-9] [0-9] .` of `(?:^|[^0-9])\d\d\.`, for
 * example. A line is taken to stand after an LF. Undefined if there are none that are rare.
 */
export function outlinesOf(expression: RegExp): readonly Outline[] | undefined {
  const rarest = waysToOutline(expression).sort((a, b) => shareOfAll(a) - shareOfAll(b))[0];
  return rarest !== undefined && shareOfAll(rarest) <= MOST_SHARE ? rarest : undefined;
}

/** Outlines of what an expression matches, and of what its look-aheads ask for. An empty one says nothing. */
export function waysToOutline(expression: RegExp): (readonly Outline[])[] {
  const pattern = parseExpression(expression)?.pattern;
  if (pattern === undefined) return [];
  return [true, false].map((looksAhead) => new Drawing(looksAhead).outlinesOf(pattern));
}

const shareOfAll = (outlines: readonly Outline[]): number =>
  outlines.reduce((sum, outline) => sum + shareOfOutline(outline), 0);

const shareOfOutline = (outline: Outline): number =>
  outline.reduce((share, { units, isOptional }) => (isOptional ? share : share * shareOf(units)), 1);

const EMPTY: Draft = { steps: [], isDone: false };
const one = (units: UnitSet): Step => ({ units, isOptional: false, repeats: false });
const maybe = (units: UnitSet): Step => ({ units, isOptional: true, repeats: false });
const any = (units: UnitSet): Step => ({ units, isOptional: true, repeats: true });
const times = (step: Step, count: number): readonly Step[] => Array.from({ length: count }, () => step);

class Drawing {
  readonly #looksAhead: boolean;

  /** @param looksAhead whether what a look-ahead asks for is drawn, in place of what follows it */
  constructor(looksAhead: boolean) {
    this.#looksAhead = looksAhead;
  }

  outlinesOf(pattern: Pattern): readonly Outline[] {
    return this.#extended([EMPTY], pattern, true).map(({ steps }) => trimmed(steps));
  }

  /** @param isStart whether nothing stands in front of the pattern */
  #extended(drafts: readonly Draft[], pattern: Pattern, isStart: boolean): readonly Draft[] {
    switch (pattern.kind) {
      case 'character':
        return withSteps(drafts, [one(pattern.units)]);
      case 'sequence': {
        let extended = drafts;
        for (const item of pattern.items) {
          const isFirst = isStart && extended.every(({ steps }) => steps.length === 0);
          extended = this.#extended(extended, item, isFirst);
        }
        return extended;
      }
      case 'edge':
        return isStart && pattern.edge === 'start' ? withSteps(drafts, [one(LF)]) : drafts;
      case 'look': {
        if (pattern.behind || pattern.negative || !this.#looksAhead) return drafts;
        return this.#extended(drafts, pattern.inside, false).map(done);
      }
      case 'repetition':
        return this.#repeated(drafts, pattern, isStart);
      case 'choice':
        return this.#chosen(drafts, pattern.branches, isStart);
      default:
        return withSteps(drafts, [any(UnitSet.all)]);
    }
  }

  #repeated(drafts: readonly Draft[], { item, min, max }: Repetition, isStart: boolean): readonly Draft[] {
    if (max === 0) return drafts;
    const units = unitsIn(item);
    if (item.kind === 'character') {
      const more = max - min > MOST_OPTIONAL ? [any(units)] : times(maybe(units), max - min);
      if (min > MOST_STEPS) return withSteps(drafts, times(one(units), MOST_STEPS)).map(done);
      return withSteps(drafts, [...times(one(units), min), ...more]);
    }
    if (min === 0 || lengthOf(item).max === 0) return withSteps(drafts, [any(units)]);
    // The last ones stand in front of what follows.
    let extended = max > min ? withSteps(drafts, [any(units)]) : drafts;
    for (let i = 0; i < min && extended.some(({ isDone }) => !isDone); i++)
      extended = this.#extended(extended, item, isStart && i === 0 && max === min);
    return extended;
  }

  #chosen(drafts: readonly Draft[], branches: readonly Pattern[], isStart: boolean): readonly Draft[] {
    const choice: Pattern = { kind: 'choice', branches };
    const length = lengthOf(choice);
    if (length.max <= SHORT) {
      if (!isStart) return this.#approximated(drafts, choice);
      const plain = new Drawing(false);
      const ends = branches.map((branch) =>
        plain.#extended([EMPTY], branch, true).map(({ steps }) => steps.at(-1)),
      );
      const lasts = ends.flat();
      if (lasts.some((last) => last === undefined || last.isOptional)) return drafts;
      const units = lasts.reduce((all, last) => all.union((last as Step).units), UnitSet.none);
      return withSteps(drafts, [one(units)]);
    }
    const variants = branches.flatMap((branch) => this.#extended([EMPTY], branch, isStart));
    const known = Math.min(...variants.map(({ steps }) => fixedLength(steps)));
    const united = Array.from({ length: known }, (_, i) =>
      one(variants.reduce((all, { steps }) => all.union((steps[i] as Step).units), UnitSet.none)),
    );
    const share = shareOfAll(variants.map(({ steps }) => steps));
    if (known >= LONG && shareOfOutline(united) <= MOST_UNITED * share) {
      const isWhole = variants.every(({ steps, isDone }) => steps.length === known && !isDone);
      const extended = withSteps(drafts, united);
      return isWhole ? extended : extended.map(done);
    }
    if (drafts.length * variants.length > MOST_OUTLINES) return this.#approximated(drafts, choice);
    return drafts.flatMap((draft) =>
      draft.isDone
        ? [draft]
        : variants.map(({ steps, isDone }) => {
            const [extended] = withSteps([draft], steps) as [Draft];
            return isDone ? done(extended) : extended;
          }),
    );
  }

  /** As many of its characters, in any order. */
  #approximated(drafts: readonly Draft[], pattern: Pattern): readonly Draft[] {
    const units = unitsIn(pattern);
    const { min, max } = lengthOf(pattern);
    if (min > MOST_STEPS) return withSteps(drafts, times(one(units), MOST_STEPS)).map(done);
    const more = max - min > MOST_OPTIONAL ? [any(units)] : times(maybe(units), max - min);
    return withSteps(drafts, [...times(one(units), min), ...more]);
  }
}

const done = ({ steps }: Draft): Draft => ({ steps, isDone: true });

function withSteps(drafts: readonly Draft[], more: readonly Step[]): readonly Draft[] {
  return drafts.map((draft) => {
    if (draft.isDone) return draft;
    const steps = [...draft.steps, ...more];
    return steps.length < MOST_STEPS
      ? { steps, isDone: false }
      : done({ steps: steps.slice(0, MOST_STEPS), isDone: true });
  });
}

/** How many characters are known to stand at the start. */
function fixedLength(steps: Outline): number {
  const length = steps.findIndex(({ isOptional }) => isOptional);
  return length === -1 ? steps.length : length;
}

/** Without what may be absent at both ends. One character says nothing: it may be the LF in front of the line. */
function trimmed(steps: Outline): Outline {
  const first = steps.findIndex(({ isOptional }) => !isOptional);
  const last = steps.findLastIndex(({ isOptional }) => !isOptional);
  return last - first < 1 ? [] : steps.slice(first, last + 1);
}
