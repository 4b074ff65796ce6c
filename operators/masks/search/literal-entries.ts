import { shareOfText } from '../expression/frequency.ts';
import { type BoundedKeyword, type Keyword, mayStartWord, textOf } from './keyword.ts';

/** A literal, and where in it the characters are that it is found by. */
export interface Entry {
  readonly literal: string;
  readonly offset: number;
  readonly rules: readonly number[];
  readonly followedBy: Followers | undefined;
  readonly startsWord: boolean | 'alone';
  /** How far before it a name may start; undefined for a literal of something else. */
  readonly back: number | undefined;
}

/** Literals with the same conditions are one entry. */
export function entriesOf(literalsOf: readonly (readonly Keyword[] | undefined)[]): readonly Entry[] {
  const entries = new Map<string, { readonly keyword: Keyword; readonly rules: number[] }>();
  literalsOf.forEach((literals, rule) => {
    for (const keyword of literals ?? []) {
      const { followedBy, startsWord, back } =
        typeof keyword === 'string' ? ({} as Partial<BoundedKeyword>) : keyword;
      const key = JSON.stringify([textOf(keyword), followedBy, startsWord, back]);
      const known = entries.get(key);
      if (known === undefined) entries.set(key, { keyword, rules: [rule] });
      else if (known.rules.at(-1) !== rule) known.rules.push(rule);
    }
  });
  return [...entries.values()].map(({ keyword, rules }) => {
    const literal = textOf(keyword);
    const bounds = typeof keyword === 'string' ? undefined : keyword;
    return {
      literal,
      offset: rarestPart(literal),
      rules,
      followedBy: bounds?.followedBy === undefined ? undefined : new Followers(bounds.followedBy),
      startsWord: bounds?.startsWord ?? false,
      back: bounds?.back,
    };
  });
}

/** Texts that may follow a literal, by their first characters. */
class Followers {
  readonly #byFirst: (readonly string[] | undefined)[] = [];

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const first = text.charCodeAt(0);
      this.#byFirst[first] = [...(this.#byFirst[first] ?? []), text];
    }
  }

  areAt(at: (index: number) => number, place: number): boolean {
    const texts = this.#byFirst[lower(at(place))];
    return texts?.some((text) => isAt(text, place, at)) === true;
  }
}

/** Whether what stands around a literal is as its keyword wants it. */
export function hasEdges(
  { literal, followedBy, startsWord }: Entry,
  start: number,
  at: (index: number) => number,
  givenAt: ((index: number) => number) | undefined,
): boolean {
  if (followedBy?.areAt(at, start + literal.length) === false) return false;
  return !startsWord || givenAt === undefined || mayStartWord(givenAt, start, startsWord);
}

export function isAt(literal: string, start: number, at: (index: number) => number): boolean {
  for (let i = 0; i < literal.length; i++) {
    if (lower(at(start + i)) !== literal.charCodeAt(i)) return false;
  }
  return true;
}

export const lower = (unit: number): number => (unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);

/** More common than their letters are, because of `http`, `user`, names of fields, and English. */
const COMMON_PARTS = new Set(
  (
    'htt ttp tps use ser com duc _id er_ log tim vel ogl gle ing the ion tio sio con ver age val ent her thi you ati ' +
    'lik eck equ ess res req que est ill ink ide par mat ope abl mod app err add map nam ect rea ste con pro all ' +
    'erv rvi vic ice age sse ssi ive ava jav nod tem der ord nge ang ach ete ist sta tus nam pat exe thr ead lic ica'
  ).split(' '),
);
const COMMON_SHARE = 0.01;

/** Where the characters are that it is found by: six, four or as many as there are, those that occur least in logs. */
function rarestPart(literal: string): number {
  const length = literal.length >= 6 ? 6 : 4;
  let rarest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset + length <= literal.length; offset++) {
    const threes = Array.from({ length: length - 2 }, (_, i) => literal.slice(offset + i, offset + i + 3));
    const share = Math.min(...threes.map(shareOfThree));
    if (share < least) {
      least = share;
      rarest = offset;
    }
  }
  return rarest;
}

const shareOfThree = (part: string): number => (COMMON_PARTS.has(part) ? COMMON_SHARE : shareOfText(part));

/** Whether the index can find a literal, which is in lower case: in strings and in bytes it looks the same. */
export function isIndexed(keyword: Keyword): boolean {
  const literal = textOf(keyword);
  return literal.length === 1
    ? /[!-/:-@[-`{-~]/.test(literal)
    : literal.length > 1 && !literal.includes('\n');
}
