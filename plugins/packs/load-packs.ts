import { knownExpressions } from '../../operators/internal-masks.ts';
import { MillraceError } from '../../src/sdk/index.ts';
import { packFiles } from './pack-files.ts';
import type { BuiltPack, ExpressionRule, Pack, PackRule } from './pack-schema.ts';
import { rulesOfPack } from './rules-of-pack.ts';

export type { ExpressionRule, Pack, PackRule };

/** The packs that `redact` applies unless others are named. */
export const DEFAULT_PACKS: readonly string[] = ['secrets/context', 'secrets/providers', 'secrets/keys'];

/**
 * The packs that are applied first, in this order. Numbers with groups and check digits precede those of phones, which
 * would take some of their groups.
 */
const FIRST_PACKS: readonly string[] = [...DEFAULT_PACKS, 'pii/payment', 'pii/identity'];

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
 * @throws RangeError if there is no pack of this name.
 * @example
 * Object.keys(loadPack('secrets/keys').rules).length > 0; // true
 */
export function loadPack(name: string): Pack {
  let pack = loaded.get(name);
  if (pack === undefined) {
    const files = packFiles();
    const json = Object.hasOwn(files, name) ? files[name] : undefined;
    if (json === undefined) {
      throw new MillraceError(
        'MILLRACE_ARGUMENT',
        `there is no pack ${name}; packs: ${Object.keys(files).join(', ')}`,
      );
    }
    const { expressions = {}, ...written } = JSON.parse(json) as BuiltPack;
    for (const [rule, { degree, factor, character, part }] of Object.entries(expressions)) {
      const cost = { degree, factor, ambiguity: undefined };
      knownExpressions.set((written.rules[rule] as ExpressionRule).match, { cost, character, part });
    }
    pack = { ...written, rules: rulesOfPack(written) };
    loaded.set(name, pack);
  }
  return pack;
}

/**
 * The rules of packs by their ids, `pack:rule`, for the operator `redact`, in the order in which they are applied. It does not
 * depend on the order of the names.
 *
 * @param names the default packs of the processor if they are left out.
 * @param disable ids of rules that are left out; `*` stands for any characters.
 * @throws MillraceError `MILLRACE_ARGUMENT` if there is no pack of one of the names.
 * @example
 * Object.keys(packRules(['secrets/keys'], ['secrets/keys:*'])); // []
 */
export function packRules(
  names: readonly string[] = DEFAULT_PACKS,
  disable: readonly string[] = [],
): Record<string, PackRule> {
  if (!Array.isArray(names)) {
    throw new MillraceError(
      'MILLRACE_ARGUMENT',
      "packRules: expected a list of packs, such as ['secrets/keys']",
    );
  }
  return Object.fromEntries(
    names.toSorted(byPrecedence).flatMap((name) =>
      Object.entries(loadPack(name).rules)
        .map(([rule, value]) => [`${name}:${rule}`, value] as const)
        .filter(([id]) => !isDisabled(id, disable)),
    ),
  );
}

function byPrecedence(a: string, b: string): number {
  const [first, second] = [a, b].map((name) => FIRST_PACKS.indexOf(name) >>> 0) as [number, number];
  return first - second || (a < b ? -1 : Number(a > b));
}

/** Whether one of the patterns names a rule. `*` stands for any characters. */
export function isDisabled(id: string, disable: readonly string[]): boolean {
  return disable.some((pattern) => globToExpression(pattern).test(id));
}

/** An expression for the rule ids that a pattern names. */
export function globToExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
