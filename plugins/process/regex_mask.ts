import { z } from 'zod';
import { compileExpression, ExpressionError } from '../../operators/python-regex.ts';
import { regexMasker } from '../../operators/regex-mask.ts';
import { oneCharacter, ProcessConfigBase } from '../../src/models/index.ts';
import { masking } from '../masking.ts';

export const description = 'Masks what matches regular expressions, in all text of an event.';

export const example = `
mask-known-secrets:
  plugin: regex_mask
  rules:
    EMAIL: '[\\w.%+-]+@[\\w.-]+\\.[A-Za-z]{2,}'
    TOKEN: '(?i)bearer [a-z0-9._-]+'
`;

/** This plugin removes secrets. */
export const masks = true;

/** A rule that a plain object cannot hold would be lost without a word, and mask nothing. */
function refuseLostRule(rules: unknown, ctx: z.RefinementCtx): unknown {
  if (typeof rules === 'object' && rules !== null && Object.hasOwn(rules, '__proto__')) {
    ctx.issues.push({
      code: 'custom',
      input: rules,
      path: ['__proto__'],
      message: 'another name for this rule',
    });
  }
  return rules;
}

const Rules = z.record(z.string(), z.string()).check((ctx) => {
  for (const [name, expression] of Object.entries(ctx.value)) {
    try {
      compileExpression(expression);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const message = `a valid regular expression (${error.reason})`;
      ctx.issues.push({ code: 'custom', input: expression, path: [name], message });
    }
  }
});

/** Specification 2.8: regex_mask. */
export const RegexMaskProcessConfig = ProcessConfigBase.extend({
  rules: z.preprocess(refuseLostRule, Rules),
  mask_char: oneCharacter().optional(),
  mask_prefix: z.string().default('<:'),
  mask_suffix: z.string().default(':>'),
});
export type RegexMaskProcessConfig = Readonly<z.output<typeof RegexMaskProcessConfig>>;

export function get_config_schema(): typeof RegexMaskProcessConfig {
  return RegexMaskProcessConfig;
}

/** `process` emits the event with every match of every rule masked, in every field. Fails on what cannot be masked. */
export const { process, mapLines } = masking<RegexMaskProcessConfig>({
  compile: (config, onMask) => regexMasker({ ...config, onMask }),
  replacements: ({ rules, mask_char, mask_prefix, mask_suffix }) =>
    mask_char === undefined
      ? Object.keys(rules).map((rule) => mask_prefix + rule + mask_suffix)
      : [mask_char],
});
