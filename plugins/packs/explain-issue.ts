import type * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import { nearest } from '../../src/sdk/index.ts';
import { ExpressionRuleSchema, KeyedRuleSchema } from './pack-schema.ts';
import type { Path } from './place-in-yaml.ts';

const MOST_LISTED = 12;

/** Names of which one is expected. */
export const oneOf = (names: readonly string[]) =>
  names.length > MOST_LISTED
    ? `one of ${names.length} names, such as ${names.slice(0, MOST_LISTED).join(', ')}`
    : `one of ${names.join(', ')}`;

export const unknownKey = (key: string, known: readonly string[]) => {
  const near = nearest(key, known);
  return `unknown key; ${near === undefined ? `expected one of ${known.join(', ')}` : `did you mean \`${near}\`?`}`;
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};
/** The keys of rules and of the entries of lists, for suggestions. */
const FIELDS = [
  ...[ExpressionRuleSchema, KeyedRuleSchema].flatMap((schema) => Object.keys(schema.shape)),
  ...[
    'name',
    'kind',
    'language',
    'start',
    'after',
    'only_after',
    'not_after',
    'except',
    'only',
    'keys',
    'not',
  ],
  ...[
    'notation',
    'form',
    'ends',
    'guard',
    'kinds',
    'example',
    'miss',
    'value',
    'notations',
    'matches',
    'misses',
  ],
];

type Issue = z.core.$ZodIssue;

/** What a schema expects at which path, without the value that it found there. */
export function explained(issue: Issue, input: unknown): { path: Path; message: string }[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, FIELDS) }));
  const found = valueAt(input, path);
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.find((issues) =>
      issues.every((inner) => inner.path.length > 0 || inner.code !== 'invalid_type'),
    );
    if (branch !== undefined)
      return branch.flatMap((inner) =>
        explained(inner as Issue, found).map((one) => ({ ...one, path: [...path, ...one.path] })),
      );
  }
  const wanted = wantedBy(issue);
  return [{ path, message: found === undefined ? `missing; expected ${wanted}` : `expected ${wanted}` }];
}

const valueAt = (value: unknown, path: Path) =>
  path.reduce<unknown>((inner, step) => (inner as Record<PropertyKey, unknown> | undefined)?.[step], value);

function wantedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? `a value of type ${issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values.map(String));
    case 'invalid_union':
      return [...new Set(issue.errors.flat().map((inner) => wantedBy(inner as Issue)))].join(' or ');
    case 'too_small':
      return `at least ${counted(Number(issue.minimum), issue.origin === 'array' ? 'item' : 'character')}`;
    default:
      return issue.message;
  }
}
