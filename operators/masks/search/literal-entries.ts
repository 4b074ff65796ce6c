import type { Literal } from '../bytes/literal-tables.ts';
import { shareOfText } from '../expression/frequency.ts';
import { type BoundedKeyword, type Keyword, mayStartWord, textOf } from './keyword.ts';

/** A literal, and the rules that it is one of. */
export interface Entry extends Literal {
  readonly rules: readonly number[];
  readonly followedBy: Followers | undefined;
  readonly startsWord: boolean | 'alone';
  /** How far before it a name may start; undefined for a literal of something else. */
  readonly back: number | undefined;
}

/** Literals with the same conditions are one entry. */
export function entriesOf(literalsOf: readonly (readonly Keyword[] | undefined)[]): readonly Entry[] {
  const entries = new Map<string, { readonly keyword: Keyword; readonly rules: number[] }>();
  const followers = new KnownFollowers();
  literalsOf.forEach((literals, rule) => {
    for (const keyword of literals ?? []) {
      const { followedBy, startsWord, back } =
        typeof keyword === 'string' ? ({} as Partial<BoundedKeyword>) : keyword;
      const key = `${startsWord} ${back} ${followers.of(followedBy)?.number} ${textOf(keyword)}`;
      const known = entries.get(key);
      if (known === undefined) entries.set(key, { keyword, rules: [rule] });
      else if (known.rules.at(-1) !== rule) known.rules.push(rule);
    }
  });
  return [...entries.values()].map(({ keyword, rules }) => {
    const literal = textOf(keyword);
    const bounds = typeof keyword === 'string' ? undefined : keyword;
    const followedBy = followers.of(bounds?.followedBy);
    return {
      literal,
      offset: rarestPart(literal),
      rules,
      followedBy,
      followers: followedBy?.bytes,
      startsWord: bounds?.startsWord ?? false,
      back: bounds?.back,
    };
  });
}

/** One object for the same texts. Many keywords have the same array of them. */
class KnownFollowers {
  readonly #byArray = new Map<readonly string[], Followers>();
  readonly #byTexts = new Map<string, Followers>();

  of(texts: readonly string[] | undefined): Followers | undefined {
    if (texts === undefined) return undefined;
    let followers = this.#byArray.get(texts);
    if (followers === undefined) {
      const all = JSON.stringify(texts);
      followers = this.#byTexts.get(all) ?? new Followers(texts, this.#byTexts.size);
      this.#byTexts.set(all, followers);
      this.#byArray.set(texts, followers);
    }
    return followers;
  }
}

/** Texts that may follow a literal, by their first characters. */
class Followers {
  /** A bit for each byte that one of them begins with, in either case. */
  readonly bytes = new Uint8Array(32);
  readonly #byFirst: (readonly string[] | undefined)[] = [];

  readonly number: number;

  constructor(texts: readonly string[], number: number) {
    this.number = number;
    for (const text of texts) {
      const first = text.charCodeAt(0);
      this.#byFirst[first] = [...(this.#byFirst[first] ?? []), text];
      for (const unit of [first, upper(first)])
        if (unit < 256) this.bytes[unit >> 3] = (this.bytes[unit >> 3] as number) | (1 << (unit & 7));
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

const lower = (unit: number): number => (unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);
export const upper = (unit: number): number => (unit >= 0x61 && unit <= 0x7a ? unit - 0x20 : unit);

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
  if (literal.length <= length) return 0;
  const shares: number[] = [];
  for (let i = 0; i < literal.length - 2; i++) shares.push(shareOfThree(literal.slice(i, i + 3)));
  let rarest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset + length <= literal.length; offset++) {
    let share = Number.POSITIVE_INFINITY;
    for (let i = offset; i < offset + length - 2; i++) share = Math.min(share, shares[i] as number);
    if (share < least) {
      least = share;
      rarest = offset;
    }
  }
  return rarest;
}

/** Literals have many parts in common. */
const SHARES = /* @__PURE__ */ new Map<string, number>();

function shareOfThree(part: string): number {
  let share = SHARES.get(part);
  if (share === undefined) {
    share = COMMON_PARTS.has(part) ? COMMON_SHARE : shareOfText(part);
    SHARES.set(part, share);
  }
  return share;
}

/** Whether the index can find a literal, which is in lower case: in strings and in bytes it looks the same. */
export function isIndexed(keyword: Keyword): boolean {
  const literal = textOf(keyword);
  return literal.length === 1
    ? /[!-/:-@[-`{-~]/.test(literal)
    : literal.length > 1 && !literal.includes('\n');
}
