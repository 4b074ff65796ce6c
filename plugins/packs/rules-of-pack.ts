import type { PackRule, WrittenPack } from './pack-schema.ts';

/** The rules of a pack, those for values after names with the vocabulary of the pack. */
export function rulesOfPack({ rules, vocabulary }: WrittenPack): Record<string, PackRule> {
  const keyed = Object.values(rules).filter((rule) => 'kinds' in rule);
  /** The notations in which no other rule looks for names of the same kinds. */
  const othersFor = (kinds: readonly string[]) =>
    vocabulary?.notations
      .map(({ notation }) => notation)
      .filter(
        (one) =>
          !keyed.some(
            (rule) => rule.notations.includes(one) && rule.kinds.some((kind) => kinds.includes(kind)),
          ),
      ) ?? [];
  return Object.fromEntries(
    Object.entries(rules).map(([name, rule]): [string, PackRule] => {
      if (!('kinds' in rule)) return [name, rule];
      if (vocabulary === undefined) throw new Error(`the rule ${name} has no vocabulary`);
      const notations = rule.notations === 'all' ? othersFor(rule.kinds) : rule.notations;
      return [name, { ...rule, vocabulary, notations }];
    }),
  );
}
