import {
  argumentError,
  atLeast,
  BOOLEAN,
  type Check,
  COUNT,
  compileExpression,
  costOf,
  ExpressionError,
  kindOf,
  NOT_EMPTY,
  ONE_CHARACTER,
  type RedactRule,
  TEXT,
  UNIT,
} from '../operators/internal-redact.ts';
import {
  allowProblems,
  fieldProblem,
  masksNothing,
  matchesMostKeys,
  type OptionProblem,
  ruleNameProblems,
} from '../plugins/masks/option-problems.ts';
import { packsOf } from '../plugins/packs/load-packs.ts';
import { PSEUDONYMS } from './check-redactor.ts';
import type { RedactorOptions } from './create-redactor.ts';
import { packRules } from './packs.ts';

type Path = readonly (string | number)[];
/** Throws for a value that an option at this path must not have. */
type Shape = (value: unknown, path: Path) => void;

const is =
  (check: Check): Shape =>
  (value, path) => {
    const expected = check(value);
    if (expected !== true) throw notExpected(path, expected, value);
  };

const oneOf = (...values: readonly string[]): Shape =>
  is((value) => values.includes(value as string) || values.map((one) => `'${one}'`).join(' or '));

const between = (least: number, most: number): Shape =>
  is((value) => {
    const isWithin = Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
    return isWithin || `an integer from ${least} to ${most}`;
  });

const listOf =
  (item: Shape, expected: string): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) throw notExpected(path, expected, value);
    // Not `forEach`, which leaves out what an array has no item for.
    for (let i = 0; i < value.length; i++) item(value[i], [...path, i]);
  };

const recordOf =
  (item: Shape, expected: string): Shape =>
  (value, path) => {
    for (const [name, one] of entriesOf(value, path, expected)) item(one, [...path, name]);
  };

const objectOf =
  (shapes: Readonly<Record<string, Shape>>, expected: string): Shape =>
  (value, path) => {
    for (const [name, one] of entriesOf(value, path, expected)) {
      const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
      if (shape === undefined) throw unknownOption([...path, name], Object.keys(shapes));
      if (one !== undefined) shape(one, [...path, name]);
    }
  };

const falseOr =
  (shape: Shape): Shape =>
  (value, path) => {
    if (value !== false) shape(value, path);
  };

/** Also what an object has from its prototype, as options may. */
function entriesOf(value: unknown, path: Path, expected: string): [string, unknown][] {
  if ({}.toString.call(value) !== '[object Object]') throw notExpected(path, expected, value);
  const entries: [string, unknown][] = [];
  for (const name in value as object) entries.push([name, (value as Record<string, unknown>)[name]]);
  return entries;
}

const NAMES_OF_KEYS = "an array of names of keys, such as ['trace_id']";
const EXPRESSION = is(
  (value) =>
    (typeof value === 'string' && value !== '') || "an expression as a string, such as 'TK-[0-9]{8}'",
);
const EXPRESSIONS = listOf(EXPRESSION, "an array of expressions, such as ['^build-[0-9]+$']");
const CONFIDENCE = oneOf('high', 'medium', 'low');
const MODE = oneOf('require', 'raise', 'off');
const A_CHECK = "the name of a check, or an object with it, such as { name: 'luhn', mode: 'raise' }";

const ACTIONS: Readonly<Record<string, Shape>> = {
  keep_last: between(1, 64),
  mask_char: is(ONE_CHARACTER),
  hmac: (value, path) => {
    const expected = 'an object with a key, such as { key: process.env.MASK_KEY }';
    objectOf({ key: is(() => true), length: between(8, 64) }, expected)(value, path);
    is(NOT_EMPTY)((value as { key: unknown }).key, [...path, 'key']);
  },
};

const actionOr =
  (...words: readonly string[]): Shape =>
  (value, path) => {
    if (words.includes(value as string)) return;
    const all = words.map((word) => `'${word}'`).join(', ');
    const expected = `${all} or one of { keep_last: 4 }, { mask_char: '*' } and { hmac: { key } }`;
    objectOf(ACTIONS, expected)(value, path);
    if (Object.keys(value as object).length !== 1) throw notExpected(path, expected, value);
  };

const RULE = objectOf(
  {
    match: EXPRESSION,
    mask: (value, path) =>
      Array.isArray(value)
        ? listOf(is(COUNT), 'an array of groups')(value, path)
        : is(atLeast(0))(value, path),
    value: oneOf('literal', 'word', 'beside', 'below', 'items', 'groups'),
    keywords: listOf(is(NOT_EMPTY), "an array of strings, such as ['ticket']"),
    check: (value, path) =>
      typeof value === 'string' ||
      objectOf(
        { name: is(TEXT), mode: MODE, entropy: is((bits) => Number.isFinite(bits) || 'a number of bits') },
        A_CHECK,
      )(value, path),
    allow: EXPRESSIONS,
    confidence: CONFIDENCE,
    block: objectOf({ contains: is(NOT_EMPTY), start: EXPRESSION, end: EXPRESSION }, 'an object'),
    after: objectOf({ line: EXPRESSION, lines: is(COUNT) }, 'an object'),
    // What rules of packs have besides.
    description: is(TEXT),
    source: is(TEXT),
    tests: () => undefined,
  },
  "an expression as a string, or an object with one, such as { match: 'TK-[0-9]{8}' }",
);

const OPTIONS: { readonly [Name in keyof RedactorOptions]-?: Shape } = {
  packs: (value, path) => {
    if (typeof value !== 'string' || value === '')
      listOf(is(NOT_EMPTY), 'the name of a pack, or an array of them')(value, path);
  },
  disable: listOf(is(TEXT), "an array of ids of rules, such as ['secrets/context:password']"),
  rules: recordOf((value, path) => {
    if (typeof value === 'string') EXPRESSION(value, path);
    else {
      RULE(value, path);
      EXPRESSION((value as { match: unknown }).match, [...path, 'match']);
    }
  }, "an object with rules by their names, such as { TICKET: 'TK-[0-9]{8}' }"),
  confidence: CONFIDENCE,
  allow: objectOf(
    { values: EXPRESSIONS, keys: listOf(is(TEXT), NAMES_OF_KEYS) },
    "an object with values or keys, such as { keys: ['trace_id'] }",
  ),
  decode: falseOr(
    objectOf(
      { json: between(0, 4), percent: is(BOOLEAN), base64: between(0, 4) },
      'false, or an object, such as { base64: 1 }',
    ),
  ),
  entropy: falseOr(
    objectOf(
      { threshold: is(UNIT), length: is(atLeast(2)), delimiters: is(TEXT), trim: is(TEXT) },
      'false, or an object, such as { threshold: 0.9 }',
    ),
  ),
  action: recordOf(actionOr('name'), "an object by rules, such as { default: { mask_char: '*' } }"),
  pseudonyms: is(PSEUDONYMS),
  fields: recordOf(
    actionOr('keep', 'drop', 'mask', 'name'),
    "an object by fields, such as { 'user.email': 'mask' }",
  ),
  keys: listOf(is(TEXT), "an array of names of keys, such as ['ssn']"),
  maxLength: is(COUNT),
};

/**
 * What is misspelt would be ignored, and what it was to hide would pass. Of a value, only its kind is shown.
 *
 * @throws TypeError for an option that is unknown, of the wrong type, or that turns masking off, at any depth.
 * @throws RangeError for a number out of range.
 * @throws ExpressionError for an expression of a rule that is not valid.
 */
export function checkRedactorOptions(options: RedactorOptions): void {
  objectOf(OPTIONS, "an object, such as { packs: 'all' }")(options, []);
  const { packs = 'default', disable = [], rules = {}, confidence = 'medium', entropy } = options;
  const { allow = {}, action = {}, fields = {}, keys = [] } = options;
  const { values = [], keys: allowedKeys = [] } = allow;
  for (const [name, rule] of Object.entries(rules)) {
    for (const [path, expression] of expressionsOf(name, rule)) {
      if (expression !== undefined) refuseUnfit(path, expression, name);
    }
  }
  for (const [index, expression] of values.entries()) refuseUnfit(['allow', 'values', index], expression);

  const ofPacks = Object.keys(packRules(packs));
  const names = [packs].flat().flatMap(packsOf);
  const howToList = `packRules('${names[0] ?? 'default'}') has the ids of the rules of a pack as its keys`;
  const [problem] = [
    ...ruleNameProblems({ packs: names, ofPacks, rules, disable, action, nearest, howToList }),
    ...allowProblems({ allow: { values, keys: allowedKeys } }),
    ...Object.entries(fields).map(([pattern, policy]) => ({
      path: ['fields', pattern],
      ...fieldProblem(pattern, policy),
    })),
    ...keys.map((key, index) => ({ path: ['keys', index], ...keyProblem(key) })),
  ].filter((problem): problem is OptionProblem => 'message' in problem && !('severity' in problem));
  if (problem !== undefined) throw error(`${nameOf(problem.path)}: ${problem.message}`, problem.suggestion);
  const hasPolicies = keys.length > 0 || Object.values(fields).some((policy) => policy !== 'keep');
  if (hasPolicies || !masksNothing({ ofPacks, rules, disable, entropy, confidence })) return;
  throw error(
    "no rule is left of packs and disable, so nothing would be masked; name a pack, such as packs: 'default', or write rules, " +
      'fields or keys',
  );
}

function keyProblem(key: string): Pick<OptionProblem, 'message'> | undefined {
  if (!matchesMostKeys(key)) return fieldProblem(key, 'mask');
  const message = `this pattern matches most keys, so hardly any value would be left; write names of keys, such as 'ssn'`;
  return { message: `${message}, or fields: { '*': 'mask' } to mask all fields` };
}

function expressionsOf(name: string, rule: string | RedactRule): [Path, string | undefined][] {
  const at = ['rules', name];
  if (typeof rule === 'string') return [[at, rule]];
  const { match, allow = [], block, after } = rule;
  return [
    [[...at, 'match'], match],
    ...allow.map((expression, index): [Path, string] => [[...at, 'allow', index], expression]),
    [[...at, 'block', 'start'], block?.start],
    [[...at, 'block', 'end'], block?.end],
    [[...at, 'after', 'line'], after?.line],
  ];
}

/** Nothing bounds the time of expressions here. Those of packs are bounded by tests. */
function refuseUnfit(path: Path, expression: string, rule?: string): void {
  const { source, flags } = compileAt(path, expression, rule);
  if (costOf(new RegExp(source, flags)).ambiguity === undefined) return;
  throw error(
    `the expression ${nameOf(path)} could take exponential time, because it can match the same text in many ways; ` +
      'write it so that each repetition can end in one place only',
  );
}

function compileAt(path: Path, expression: string, rule: string | undefined): RegExp {
  try {
    return compileExpression(expression, rule);
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError) || rule !== undefined) throw thrown;
    throw error(`${nameOf(path)} must be a valid regular expression (${thrown.reason})`);
  }
}

function unknownOption(path: Path, known: readonly string[]): Error {
  const near = nearest(String(path.at(-1)), known);
  return error(`unknown option '${nameOf(path)}'; expected ${known.join(', ')}`, near);
}

function notExpected(path: Path, expected: string, value: unknown): Error {
  const isNumber = typeof value === 'number' && /number|integer/.test(expected);
  const isExpression = value instanceof RegExp ? '; write its source, and (?i) in front for the flag i' : '';
  const message = `${nameOf(path) || 'the options'} must be ${expected}, not ${isNumber ? value : kindShown(value, expected)}${isExpression}`;
  return error(message, undefined, isNumber ? RangeError : TypeError);
}

function kindShown(value: unknown, expected: string): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'string' && expected.includes('string')) return 'another string';
  return Array.isArray(value) ? 'an array' : kindOf(value);
}

function error(
  message: string,
  suggestion?: string,
  kind: new (message: string) => Error = TypeError,
): Error {
  const question = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  return argumentError(kind, `createRedactor: ${message}${question}`);
}

/** As in JavaScript: `action['pii/contact:email'].keep_last`. */
function nameOf([first = '', ...others]: Path): string {
  const steps = others.map((step) =>
    typeof step === 'number' ? `[${step}]` : /^[\w$]+$/.test(step) ? `.${step}` : `['${step}']`,
  );
  return `${first}${steps.join('')}`;
}

/** The name that a misspelt one was most likely meant to be. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const [best] = names.map((one) => ({ one, away: distance(name, one) })).toSorted((a, b) => a.away - b.away);
  return best !== undefined && best.away <= Math.max(name.length, best.one.length) / 2.5
    ? best.one
    : undefined;
}

/** How many characters have to be inserted, left out or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] as number) + Number(a[i] !== b[j]);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
