import * as z from 'zod';
import { Expression } from '../mask-expressions.ts';

/** The modes of a check: see `RuleCheck`. */
const Mode = z.enum(['require', 'raise', 'off']);

/** The fields that a rule of a pack and a rule of a configuration share. */
export const RULE_FIELDS = {
  match: Expression,
  mask: z.union([z.int().min(0), z.array(z.int().min(1)).min(1)]).optional(),
  keywords: z
    .array(z.string().regex(/^[\x20-\x7e]+$/, 'a string of ASCII characters'))
    .min(1)
    .optional(),
  check: z
    .union([
      z.string().min(1),
      z.strictObject({ name: z.string().min(1), mode: Mode.optional() }),
      z.strictObject({ entropy: z.number().gt(0), mode: Mode.optional() }),
    ])
    .optional(),
  allow: z.array(Expression).min(1).optional(),
  confidence: z.enum(['high', 'medium', 'low']).optional(),
};

const PackRuleSchema = z.strictObject({
  ...RULE_FIELDS,
  description: z.string().min(1),
  confidence: z.enum(['high', 'medium', 'low']),
  block: z
    .strictObject({
      contains: z.string().regex(/^[\x20-\x7e]{4,}$/, 'at least 4 ASCII characters'),
      start: Expression,
      end: Expression,
    })
    .optional(),
  /** Where the facts come from: a vendor's page, or a project with its commit. */
  source: z.string().min(1),
  /** Templates that the tests generate values from. */
  tests: z.strictObject({ matches: z.array(z.string()).min(1), misses: z.array(z.string()) }),
});

/**
 * A pack file: `plugins/packs/<group>/<name>.yaml`. Rules that share a part of their expressions refer to it as
 * `{{name}}`; `parts` says what it stands for, and may refer to parts before it.
 */
export const PackSchema = z.preprocess(
  expandParts,
  z.strictObject({
    description: z.string().min(1),
    rules: z.record(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'a name such as github-token'),
      PackRuleSchema,
    ),
  }),
);

/** A pack without `parts`, whose rules have their expressions in full. What is no pack is left to the schema. */
function expandParts(file: unknown): unknown {
  if (typeof file !== 'object' || file === null || !('parts' in file) || !('rules' in file)) return file;
  const { parts, rules, ...rest } = file as { parts: Record<string, string>; rules: Record<string, object> };
  const known = new Map<string, string>();
  const expand = (expression: string) =>
    expression.replace(/\{\{([a-z_0-9]+)\}\}/g, (reference, name: string) => known.get(name) ?? reference);
  for (const [name, part] of Object.entries(parts)) known.set(name, expand(part));
  const expandRule = (rule: object) => ({
    ...rule,
    ...('match' in rule && typeof rule.match === 'string' ? { match: expand(rule.match) } : {}),
    ...('allow' in rule && Array.isArray(rule.allow)
      ? { allow: rule.allow.map((allowed) => (typeof allowed === 'string' ? expand(allowed) : allowed)) }
      : {}),
  });
  return {
    ...rest,
    rules: Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, expandRule(rule)])),
  };
}

/** A rule of a pack: what a rule needs, with what its readers and tests need. */
export type PackRule = Readonly<z.output<typeof PackRuleSchema>>;
/** A redaction pack as data. */
export type Pack = Readonly<z.output<typeof PackSchema>>;
