import * as z from 'zod';
import { CHECKS } from '../../operators/masks/checks/index.ts';
import { compileRedactRules } from '../../operators/masks/redact/compile-redact-rules.ts';
import { steadyClock } from '../../operators/support/steady-clock.ts';
import {
  type ConfigProblem,
  integer,
  isoNow,
  nearest,
  oneCharacter,
  ProcessConfigBase,
  path,
} from '../../src/sdk/index.ts';
import { Expression, problemOfExpression, refuseLostRule } from '../mask-expressions.ts';
import { redacting, rulesOf, SECRET_FIELD } from '../masks/redact.ts';
import { DEFAULT_PACKS, globToExpression, packNames } from '../packs/load-packs.ts';
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

/** This plugin removes secrets. */
export const masks = true;

export const runsInWorkers = true;

const Action = z.union([
  z.literal('name'),
  z.strictObject({ keep_last: integer().min(1).max(64).describe('How many last characters stay.') }),
  z.strictObject({ mask_char: oneCharacter().describe('Replaces each character of the secret.') }),
  z.strictObject({
    hmac: z
      .strictObject({
        key_env: z.string().min(1).describe('The environment variable that has the key.'),
        length: integer().min(8).max(64).default(12).describe('How many hexadecimal digits are shown.'),
      })
      .describe('Replaces the secret by a hash, the same for the same secret.'),
  }),
]);

const OwnRule = z.union([Expression, z.strictObject(RULE_FIELDS)]);

/** Layers of an encoding: each of them costs a search in all that it decodes to. */
const layers = () => integer().min(0).max(4);

export const RedactProcessConfig = ProcessConfigBase.extend({
  packs: z
    .array(z.enum(packNames()))
    .default([...DEFAULT_PACKS])
    .describe('Packs of rules; `millrace packs` lists them.'),
  disable: z
    .array(z.string())
    .default([])
    .describe('Names of rules that are not used; `*` stands for any characters.'),
  confidence: z
    .enum(['high', 'medium', 'low'])
    .default('medium')
    .describe('The least confidence of the rules that are used.'),
  allow: z
    .strictObject({
      values: z.array(Expression).default([]).describe('Expressions for values that are no secrets.'),
      keys: z.array(z.string()).default([]).describe('Names of fields whose values are no secrets.'),
    })
    .default({ values: [], keys: [] })
    .describe('What is never masked.'),
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
    .describe('Encodings in which secrets are found.'),
  blocks: z
    .union([
      z.literal(false),
      z.strictObject({
        lines: integer().min(1).default(200).describe('The most lines of a block.'),
        timeout: z.number().gt(0).default(5).describe('Seconds after which an open block ends.'),
      }),
    ])
    .default({ lines: 200, timeout: 5 })
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
    .describe('Masks tokens that look random. Default: with `confidence: low` only.'),
  action: z
    .record(z.string(), Action)
    .default({ default: 'name' })
    .describe('What replaces a secret: by rule, pattern or `default`.'),
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

/** Blocks of lines, and what is written of the lines, need the lines of a file in their order. */
export function needsOrder({ config }: { config: RedactProcessConfig }): string | undefined {
  if (config.mode === 'report') return 'mode: report';
  if (config.audit !== undefined) return 'audit';
  return config.blocks === false ? undefined : 'blocks';
}

export function checkConfig({ config }: { config: RedactProcessConfig }): readonly ConfigProblem[] {
  const { packs, rules, action } = config;
  const problems = [...ownRuleProblems(config), ...namedRuleProblems(config)];
  if (packs.length === 0 && Object.keys(rules).length === 0) {
    problems.push({
      path: ['packs'],
      severity: 'warning',
      message: 'there are no rules, so nothing is masked',
    });
  }
  for (const [rule, one] of Object.entries(action)) {
    if (typeof one !== 'object' || !('hmac' in one)) continue;
    const key = one.hmac.key_env;
    const value = process.env[key];
    if (value !== undefined && value !== '') continue;
    const message = `the environment variable ${key} is not set; hmac requires a secret key in it`;
    problems.push({ path: ['action', rule, 'hmac', 'key_env'], message });
  }
  return problems;
}

function ownRuleProblems({ rules, confidence }: RedactProcessConfig): ConfigProblem[] {
  return Object.entries(rules).flatMap(([name, rule]): ConfigProblem[] => {
    const at = ['rules', name];
    const match = typeof rule === 'string' ? rule : rule.match;
    const problem = problemOfExpression(match, name);
    if (problem !== undefined)
      return [{ ...problem, path: typeof rule === 'string' ? at : [...at, 'match'] }];
    if (typeof rule === 'string') return [];
    const { check } = rule;
    const checkName = typeof check === 'string' ? check : check && 'name' in check ? check.name : undefined;
    if (checkName !== undefined && !Object.hasOwn(CHECKS, checkName)) {
      const known = Object.keys(CHECKS);
      const suggestion = nearest(checkName, known);
      const message = `there is no check ${checkName}; checks: ${known.join(', ')}`;
      return [{ path: [...at, 'check'], message, ...(suggestion !== undefined && { suggestion }) }];
    }
    try {
      compileRedactRules(
        { [name]: rule },
        { confidence, allowedKeys: [], allowedValues: [], replace: String },
      );
      return [];
    } catch (error) {
      return [{ path: at, message: (error as Error).message }];
    }
  });
}

/** Ids and patterns that name no rule: one that is misspelt masks what it should not, or in another way. */
function namedRuleProblems(config: RedactProcessConfig): ConfigProblem[] {
  const ids = [...Object.keys(rulesOf({ ...config, disable: [] })), SECRET_FIELD];
  const named = [
    ...config.disable.map((pattern, index) => ({ pattern, path: ['disable', index] })),
    ...Object.keys(config.action)
      .filter((pattern) => pattern !== 'default')
      .map((pattern) => ({ pattern, path: ['action', pattern] })),
  ];
  return named.flatMap(({ pattern, path }): ConfigProblem[] => {
    if (ids.some((id) => globToExpression(pattern).test(id))) return [];
    const suggestion = nearest(pattern, ids);
    const message = `no rule of the packs and rules here is named ${pattern}, so this has no effect`;
    return [{ path, severity: 'warning', message, ...(suggestion !== undefined && { suggestion }) }];
  });
}

/** `process` emits the event with every secret in it masked. Fails on what cannot be masked. */
export const { process: redactEvent, mapLines } = redacting({ clock: steadyClock, isoNow });
export { redactEvent as process };
