import { lengthOf } from './measure.ts';
import type { Pattern } from './pattern.ts';

/** Texts of which a pattern takes exactly one. */
export interface Exact {
  readonly texts: readonly string[];
  readonly lowered: boolean;
}

export const NOTHING: Exact = { texts: [''], lowered: false };

/** The texts that a pattern takes, if they are few. */
export function exactTexts(pattern: Pattern, most: number): Exact | undefined {
  switch (pattern.kind) {
    case 'character':
      return pattern.mayBeTwo ? undefined : textsOf(pattern.units.members(2 * most), most);
    case 'sequence':
      return pattern.items.reduce<Exact | undefined>((all, item) => {
        const exact = lengthOf(item).max === 0 ? NOTHING : exactTexts(item, most);
        return all && exact && product(all, exact, most);
      }, NOTHING);
    case 'choice': {
      const all = pattern.branches.map((branch) => exactTexts(branch, most));
      if (all.some((one) => one === undefined)) return undefined;
      return sum(all as Exact[], most);
    }
    case 'repetition': {
      const { min, max } = pattern;
      if (max > 64) return undefined;
      const exact = exactTexts(pattern.item, most);
      if (exact === undefined) return undefined;
      let all: Exact | undefined = power(exact, min, most);
      for (let times = min + 1; times <= max; times++) {
        const longer = power(exact, times, most);
        all = all && longer && sum([all, longer], most);
      }
      return all;
    }
    default:
      return undefined;
  }
}

/** Both cases of a letter are one text in lower case. */
function textsOf(members: readonly string[] | undefined, most: number): Exact | undefined {
  if (members === undefined || members.length === 0) return undefined;
  const folded = [...new Set(members.map((member) => member.toLowerCase()))];
  const lowered = folded.length < members.length && members.every(isAscii);
  const texts = lowered ? folded : members;
  return texts.length <= most ? { texts, lowered } : undefined;
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

function power(exact: Exact, times: number, most: number): Exact | undefined {
  let all: Exact | undefined = NOTHING;
  for (let i = 0; i < times; i++) all = all && product(all, exact, most);
  return all;
}

/** Each text of one, and behind it each of the other. */
export function product(a: Exact, b: Exact, most: number): Exact | undefined {
  return sum(
    a.texts.map((before) => ({
      texts: b.texts.map((after) => before + after),
      lowered: a.lowered || b.lowered,
    })),
    most,
  );
}

function sum(all: readonly Exact[], most: number): Exact | undefined {
  const lowered = all.some((one) => one.lowered);
  let texts = all.flatMap((one) => one.texts);
  if (lowered) {
    // What lower case makes of other letters can depend on their neighbours.
    if (!texts.every(isAscii)) return undefined;
    texts = texts.map((text) => text.toLowerCase());
  }
  texts = [...new Set(texts)];
  return texts.length <= most ? { texts, lowered } : undefined;
}
