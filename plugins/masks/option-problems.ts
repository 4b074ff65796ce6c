// What is wrong with options of valid types, for the processor `redact` and for `createRedactor`. It needs neither zod nor RxJS.

import { OTHER_RULES } from '../../operators/internal-masks.ts';
import { type Confidence, compileExpression, keyMatcher } from '../../operators/internal-redact.ts';
import { globToExpression, isDisabled } from '../packs/load-packs.ts';
import { matchesMostSecrets } from '../packs/matches-most-secrets.ts';
import type { FieldAction } from './redact-actions.ts';

export interface OptionProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The nearest right name, if there is one. */
  readonly suggestion?: string | undefined;
  readonly severity?: 'warning';
}

type Nearest = (name: string, names: readonly string[]) => string | undefined;

interface RuleNames {
  /** Names of packs. */
  readonly packs: readonly string[];
  /** Ids of all rules of the packs. */
  readonly ofPacks: readonly string[];
  readonly rules: object;
  readonly disable: readonly string[];
  readonly action: object;
  readonly nearest: Nearest;
  /** What lists the ids of the rules of a pack. */
  readonly howToList: string;
}

/** Ids and patterns that name no rule: a rule that is meant to be off masks, or an action never replaces anything. */
export function ruleNameProblems({
  packs,
  ofPacks,
  rules,
  disable,
  action,
  nearest,
  howToList,
}: RuleNames): OptionProblem[] {
  const all = [...Object.keys(rules), ...ofPacks];
  const problems = disable.flatMap((pattern, index): OptionProblem[] => {
    if (matchesOne(pattern, ofPacks)) return [];
    const message = Object.hasOwn(rules, pattern)
      ? `${pattern} is a rule of \`rules\`, and \`disable\` is for rules of packs; remove it from \`rules\` instead`
      : `\`disable\` must name a rule of the packs here (${packs.join(', ') || 'none'}), and ${pattern || 'an empty string'} names none; ${howToList}`;
    return [{ path: ['disable', index], message, suggestion: nearestRule(pattern, ofPacks, nearest) }];
  });
  for (const pattern of Object.keys(action)) {
    if (pattern === 'default' || matchesOne(pattern, [...all, ...OTHER_RULES])) continue;
    const message = `no rule of the packs and rules here is named ${pattern}, so this would have no effect; correct it, or name its pack in \`packs\``;
    problems.push({ path: ['action', pattern], message, suggestion: nearestRule(pattern, all, nearest) });
  }
  return problems;
}

/** Whether no rule is left. */
export function masksNothing({
  ofPacks,
  rules,
  disable,
  entropy,
  confidence,
}: {
  readonly ofPacks: readonly string[];
  readonly rules: object;
  readonly disable: readonly string[];
  readonly entropy?: object | false | undefined;
  readonly confidence: Confidence;
}): boolean {
  const hasEntropy = entropy === undefined ? confidence === 'low' : entropy !== false;
  return !hasEntropy && Object.keys(rules).length === 0 && ofPacks.every((id) => isDisabled(id, disable));
}

const matchesOne = (pattern: string, ids: readonly string[]) =>
  ids.some((id) => globToExpression(pattern).test(id));

/** A rule without its pack is the one of that name; other names may be misspelt, or those of all rules of a pack. */
function nearestRule(pattern: string, ids: readonly string[], nearest: Nearest): string | undefined {
  const ofPacks = [...new Set(ids.map((id) => id.replace(/:.*/, ':*')))];
  return (
    ids.find((id) => id.endsWith(`:${pattern}`)) ?? nearest(pattern, pattern.endsWith('*') ? ofPacks : ids)
  );
}

/** Keys of values that are to be masked, and of text. A pattern for most of them is no pattern for values that are no secrets. */
const USUAL_KEYS = [
  ...['password', 'api_key', 'accessToken', 'client_secret', 'authorization', 'cookie', 'session_id'],
  ...['user.email', 'user_name', 'card_number', 'message', 'log', 'line', 'request.body', 'error.stack'],
];
const KEEPS_MOST =
  'this pattern matches most keys, so hardly anything would be masked; write one for keys whose values are no secrets, such as *_id';

/** Whether hardly any key is left that a pattern does not match. */
export function matchesMostKeys(pattern: string): boolean {
  const matches = keyMatcher([pattern]);
  const matched = USUAL_KEYS.filter((key) => matches(key) || matches(key.slice(key.lastIndexOf('.') + 1)));
  return matched.length >= USUAL_KEYS.length / 3;
}

/** A policy that would turn masking off, or that does nothing. */
export function fieldProblem(pattern: string, action: FieldAction): Omit<OptionProblem, 'path'> | undefined {
  if (!/[\p{L}\p{N}*]/u.test(pattern) || /^\.|\.\.|\.$/.test(pattern)) {
    const message =
      'a pattern of `fields` must be the path of a field, such as user.email, or a key, such as trace_id; `*` stands for any characters';
    return { message };
  }
  if (action !== 'keep') return undefined;
  if (matchesMostKeys(pattern)) return { message: KEEPS_MOST };
  if (!['line', 'message', 'msg', 'log'].some(keyMatcher([pattern]))) return undefined;
  const message = 'this keeps the text of events, in which no secret would then be masked';
  return { severity: 'warning', message };
}

/** Allowed values and keys that would turn masking off, or that do nothing. */
export function allowProblems({
  allow,
}: {
  readonly allow: { readonly values: readonly string[]; readonly keys: readonly string[] };
}): OptionProblem[] {
  const values = allow.values.flatMap((source, index): OptionProblem[] => {
    const path = ['allow', 'values', index];
    const { source: js, flags } = compileExpression(source);
    const expression = new RegExp(js, flags.replace('g', ''));
    if (!matchesMostSecrets((value) => expression.test(value))) return [];
    const message =
      'this expression matches every value, or most random ones, so hardly anything would be masked; it is searched anywhere in a value: write one ' +
      "for the values that are no secrets, such as '^build-[0-9]+$'";
    return [{ path, message }];
  });
  const keys = allow.keys.flatMap((key, index): OptionProblem[] => {
    const path = ['allow', 'keys', index];
    if (!/[\p{L}\p{N}]/u.test(key)) {
      const message =
        '`allow.keys` must have names of keys, such as trace_id, or patterns, such as *_id, with letters or digits';
      return [{ path, message }];
    }
    return matchesMostKeys(key) ? [{ path, message: KEEPS_MOST }] : [];
  });
  return [...values, ...keys];
}
