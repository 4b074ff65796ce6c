import { nearest } from '../sdk/nearest.ts';
import { type Issue, issuePath } from './apply-schema.ts';
import type { Mistake } from './mistake.ts';
import { type Path, valueAt } from './path.ts';
import { either, formatNumber } from './wording.ts';

/** What an explanation needs of the value that a schema refused. */
export interface ExplainContext {
  /** The path of the model in the configuration. */
  readonly prefix: Path;
  readonly input: unknown;
  /** The keys that the schema knows at a path inside the model. */
  knownKeys(path: Path): readonly string[];
  /** The value at a path of the configuration in the words of a message. */
  describe(path: Path): string;
}

/** Puts a schema's issue into sentences: what was found and what is wanted. */
export function explainIssue(issue: Issue, context: ExplainContext, base: Path = []): Mistake[] {
  const path = [...base, ...issuePath(issue)];
  const here = [...context.prefix, ...path];
  if (issue.code === 'unrecognized_keys') return explainUnknownKeys(issue, context, path);
  const branch = issue.code === 'invalid_union' ? matchingBranch(issue) : undefined;
  if (branch !== undefined) return branch.flatMap((inner) => explainIssue(inner, context, path));

  const value = valueAt(context.input, path);
  const wanted = wantedBy(issue, value);
  if (issue.code === 'invalid_key') {
    const key = path.at(-1);
    return [{ path: here, at: 'key', message: `found the name \`${key}\`; wanted ${wanted}` }];
  }
  if (value === undefined) {
    return [
      {
        path: here,
        message: wanted === undefined ? issue.message : `missing; wanted ${wanted}`,
        foreign: true,
      },
    ];
  }
  // A message about a whole mapping says itself what is wrong in it.
  if (wanted === undefined || (issue.code === 'custom' && typeof value === 'object')) {
    return [{ path: here, message: issue.message, foreign: true }];
  }
  const message = `found ${context.describe(here)}; wanted ${wanted}`;
  const values = issue.code === 'invalid_value' && Array.isArray(issue.values) ? issue.values : [];
  const suggestion = typeof value === 'string' ? nearest(value, values.map(String)) : undefined;
  const foreign = issue.code === 'custom';
  return [{ path: here, message, foreign, ...(suggestion === undefined ? {} : { suggestion }) }];
}

function explainUnknownKeys(issue: Issue, context: ExplainContext, path: Path): Mistake[] {
  const keys = Array.isArray(issue.keys) ? issue.keys.map(String) : [];
  const known = context.knownKeys(path);
  return keys.map((key) => {
    const suggestion = nearest(key, known);
    return {
      path: [...context.prefix, ...path, key],
      at: 'key',
      message: `unknown key \`${key}\``,
      ...(suggestion === undefined ? {} : { suggestion }),
    };
  });
}

/** The alternative of a union that the value was meant for: the one whose own type fits. */
function matchingBranch(issue: Issue): readonly Issue[] | undefined {
  return branches(issue)
    .filter((issues) => issues.every((inner) => inner.path.length > 0 || inner.code !== 'invalid_type'))
    .toSorted((a, b) => a.length - b.length)[0];
}

function branches(issue: Issue): readonly (readonly Issue[])[] {
  return Array.isArray(issue.errors) ? issue.errors : [];
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  map: 'a mapping',
  null: 'null',
};

/** What the schema wants, or undefined if only its message tells. */
function wantedBy(issue: Issue, value: unknown): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'number' && typeof value === 'number') return 'a finite number';
      return TYPES[String(issue.expected)] ?? `a value of type ${String(issue.expected)}`;
    case 'invalid_union':
      return wantedByUnion(issue, value);
    case 'invalid_key':
      return Array.isArray(issue.issues) ? either(wantedByAll(issue.issues, value)) : issue.message;
    case 'too_small':
      return bound(issue, issue.minimum, issue.inclusive === false ? 'greater than' : 'at least');
    case 'too_big':
      return bound(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'not_multiple_of':
      return `a multiple of ${String(issue.divisor)}`;
    case 'invalid_value':
      return Array.isArray(issue.values)
        ? either(
            issue.values.map((wanted) => (typeof wanted === 'string' ? `\`${wanted}\`` : String(wanted))),
          )
        : undefined;
    case 'invalid_format':
      return issue.format === 'regex' ? `text that matches ${issue.pattern}` : `a valid ${issue.format}`;
    case 'custom':
      return namesWhatIsWanted(issue.message) ? issue.message : undefined;
    default:
      return undefined;
  }
}

function wantedByUnion(issue: Issue, value: unknown): string | undefined {
  if (Array.isArray(issue.options)) return either(issue.options.map((option) => `\`${String(option)}\``));
  const wanted = wantedByAll(branches(issue).flat(), value);
  return wanted.length === 0 ? undefined : either(wanted);
}

function wantedByAll(issues: readonly Issue[], value: unknown): string[] {
  return issues.map((issue) => wantedBy(issue, value)).filter((wanted) => wanted !== undefined);
}

function bound(issue: Issue, limit: unknown, comparison: string): string {
  const amount = typeof limit === 'number' || typeof limit === 'bigint' ? formatNumber(limit) : String(limit);
  const units: Readonly<Record<string, string>> = {
    string: 'character',
    array: 'item',
    set: 'item',
    map: 'entry',
  };
  const unit = units[String(issue.origin)];
  if (unit === undefined) {
    return comparison.endsWith('than')
      ? `a number ${comparison} ${amount}`
      : `a number of ${comparison} ${amount}`;
  }
  const plural = unit === 'entry' ? 'entries' : `${unit}s`;
  return `${issue.exact === true ? 'exactly' : comparison} ${amount} ${limit === 1 ? unit : plural}`;
}

/** Custom messages of millrace's schemas name what is wanted; those of others may be sentences. */
function namesWhatIsWanted(message: string): boolean {
  return /^(an?|another|at (least|most)|exactly|one of|only|text)\b/.test(message);
}
