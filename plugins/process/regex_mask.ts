import * as z from 'zod';
import { compileExpression } from '../../operators/index.ts';
import { mayTake } from '../../operators/internal-masks.ts';
import {
  type ConfigProblem,
  oneCharacter,
  type PipelinePlace,
  type PipelineProblem,
  ProcessConfigBase,
} from '../../src/sdk/index.ts';
import { Expression, problemOfExpression, refuseLostRule } from '../expressions/mask-rule-schema.ts';
import { brokenPairs, overlookedNumbers } from '../masks/around-parse.ts';
import { regexMasking } from '../masks/regex-masking.ts';

export const description = 'Masks what matches regular expressions, in all text of an event.';

export const example = `
mask-known-secrets:
  plugin: regex_mask
  rules:
    EMAIL: '[\\w.%+-]+@[\\w.-]+\\.[A-Za-z]{2,}'
    TOKEN: '(?i)bearer [a-z0-9._-]+'
`;

export const exampleEvents = [
  {
    given: { line: 'login ada@example.org', header: 'Bearer abc.def' },
    gives: [{ line: 'login <:EMAIL:>', header: '<:TOKEN:>' }],
  },
];

export const shownSettings = { rules: '', mask_char: '' };

export const traits = { masks: 'strings', pure: true };

const NO_RULES = 'there are none, so nothing is masked';

const Rules = z.record(z.string(), Expression);

/** docs/specification.md#28-process-plugins */
export const RegexMaskProcessConfig = ProcessConfigBase.extend({
  rules: z
    .preprocess(refuseLostRule, Rules)
    .describe('A regular expression for each rule, by name; they are applied in order.'),
  mask_char: oneCharacter()
    .optional()
    .describe('A character that replaces each character of a match. Default: the name of the rule.'),
  mask_prefix: z.string().default('<:').describe('The string before the name.'),
  mask_suffix: z.string().default(':>').describe('The string after the name.'),
});
export type RegexMaskProcessConfig = Readonly<z.output<typeof RegexMaskProcessConfig>>;

export function get_config_schema(): typeof RegexMaskProcessConfig {
  return RegexMaskProcessConfig;
}

/** Finds a mask and rules that mask nothing. */
export function checkConfig({ config }: { config: RegexMaskProcessConfig }): readonly ConfigProblem[] {
  const rules = Object.entries(config.rules);
  if (rules.length === 0) return [{ path: ['rules'], severity: 'warning', message: NO_RULES }];
  return rules.flatMap(([name, source]) => {
    const problem = problemOfExpression(source, name);
    return problem === undefined ? [] : [{ ...problem, path: ['rules', name] }];
  });
}

/** Digits as of numbers in JSON: of accounts, cards and telephones. */
const NUMBERS = ['4111111111111111', '123456789012345678901234567890'].flatMap((digits) =>
  Array.from({ length: digits.length - 3 }, (_, more) => digits.slice(0, 4 + more)),
);

export function checkPipeline(place: PipelinePlace<RegexMaskProcessConfig>): readonly PipelineProblem[] {
  return [
    ...overlookedNumbers(place, () => ruleForNumbers(place.config)),
    ...brokenPairs(place, () => ruleBetweenPairs(place.config)),
  ];
}

/** Numbers stay as they are: docs/specification.md#28-process-plugins masks strings. */
function ruleForNumbers({ rules }: RegexMaskProcessConfig): string | undefined {
  return Object.entries(rules).find(([name, expression]) => {
    const { source, flags } = compileExpression(expression, name);
    const rule = new RegExp(source, flags.replace('g', ''));
    return NUMBERS.some((number) => rule.test(number));
  })?.[0];
}

/** What separates keys and values in logfmt. JSON stays JSON. */
const BETWEEN_PAIRS = '"= ';

function ruleBetweenPairs({
  rules,
  mask_char,
  mask_prefix,
  mask_suffix,
}: RegexMaskProcessConfig): string | undefined {
  const name = Object.keys(rules).find((rule) => {
    const { source, flags } = compileExpression(rules[rule] as string, rule);
    return (
      mayTake(new RegExp(source, flags.replace('g', '')), BETWEEN_PAIRS) ||
      /["= ]/.test(mask_char ?? mask_prefix + rule + mask_suffix)
    );
  });
  return name === undefined ? undefined : `its rule ${name}`;
}

/** `process` emits the event with every match of every rule masked, in every field. Fails on what cannot be masked. */
export const { process, mapLines, mapRows } = regexMasking;
