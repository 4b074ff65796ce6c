import * as z from 'zod';
import { CHECKS } from '../../operators/internal-masks.ts';
import { Expression } from '../expressions/mask-rule-schema.ts';

/** The modes of a check: see `RuleCheck`. */
const Mode = z.enum(['require', 'raise', 'off']).describe('What a failed check means.');

const CheckName = z
  .string()
  .min(1)
  .check((ctx) => {
    if (Object.hasOwn(CHECKS, ctx.value)) return;
    ctx.issues.push({ code: 'invalid_value', input: ctx.value, values: Object.keys(CHECKS), continue: true });
  });

/** The fields that a rule of a pack and a rule of a configuration share. */
export const RULE_FIELDS = {
  match: Expression.describe('The expression whose matches are masked.'),
  mask: z
    .union([z.int().min(0), z.array(z.int().min(1)).min(1)])
    .optional()
    .describe('The groups that are masked. Default: 0, the whole match.'),
  keywords: z
    .array(z.string().regex(/^[^\n]+$/, 'a string of one line'))
    .min(1)
    .optional()
    .describe('Strings of which a text must have one, in any case.'),
  check: z
    .union([
      CheckName,
      z.strictObject({ name: CheckName.describe('The name of a check.'), mode: Mode.optional() }),
      z.strictObject({
        entropy: z.number().gt(0).describe('The least entropy, in bits per character.'),
        mode: Mode.optional(),
      }),
    ])
    .optional()
    .describe('A check that a match must pass, such as a checksum.'),
  allow: z.array(Expression).min(1).optional().describe('Expressions for matches that are no secrets.'),
  confidence: z
    .enum(['high', 'medium', 'low'])
    .optional()
    .describe('How sure it is that a match is a secret.'),
};

const PackRuleSchema = z.strictObject({
  ...RULE_FIELDS,
  description: z.string().min(1),
  confidence: z.enum(['high', 'medium', 'low']),
  value: z.enum(['literal', 'beside', 'below', 'items', 'groups']).optional(),
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

/** A pack as the build writes it, with what is known of the expressions of its rules: see `KnownExpression`. */
export interface BuiltPack extends Pack {
  readonly expressions?: Readonly<Record<string, BuiltExpression>>;
}

interface BuiltExpression {
  readonly degree: number;
  readonly factor: number;
  readonly part?: { readonly source: string; readonly flags: string };
}
