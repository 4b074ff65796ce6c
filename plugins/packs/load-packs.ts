import { DEFAULT_PACKS, readBuiltPack, rememberExpressions, rulesById } from './built-pack.ts';
import { packFiles } from './pack-files.ts';
import type {
  Additions,
  BuiltPack,
  ExpressionRule,
  OutsidePack,
  Pack,
  PackRule,
  WrittenPack,
} from './pack-schema.ts';
import { rulesOfPack } from './rules-of-pack.ts';

export { DEFAULT_PACKS, globToExpression, isDisabled } from './built-pack.ts';
export type { ExpressionRule, OutsidePack, Pack, PackRule };
export type Vocabulary = NonNullable<WrittenPack['vocabulary']>;

/** The name of a pack that comes with millrace, or a pack from a file or a package, as `readPacks` reads it. */
export type NamedPack = string | OutsidePack;

/**
 * The packs that are applied first, in this order. Numbers with groups and check digits precede those of phones, which
 * would take some of their groups.
 */
const FIRST_PACKS: readonly string[] = [
  ...DEFAULT_PACKS,
  'pii/payment',
  'pii/identity',
  'pii/contact',
  'pii/person',
];

/** Rules for values after names are made of the vocabulary of this pack, and of what other packs add to it. */
const VOCABULARY_PACK = 'secrets/context';

/**
 * There is no pack of a name, or two have the same one. It is marked as an error of millrace, but browsers can load it, which have
 * no module for errors.
 */
export class PackError extends Error {
  static {
    Object.defineProperty(PackError.prototype, Symbol.for('millrace.MillraceError'), { value: true });
  }

  readonly code = 'MILLRACE_ARGUMENT';

  constructor(message: string) {
    super(message);
    this.name = 'MillraceError';
  }
}

const loaded = new Map<string, Pack>();

/**
 * The names of the redaction packs that come with millrace.
 *
 * @example
 * packNames().includes('secrets/keys'); // true
 */
export function packNames(): string[] {
  return Object.keys(packFiles());
}

/** Packs of one country, such as `pii/phone-fr`: what they find looks like any other number elsewhere. */
const OF_COUNTRY = /-[a-z]{2}$/;

/** The packs that a name stands for: `default` and `all` are several. Packs of one country have to be named. */
export function packsOf(name: string): readonly string[] {
  if (name === 'default') return DEFAULT_PACKS;
  if (name !== 'all') return [name];
  return [
    ...DEFAULT_PACKS,
    ...packNames().filter((pack) => !DEFAULT_PACKS.includes(pack) && !OF_COUNTRY.test(pack)),
  ];
}

/**
 * A redaction pack by its name: its description, and its rules.
 *
 * @throws PackError if there is no pack of this name.
 * @example
 * Object.keys(loadPack('secrets/keys').rules).length > 0; // true
 */
export function loadPack(name: string): Pack {
  let pack = loaded.get(name);
  if (pack === undefined) {
    const built = writtenPack(name);
    pack = { ...built, rules: rulesOfPack(built) };
    loaded.set(name, pack);
  }
  return pack;
}

function writtenPack(name: string): BuiltPack {
  const files = packFiles();
  const json = Object.hasOwn(files, name) ? files[name] : undefined;
  if (json === undefined) {
    throw new PackError(`there is no pack ${name}; packs: ${Object.keys(files).join(', ')}`);
  }
  return readBuiltPack(name, json);
}

/** The vocabulary of `secrets/context` with what packs add to it. */
export function vocabularyOf(additions: readonly Additions[]): Vocabulary {
  const vocabulary = writtenPack(VOCABULARY_PACK).vocabulary as Vocabulary;
  if (additions.every((added) => Object.keys(added).length === 0)) return vocabulary;
  const { kinds, names, notations, guards, words } = vocabulary;
  return {
    ...vocabulary,
    kinds: Object.assign({ ...kinds }, ...additions.map((added) => added.kinds)),
    names: [...names, ...additions.flatMap((added) => added.names ?? [])],
    notations: [...notations, ...additions.flatMap((added) => added.notations ?? [])],
    guards: [...guards, ...additions.flatMap((added) => added.guards ?? [])],
    words: [...words, ...additions.flatMap((added) => added.words ?? [])],
  };
}

/**
 * Packs by their names. Their rules for values after names know what all of them add to the vocabulary.
 *
 * @throws PackError if there is no pack of one of the names, or two packs have the same name.
 */
export function loadPacks(packs: readonly NamedPack[]): Record<string, Pack> {
  const names = [...new Set(packs)].map(nameOfPack);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new PackError(`two packs are called ${twice}; rename one of them`);
  const additions = packs.flatMap((pack) => (typeof pack === 'string' ? [] : [pack.additions]));
  const vocabulary = vocabularyOf(additions);
  return Object.fromEntries(
    packs.map((named): [string, Pack] => {
      if (typeof named !== 'string') {
        const { name, description, rules, expressions } = named;
        rememberExpressions(rules, expressions);
        return [name, { description, rules: rulesOfPack({ description, rules, vocabulary }) }];
      }
      if (named !== VOCABULARY_PACK || additions.length === 0) return [named, loadPack(named)];
      const pack = { ...writtenPack(named), vocabulary };
      return [named, { ...pack, rules: rulesOfPack(pack) }];
    }),
  );
}

/**
 * The rules of packs by their ids, `pack:rule`, in the order in which they are applied: first those of packs that do not come
 * with millrace. It does not depend on the order of the names.
 *
 * @param packs the default packs of the processor if they are left out.
 * @param disable ids of rules that are left out; `*` stands for any characters.
 * @throws PackError if there is no pack of one of the names.
 */
export function resolvePackRules(
  packs: readonly NamedPack[] = DEFAULT_PACKS,
  disable: readonly string[] = [],
): Record<string, PackRule> {
  const loaded = loadPacks(packs);
  const isOutside = (pack: NamedPack) => Number(typeof pack !== 'string');
  const inOrder = packs
    .toSorted((a, b) => isOutside(b) - isOutside(a) || byPrecedence(nameOfPack(a), nameOfPack(b)))
    .map(nameOfPack);
  return rulesById(
    inOrder.map((name) => [name, loaded[name] as Pack]),
    disable,
  );
}

export const nameOfPack = (pack: NamedPack): string => (typeof pack === 'string' ? pack : pack.name);

function byPrecedence(a: string, b: string): number {
  const [first, second] = [a, b].map((name) => FIRST_PACKS.indexOf(name) >>> 0) as [number, number];
  return first - second || (a < b ? -1 : Number(a > b));
}
