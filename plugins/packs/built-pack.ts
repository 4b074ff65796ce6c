import { knownExpressions } from '../../operators/internal-masks.ts';
import type { BuiltPack, ExpressionRule, Pack, PackRule } from './pack-schema.ts';

/** The packs that `redact` applies unless others are named. */
export const DEFAULT_PACKS: readonly string[] = ['secrets/context', 'secrets/providers', 'secrets/keys'];

/** A pack as the build has written it. What is known of its expressions need not be worked out again. */
export function readBuiltPack(name: string, json: string): BuiltPack {
  let pack = read.get(name);
  if (pack === undefined) {
    const { expressions, ...written } = JSON.parse(json) as BuiltPack;
    rememberExpressions(written.rules, expressions);
    pack = written;
    read.set(name, pack);
  }
  return pack;
}

const read = new Map<string, BuiltPack>();

export function rememberExpressions(
  rules: BuiltPack['rules'],
  expressions: BuiltPack['expressions'] | undefined = {},
): void {
  for (const [rule, { degree, factor, character, part }] of Object.entries(expressions)) {
    const cost = { degree, factor, ambiguity: undefined };
    knownExpressions.set((rules[rule] as ExpressionRule).match, { cost, character, part });
  }
}

/** The rules of packs by their ids, `pack:rule`, without those that patterns disable. */
export const rulesById = (
  packs: readonly (readonly [name: string, pack: Pick<Pack, 'rules'>])[],
  disable: readonly string[],
): Record<string, PackRule> =>
  Object.fromEntries(
    packs.flatMap(([name, { rules }]) =>
      Object.entries(rules)
        .map(([rule, value]) => [`${name}:${rule}`, value] as const)
        .filter(([id]) => !isDisabled(id, disable)),
    ),
  );

/** Whether one of the patterns names a rule. `*` stands for any characters. */
export function isDisabled(id: string, disable: readonly string[]): boolean {
  return disable.some((pattern) => globToExpression(pattern).test(id));
}

/** An expression for the rule ids that a pattern names. */
export function globToExpression(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
