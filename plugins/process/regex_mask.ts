import { constants } from 'node:buffer';
import * as z from 'zod';
import { compileExpression, ExpressionError } from '../../operators/masks/python-regex.ts';
import type { Ambiguity } from '../../operators/masks/regex/ambiguity.ts';
import { costOf } from '../../operators/masks/regex/cost.ts';
import { lengthOf } from '../../operators/masks/regex/measure.ts';
import { parseExpression } from '../../operators/masks/regex/pattern.ts';
import { type ConfigMistake, oneCharacter, ProcessConfigBase } from '../../src/sdk/index.ts';
import { takesOverInLinearTime } from '../linear-time.ts';
import { regexMasking } from '../masks/regex_mask.ts';

export const description = 'Masks what matches regular expressions, in all text of an event.';

export const example = `
mask-known-secrets:
  plugin: regex_mask
  rules:
    EMAIL: '[\\w.%+-]+@[\\w.-]+\\.[A-Za-z]{2,}'
    TOKEN: '(?i)bearer [a-z0-9._-]+'
`;

export const shownSettings = { rules: '', mask_char: '' };

/** This plugin removes secrets. */
export const masks = true;

export const runsInWorkers = true;

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

/** Each by itself, so that all mistakes are told at once, also beside a rule that is no text. */
const Expression = z.string().check((ctx) => {
  try {
    compileExpression(ctx.value);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = `a valid regular expression (${error.reason})`;
    ctx.issues.push({ code: 'custom', input: ctx.value, message });
  }
});

const NO_RULES = 'there are none, so nothing is masked';

const Rules = z.record(z.string(), Expression);

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

/**
 * Finds a mask and rules that mask nothing, and rules that a text could keep busy for ever: V8 cannot run them without
 * going back, and they double.
 */
export function checkConfig({ config }: { config: RegexMaskProcessConfig }): readonly ConfigMistake[] {
  const rules = Object.entries(config.rules);
  if (rules.length === 0) return [{ path: ['rules'], severity: 'warning', message: NO_RULES }];
  return rules.flatMap(([name, source]) => {
    const expression = compileExpression(source, name);
    const { ambiguity } = costOf(expression);
    const path = ['rules', name];
    if (ambiguity !== undefined && !takesOverInLinearTime(expression)) {
      return [{ path, message: explain(ambiguity) }];
    }
    const idle = whyItMasksNothing(expression);
    return idle === undefined ? [] : [{ path, severity: 'warning', message: `${idle}, so it masks nothing` }];
  });
}

function whyItMasksNothing(expression: RegExp): string | undefined {
  const pattern = parseExpression(expression)?.pattern;
  const length = pattern && lengthOf(pattern);
  if (length?.max === 0) return 'this expression matches nothing but the empty text';
  if (length !== undefined && length.min > constants.MAX_STRING_LENGTH) {
    return 'what this expression matches would be longer than any text';
  }
  return undefined;
}

function explain({ part, text }: Ambiguity): string {
  const shape = text === undefined ? 'a text' : `a text such as ${JSON.stringify(text.repeat(3))}`;
  return (
    `this expression could take for ever: ${part} can take ${shape} in ways that multiply with each repetition, ` +
    'and all are tried where the rest does not match. Write it so that there is one way only, as (?:a+b)+ in ' +
    'place of (?:a+b?)+, or without look-around, back-references, (?i), \\p{…} and counts above 16'
  );
}

/** `process` emits the event with every match of every rule masked, in every field. Fails on what cannot be masked. */
export const { process, mapLines } = regexMasking;
