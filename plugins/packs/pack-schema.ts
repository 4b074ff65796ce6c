import * as z from 'zod';
import type { KeyedRule, Vocabulary } from '../../operators/index.ts';
import { CHECKS } from '../../operators/internal-masks.ts';
import { Expression } from '../expressions/mask-rule-schema.ts';
import {
  CallsSchema,
  CommandsSchema,
  Example,
  numbered,
  ofCalls,
  ofCommands,
  TABLES,
  Words,
} from './command-tables.ts';

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

const WHAT_A_RULE_SAYS = {
  description: z.string().min(1),
  confidence: z.enum(['high', 'medium', 'low']),
  /** Where the facts come from: a vendor's page, or a project with its commit. */
  source: z.string().min(1),
  /** Templates that the tests generate values from. */
  tests: z.strictObject({ matches: z.array(z.string()).min(1), misses: z.array(z.string()) }),
};

/** A rule with an expression. */
export const ExpressionRuleSchema = z.strictObject({
  ...RULE_FIELDS,
  ...WHAT_A_RULE_SAYS,
  value: z.enum(['literal', 'word', 'beside', 'below', 'items', 'groups']).optional(),
  block: z
    .strictObject({
      contains: z.string().regex(/^[\x20-\x7e]{4,}$/, 'at least 4 ASCII characters'),
      start: Expression,
      end: Expression,
    })
    .optional(),
  after: z.strictObject({ line: Expression, lines: z.int().min(1).max(100) }).optional(),
});

/** A rule for values after names: kinds of names, and notations. */
export const KeyedRuleSchema = z.strictObject({
  ...WHAT_A_RULE_SAYS,
  kinds: z.array(z.string()).min(1),
  notations: z.union([z.array(z.string()).min(1), z.literal('all')]),
  /** What stands in every text with one of the notations. */
  needs: Expression.optional(),
  /** Strings that are rarer than the names, of which a text must have one. */
  keywords: z.array(z.string()).min(1).optional(),
});

const KindsSchema = z.record(z.string(), z.record(z.string(), z.string()));

const NameSchema = z.strictObject({
  name: z.string().min(2),
  kind: z.string(),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, 'a language such as de')
    .optional(),
  start: z.enum(['word', 'alone']).optional(),
  after: Words.optional(),
  only_after: Words.optional(),
  not_after: Words.optional(),
  except: Words.optional(),
  only: Words.optional(),
  opens: Words.optional(),
  next: z.array(z.string().min(1)).optional(),
  /** Keys that have this name, and keys that do not. */
  keys: Words,
  not: Words,
});

const NotationSchema = z.strictObject({
  notation: z.string(),
  form: z.string().regex(/(?:KEY|NAME).*VALUE/s, 'a form with KEY or NAME, and VALUE'),
  starts: z.string().optional(),
  startsAfterSpace: z.string().optional(),
  ends: z.string().optional(),
  arguments: Words.optional(),
  exact: z.enum(['arguments', 'all']).optional(),
  guard: z.string().optional(),
  kinds: Words.optional(),
  /** With `KEY` and `VALUE`, which the tests fill in. */
  example: Example,
  miss: Example,
});

const GuardSchema = z.strictObject({
  guard: z.string(),
  form: z.string().regex(/VALUE/, 'a form with VALUE').optional(),
  value: z.string().optional(),
  kinds: Words.optional(),
  notations: Words.optional(),
  /** A line in which nothing is masked, and one in which something is. */
  example: Example,
  miss: Example,
});

/** The names, notations and guards that rules for values after names are made of: see `Vocabulary`. */
export const VocabularySchema = z.strictObject({
  kinds: KindsSchema,
  readers: KindsSchema.optional(),
  names: z
    .array(
      // Names of commands and functions have one way to be written.
      NameSchema.refine(
        ({ name, only }) => only !== undefined || !(name.includes(' ') && name.includes('-')),
        {
          message: 'a name has spaces or hyphens between its words, not both',
          path: ['name'],
        },
      ).refine(({ name, only }) => only !== undefined || !/^[^ -][ -]/.test(name), {
        message: 'the first of several words needs at least two characters, by which names are found',
        path: ['name'],
      }),
    )
    .min(1),
  suffixes: Words,
  marks: z.string().min(1),
  notations: z.array(NotationSchema).min(1),
  words: Words,
  guards: z.array(GuardSchema),
});

/** What a pack from outside can add to the vocabulary of `secrets/context`. */
export const AdditionsSchema = z.strictObject({
  kinds: KindsSchema.optional(),
  names: z.array(NameSchema).optional(),
  notations: z.array(NotationSchema).optional(),
  guards: z.array(GuardSchema).optional(),
  words: Words.optional(),
});
export type Additions = Readonly<z.output<typeof AdditionsSchema>>;

export const RuleName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, 'a name such as github-token');

/**
 * A pack file: `plugins/packs/<group>/<name>.yaml`, which may name further files of the folder `<name>`. Expressions that
 * share a part refer to it as `{{name}}`; `parts` says what it stands for, and may refer to parts before it. `{{words}}` are
 * the words of the vocabulary, and `{{told_words}}` those with signs after them, as at the end of a sentence.
 */
export const PackSchema = z.preprocess(
  expandParts,
  z.strictObject({
    description: z.string().min(1),
    vocabulary: VocabularySchema.optional(),
    rules: z.record(RuleName, z.union([ExpressionRuleSchema, KeyedRuleSchema])),
  }),
);

/** A pack without `parts`, which has its expressions in full. What is no pack is left to the schema. */
function expandParts(file: unknown): unknown {
  if (typeof file !== 'object' || file === null || !('parts' in file)) return file;
  const { parts, ...rest } = file as {
    parts: Record<string, string>;
    vocabulary?: Record<string, unknown> & { words?: string[]; names: unknown[]; notations: unknown[] };
  };
  if (rest.vocabulary !== undefined) {
    const { calls = [], ...others } = rest.vocabulary;
    const made: { readonly names: readonly object[]; readonly notations: readonly object[] }[] = [
      ...Object.entries(TABLES).map(([table, kind]) =>
        numbered(ofCommands(CommandsSchema.parse(others[table] ?? []), kind), kind),
      ),
      numbered(ofCalls(CallsSchema.parse(calls)), 'call'),
    ];
    for (const table of Object.keys(TABLES)) delete others[table];
    rest.vocabulary = {
      ...others,
      names: [...others.names, ...made.flatMap((one) => one.names)],
      notations: [...others.notations, ...made.flatMap((one) => one.notations)],
    };
  }
  return expandStrings(rest, partsExpander(parts, rest.vocabulary?.words));
}

/** A reference to a part. */
export const PART = /\{\{([a-z_0-9]+)\}\}/g;
const LONGEST_EXPANDED = 20_000;

/**
 * What stands for `{{name}}` is a part, which may refer to parts before it. `{{words}}` are the words of a vocabulary, and
 * `{{told_words}}` those with signs after them, as at the end of a sentence.
 *
 * @param most the most characters of all strings together
 * @throws RangeError for more characters, with a sentence that says so
 */
export function partsExpander(
  parts: Readonly<Record<string, string>>,
  words?: readonly string[],
  most = Number.POSITIVE_INFINITY,
): (text: string) => string {
  const known = new Map<string, string>();
  let total = 0;
  const expand = (text: string) => {
    let length = text.length;
    const expanded = text.replace(PART, (reference, name: string) => {
      const part = known.get(name) ?? reference;
      length += part.length;
      // Parts of parts can double with each of them.
      if (length > LONGEST_EXPANDED)
        throw new RangeError(`an expression has more than ${LONGEST_EXPANDED} characters`);
      return part;
    });
    total += expanded.length;
    if (total > most) throw new RangeError(`the pack has more than ${most} characters in all`);
    return expanded;
  };
  for (const [name, part] of Object.entries(parts)) known.set(name, expand(part));
  if (words !== undefined) {
    const all = `(?i)^(?:${words.map((word) => word.replace(/[.]/g, '\\.')).join('|')})`;
    known.set('words', `${all}$`);
    known.set('told_words', `${all}[^A-Za-z0-9]{0,4}[a-z]{0,2}$`);
  }
  return expand;
}

/** A value with all of its strings expanded, except templates of tests. */
export function expandStrings(value: unknown, expand: (text: string) => string): unknown {
  if (typeof value === 'string') return expand(value);
  if (Array.isArray(value)) return value.map((item) => expandStrings(item, expand));
  if (typeof value !== 'object' || value === null) return value;
  // Templates of tests have braces of their own.
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      key === 'tests' ? field : expandStrings(field, expand),
    ]),
  );
}

type WrittenRule = Readonly<z.output<typeof ExpressionRuleSchema> | z.output<typeof KeyedRuleSchema>>;
/** What a rule of a pack says of itself. */
type AboutRule = Readonly<Pick<WrittenRule, 'description' | 'confidence' | 'source' | 'tests'>>;
/** A rule of a pack: what a rule needs, with what its readers and tests need. */
export type PackRule = AboutRule & (ExpressionRule | KeyedRule);
export type ExpressionRule = Readonly<z.output<typeof ExpressionRuleSchema>>;
/** A redaction pack as data. */
export interface Pack {
  readonly description: string;
  readonly vocabulary?: Vocabulary | undefined;
  readonly rules: Readonly<Record<string, PackRule>>;
}

/** A pack as it is written, without parts. */
export type WrittenPack = Readonly<z.output<typeof PackSchema>>;

/** A pack as the build writes it, with what is known of the expressions of its rules: see `KnownExpression`. */
export interface BuiltPack extends WrittenPack {
  readonly expressions?: Readonly<Record<string, BuiltExpression>>;
}

/** A pack from a file or a package. It is plain data, which workers get with their configuration. */
export interface OutsidePack extends Omit<BuiltPack, 'vocabulary'> {
  /** What the ids of its rules start with. */
  readonly name: string;
  readonly additions: Additions;
}

export interface BuiltExpression {
  readonly degree: number;
  readonly factor: number;
  readonly character?: string | undefined;
  readonly part?: { readonly source: string; readonly flags: string } | undefined;
}
