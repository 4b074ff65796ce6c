import * as z from 'zod';
import { steadyClock } from '../../operators/internal.ts';
import { compileRedactRules } from '../../operators/internal-masks.ts';
import {
  type ConfigProblem,
  configFolder,
  integer,
  isoNow,
  nearest,
  oneCharacter,
  type PipelinePlace,
  type PipelineProblem,
  ProcessConfigBase,
  path,
  seconds,
} from '../../src/sdk/index.ts';
import { Expression, problemOfExpression, refuseLostRule } from '../expressions/mask-rule-schema.ts';
import { allowProblems, fieldProblem, masksNothing, ruleNameProblems } from '../masks/option-problems.ts';
import { type HashAction, keyOf, keysOf } from '../masks/redact-actions.ts';
import { redacting } from '../masks/redact-masking.ts';
import {
  DEFAULT_PACKS,
  type NamedPack,
  nameOfPack,
  packNames,
  packsOf,
  resolvePackRules,
} from '../packs/load-packs.ts';
import { readPacks } from '../packs/outside-packs.ts';
import { RULE_FIELDS } from '../packs/pack-schema.ts';

export const description =
  'Masks secrets and personal data by maintained packs of rules, in all text of an event.';

export const example = `
secrets:
  plugin: redact
  packs: [secrets/context, secrets/providers, secrets/keys]
  allow:
    keys: [trace_id]
  rules:
    TICKET: 'TK-[0-9]{8}'
`;

export const exampleEvents = [
  {
    given: { line: 'ticket TK-40718254 of postgres://app:n0t-4-Secret@db/main' },
    gives: [{ line: 'ticket <:TICKET:> of postgres://app:<:url-password:>@db/main' }],
  },
];

export const shownSettings = { packs: '', rules: '', confidence: '', mode: '' };

export const traits = {
  masks: true,
  pure: true,
  needsOrder: ({ config }: { config: RedactProcessConfig }) => neededOrder(config) !== undefined,
};

const keyEnv = () => z.string().min(1).describe('The environment variable that has the key.');
const hashLength = () =>
  integer().min(8).max(64).default(12).describe('How many hexadecimal digits are shown.');
const Hash = z.union([
  z.strictObject({ key_env: keyEnv(), length: hashLength() }),
  z.strictObject({
    keys: z
      .array(z.strictObject({ key_env: keyEnv() }))
      .min(1)
      .max(16)
      .describe(
        'Several keys, the newest first: it is the one that masks. `millrace hash` also finds events that the others have masked.',
      ),
    length: hashLength(),
  }),
]);

const Action = z.union([
  z.literal('name'),
  z.strictObject({ keep_last: integer().min(1).max(64).describe('How many last characters stay.') }),
  z.strictObject({ mask_char: oneCharacter().describe('Replaces each character of the secret.') }),
  z.strictObject({ hmac: Hash.describe('Replaces the secret by a hash, the same for the same secret.') }),
]);

const OwnRule = z.union([Expression, z.strictObject(RULE_FIELDS)]);

const PACK_NAMES = [...packNames(), 'default', 'all'];
const PackName = z.union([z.enum(PACK_NAMES), z.string().min(1)]);

/** Packs by their names, with the content of those that are files or packages: workers get it with the configuration. */
function withPacks(written: string | readonly string[], ctx: z.RefinementCtx): NamedPack[] {
  const names = [written].flat();
  const expanded = names.flatMap((name, index) => packsOf(name).map((pack) => ({ index, pack })));
  const { packs, problems } = readPacks(
    expanded.map(({ pack }) => pack),
    configFolder(),
  );
  for (const { index, message, suggestion } of problems) {
    const at = expanded[index]?.index ?? 0;
    const path = Array.isArray(written) ? [at] : [];
    const input = names[at];
    if (suggestion === undefined) ctx.issues.push({ code: 'custom', path, input, message });
    else ctx.issues.push({ code: 'invalid_value', path, input, values: PACK_NAMES });
  }
  return [...packs];
}

/** Layers of an encoding: each of them costs a search in all that it decodes to. */
const layers = () => integer().min(0).max(4);

export const RedactProcessConfig = ProcessConfigBase.extend({
  packs: z
    .union([PackName, z.array(PackName)])
    .transform(withPacks)
    .prefault([...DEFAULT_PACKS])
    .describe(
      'Packs of rules; `millrace packs` lists them. `default` stands for the default ones, which find secrets, and `all` for all, which find personal data as well. Packs of your own are paths, such as `./packs/acme.yaml`, or npm packages, both as seen from the folder of the configuration.',
    ),
  disable: z
    .array(z.string())
    .default([])
    .describe('Ids of rules of the packs to leave out; `*` stands for any characters.'),
  confidence: z
    .enum(['high', 'medium', 'low'])
    .default('medium')
    .describe('The least confidence of the rules that are used.'),
  allow: z
    .strictObject({
      values: z
        .array(Expression)
        .default([])
        .describe(
          'Expressions for values that are no secrets, searched anywhere in a value; `^…$` is for whole values.',
        ),
      keys: z
        .array(z.string())
        .default([])
        .describe(
          'Names of keys whose values are no secrets, in any style of writing; `*` stands for any characters.',
        ),
    })
    .default({ values: [], keys: [] })
    .describe('Values that are never masked.'),
  decode: z
    .union([
      z.literal(false),
      z.strictObject({
        json: layers().default(2).describe('Layers of JSON in strings.'),
        percent: z.boolean().default(true).describe('Whether `%40` is read as `@`.'),
        base64: layers().default(2).describe('Layers of Base64.'),
      }),
    ])
    .default({ json: 2, percent: true, base64: 2 })
    .meta({ examples: [{ json: 2, percent: true, base64: 2 }] })
    .describe('Encodings in which secrets are found.'),
  blocks: z
    .union([
      z.literal(false),
      z.strictObject({
        lines: integer().min(1).default(200).describe('The most lines of a block.'),
        timeout: seconds()
          .gt(0)
          .default(5)
          .describe(
            'Seconds without a line after which an open block goes on only with lines that look like a key.',
          ),
      }),
    ])
    .default({ lines: 200, timeout: 5 })
    .meta({ examples: [{ lines: 200, timeout: 5 }] })
    .describe('Blocks of several lines, such as private keys.'),
  entropy: z
    .union([
      z.literal(false),
      z.strictObject({
        threshold: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe('As `h_threshold` of `entropy_mask`. Default: 0.9.'),
        length: integer().gt(1).optional().describe('The least number of characters. Default: 16.'),
        delimiters: z.string().optional().describe('Characters between tokens, besides white space.'),
        trim: z.string().optional().describe('Characters at the ends of tokens that do not count.'),
      }),
    ])
    .optional()
    .meta({ examples: [{ threshold: 0.9 }] })
    .describe('Masks tokens that look random. Default: with `confidence: low` only.'),
  action: z
    .record(z.string(), Action)
    .default({ default: 'name' })
    .describe('The replacement of a secret: by rule, pattern or `default`.'),
  pseudonyms: z
    .union([z.literal('session'), Hash])
    .optional()
    .meta({ examples: ['session', { key_env: 'MASK_KEY' }] })
    .describe(
      'Replaces secrets by pseudonyms such as `<:EMAIL_1:>`, in place of `default`. With `session` they are counted, and hold until the process ends; with a key they have a hash in place of a number, which is the same in every process.',
    ),
  fields: z
    .record(z.string().min(1), z.union([z.enum(['keep', 'drop', 'mask']), Action]))
    .default({})
    .meta({
      examples: [{ 'user.email': { hmac: { key_env: 'MASK_KEY' } }, '*.ssn': 'mask', 'debug.*': 'drop' }],
      alsoCalled: ['keys', 'paths'],
    })
    .describe(
      'What becomes of fields whatever their values are, by their paths in `data`, or by keys at any depth: `keep`, `drop`, `mask`, or an action. `*` stands for any characters.',
    ),
  audit: z
    .strictObject({ path: path().describe('The file that is written.') })
    .optional()
    .describe('Writes a line for each secret that was masked, without the secret.'),
  mode: z
    .enum(['mask', 'report'])
    .default('mask')
    .describe('`report` counts what it would mask, and forwards nothing.'),
  rules: z
    .preprocess(refuseLostRule, z.record(z.string(), OwnRule))
    .default({})
    .describe('Rules of your own, by name.'),
});
export type RedactProcessConfig = Readonly<z.output<typeof RedactProcessConfig>>;

export function get_config_schema(): typeof RedactProcessConfig {
  return RedactProcessConfig;
}

export function checkPipeline({
  name,
  config,
  pipeline,
}: PipelinePlace<RedactProcessConfig>): readonly PipelineProblem[] {
  const need = pipeline.workers > 1 ? neededOrder(config) : undefined;
  if (need === undefined) return [];
  const message =
    `\`${name}\`, a \`redact\` processor, cannot run in a worker with \`${need.field}\`, which ${need.why}; ` +
    `remove \`workers\`, or ${need.instead}`;
  return [{ message }];
}

/** Blocks of lines, and what is written of the lines, need the lines of a file in their order. */
function neededOrder(config: RedactProcessConfig) {
  const why = 'needs all lines of a file in their order';
  if (config.mode === 'report') return { field: 'mode: report', why, instead: 'set `mode: mask`' };
  if (config.audit !== undefined) return { field: 'audit', why, instead: 'remove `audit`' };
  if (config.pseudonyms === 'session')
    return {
      field: 'pseudonyms: session',
      why: 'counts values of all events together',
      instead: 'use pseudonyms with a key, which are the same in every worker',
    };
  if (config.blocks === false) return undefined;
  const cost = 'of a private key whose lines are separate events, only the first line is then masked';
  return { field: 'blocks', why, instead: `set \`blocks: false\`, which has a cost: ${cost}` };
}

export function checkConfig({ config }: { config: RedactProcessConfig }): readonly ConfigProblem[] {
  const { packs, rules, action, pseudonyms } = config;
  const problems = [
    ...ownRuleProblems(config),
    ...namedRuleProblems(config),
    ...allowProblems(config),
    ...fieldProblems(config),
  ];
  const hasFields = Object.values(config.fields).some((action) => action !== 'keep');
  if (!hasFields && Object.keys(rules).length === 0 && Object.keys(resolvePackRules(packs)).length === 0) {
    problems.push({
      path: ['packs'],
      severity: 'warning',
      message: 'there are no rules, so nothing is masked',
    });
  }
  for (const [rule, one] of Object.entries(action)) {
    if (typeof one === 'object' && 'hmac' in one)
      problems.push(...hashProblems(one.hmac, ['action', rule, 'hmac']));
  }
  if (typeof pseudonyms === 'object') problems.push(...hashProblems(pseudonyms, ['pseudonyms']));
  if (pseudonyms !== undefined && (action.default ?? 'name') !== 'name') {
    const message = '`pseudonyms` takes the place of `action.default`; write only one of them';
    problems.push({ path: ['pseudonyms'], message });
  }
  return problems;
}

/** The key that masks must be there. Older ones are needed to find old events only. */
function hashProblems(hash: HashAction, path: readonly string[]): ConfigProblem[] {
  const [first = {}, ...older] = keysOf(hash);
  const at = hash.keys === undefined ? [...path] : [...path, 'keys', 0];
  const problems: ConfigProblem[] = [];
  if (keyOf(first) === undefined) {
    const message = `the environment variable ${first.key_env} is not set; it must have the key of the hash`;
    problems.push({ path: [...at, 'key_env'], message });
  }
  older.forEach(({ key_env }, index) => {
    if (key_env !== first.key_env) return;
    const message = `${key_env} is the first key already, so this has no effect; name the variable of an older key`;
    problems.push({ path: [...path, 'keys', index + 1, 'key_env'], message });
  });
  return problems;
}

function ownRuleProblems({ rules, confidence }: RedactProcessConfig): ConfigProblem[] {
  return Object.entries(rules).flatMap(([name, rule]): ConfigProblem[] => {
    const at = ['rules', name];
    const match = typeof rule === 'string' ? rule : rule.match;
    const problem = problemOfExpression(match, name);
    const path = typeof rule === 'string' ? at : [...at, 'match'];
    const problems = problem === undefined ? [] : [{ ...problem, path }];
    if (typeof rule === 'string') return problems;
    try {
      compileRedactRules(
        { [name]: rule },
        { confidence, allowedKeys: [], allowedValues: [], replace: String },
      );
      return problems;
    } catch (error) {
      return [...problems, { path: at, message: (error as Error).message }];
    }
  });
}

/** Ids and patterns that name no rule. */
function namedRuleProblems({ packs, ...config }: RedactProcessConfig): ConfigProblem[] {
  const ofPacks = Object.keys(resolvePackRules(packs));
  const names = packs.map(nameOfPack);
  const howToList = '`millrace packs NAME` lists the ids of the rules of a pack';
  const problems = ruleNameProblems({ ...config, ofPacks, packs: names, nearest, howToList });
  if (ofPacks.length > 0 && masksNothing({ ...config, ofPacks })) {
    const message =
      'this disables every rule, so nothing would be masked; remove the processor if that is meant';
    problems.push({ path: ['disable'], message });
  }
  return problems;
}

/** Policies that would turn masking off, or that do nothing, and hashes without a key. */
function fieldProblems({ fields }: RedactProcessConfig): ConfigProblem[] {
  return Object.entries(fields).flatMap(([pattern, action]): ConfigProblem[] => {
    const path = ['fields', pattern];
    const problem = fieldProblem(pattern, action);
    if (problem !== undefined) return [{ path, ...problem }];
    return typeof action === 'object' && 'hmac' in action ? hashProblems(action.hmac, [...path, 'hmac']) : [];
  });
}

/** `process` emits the event with every secret in it masked. Fails on what cannot be masked. */
export const { process: redactEvent, mapLines, mapRows } = redacting({ clock: steadyClock, isoNow });
export { redactEvent as process };
