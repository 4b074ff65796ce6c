import { isMapping, type Path } from '../sdk/checks/problem.ts';
import type { UsedVariable } from '../sdk/checks/shown-values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Substitution {
  readonly text: string;
  /** Variables whose values are in the text; the values are never shown. */
  readonly used: readonly UsedVariable[];
  /** Variables that are not set and have no default. */
  readonly missing: readonly string[];
  /** What was left as it is and was probably meant as a reference, in words for a warning. */
  readonly lookalikes: readonly string[];
}

// A name begins with a letter or `_`, so regular expressions such as `${1}` and `a{2}$` are left as they are.
const REFERENCE = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * What looks like a reference in the notation of a shell or of another program, and is text here. Groups: a further `$`,
 * spaces or a prefix, the name, and what follows it.
 */
const LOOKALIKE = /(\$?)\$\{(\{?\s*(?:env[:.])?)([A-Za-z_][A-Za-z0-9_]*)(\s*(?::?[-=?+])?)[^}]*\}/g;

/** A variable as shells write it, where a whole value or a part of a path is meant. */
const BARE_VARIABLE = /(?<![^/:=])\$([A-Z_][A-Z0-9_]+)(?![^/:])/g;

/** What ends in no quote, escape or line, so that no scalar of YAML ends inside of it. */
const WHOLE_REFERENCE = /\$\{\s*(?:env[:.])?[A-Za-z_][A-Za-z0-9_]*\s*(?::?[-=?+][^}"'\\\r\n]*)?\}/g;

/**
 * A text of the same length without the characters of references that mean something in YAML: the braces end a plain
 * scalar in `{ path: ${DIR} }`. The structure of a file is read from this, its scalars from the file itself, so
 * neither a reference nor the value of a variable can change the structure.
 *
 * @example
 * withPlainReferences('{ path: ${DIR}/a }'); // '{ path: xxxxxx/a }'
 */
export function withPlainReferences(text: string): string {
  return text.replace(WHOLE_REFERENCE, (reference) => 'x'.repeat(reference.length));
}

/**
 * Puts environment variables into a text. `${NAME}` is the variable, `${NAME:-text}` has a default for one that
 * is not set or empty, as in a shell, and `$${NAME}` stands for the characters `${NAME}`.
 *
 * @example
 * substitute('${HOST:-localhost}:80', {}).text; // 'localhost:80'
 */
export function substitute(text: string, env: Environment): Substitution {
  const parts: Part[] = [];
  const missing: string[] = [];
  let end = 0;
  for (const { 0: whole, 1: escaped, 2: name = '', 3: fallback, index } of text.matchAll(REFERENCE)) {
    parts.push({ text: text.slice(end, index) });
    end = index + whole.length;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (escaped !== '') parts.push({ text: whole.slice(1) });
    else if (fallback !== undefined && (value === undefined || value === '')) parts.push({ text: fallback });
    else if (value !== undefined) parts.push({ text: value, name });
    else {
      missing.push(name);
      parts.push({ text: whole });
    }
  }
  parts.push({ text: text.slice(end) });
  const result = parts.map((part) => part.text).join('');
  const unescaped = result.replace(LOOKALIKE, (whole, escaped: string) =>
    escaped === '' ? whole : whole.slice(1),
  );
  return { text: unescaped, used: usedIn(parts), missing, lookalikes: lookalikesIn(text, env) };
}

/** A part of a text: the value of a variable if it has a name. */
interface Part {
  readonly text: string;
  readonly name?: string;
}

/** The values in a text, and the words that they are parts of: in `x${V}y` nobody would find a short value by itself. */
function usedIn(parts: readonly Part[]): UsedVariable[] {
  const pieces = parts.flatMap((part) =>
    part.name === undefined ? part.text.split(/([^\p{L}\p{M}\w]+)/u).map((text): Part => ({ text })) : [part],
  );
  const used: UsedVariable[] = [];
  let word: Part[] = [];
  const close = () => {
    const values = word.flatMap(({ name, text }) => (name === undefined ? [] : { name, value: text }));
    used.push(...values);
    if (values[0] !== undefined && word.length > 1) {
      const value = word.map(({ text }) => text).join('');
      const shown = word.map(({ name, text }) => (name === undefined ? text : `\${${name}}`)).join('');
      used.push({ name: values[0].name, value, shown });
    }
    word = [];
  };
  for (const piece of pieces) {
    if (piece.name === undefined && /^[^\p{L}\p{M}\w]/u.test(piece.text)) close();
    else if (piece.text !== '') word.push(piece);
  }
  close();
  return used;
}

/** Warnings about what looks like a reference. A default is not shown: it can be a secret. */
function lookalikesIn(text: string, env: Environment): string[] {
  const rest = text.replace(REFERENCE, '');
  const braced = Array.from(
    rest.matchAll(LOOKALIKE),
    ({ 0: whole, 1: escaped, 3: name = '', 4: operator = '', index }) => {
      if (escaped !== '') return [];
      if (/^[.[]/.test(rest.slice(index + whole.indexOf(name) + name.length)) && name === 'data') {
        return [
          'what looks like a reference to a field of an event is taken as text; in an expression, write `"…" + data.NAME`, or `$${…}` for the text itself',
        ];
      }
      const meant = /[-=]/.test(operator) ? `\${${name}:-default}` : `\${${name}}`;
      return [
        `a reference to ${name} is not written as millrace reads it, so it is taken as text; write \`${meant}\`, or \`$$\{…}\` for the text itself`,
      ];
    },
  );
  const bare = Array.from(rest.matchAll(BARE_VARIABLE), ([, name = '']) =>
    Object.hasOwn(env, name)
      ? [`\`$${name}\` is taken as text; for the environment variable write \`\${${name}}\``]
      : [],
  );
  return [...braced, ...bare].flat();
}

/** The environment variables that hold at a path of a file. */
export type EnvironmentAt = (path: Path) => Environment;

/** The variables of an `env` mapping, as text; those that are not scalars are left to the schema. */
export function variablesIn(value: unknown): Environment {
  if (!isMapping(value)) return {};
  const isScalar = (item: unknown) => ['string', 'number', 'boolean'].includes(typeof item);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (isScalar(item) ? [[name, String(item)]] : [])),
  );
}

/**
 * Inside a test its own variables (`env`, and that of its file) come before those of the process. Undefined if no
 * test of the file brings any.
 *
 * @param value the file as it is without them
 */
export function testEnvironments(value: unknown, env: Environment): EnvironmentAt | undefined {
  if (!isMapping(value) || !isMapping(value.tests)) return undefined;
  const shared = variablesIn(value.env);
  const own = new Map(
    Object.entries(value.tests).map(([name, test]) => {
      const variables = { ...shared, ...variablesIn(isMapping(test) ? test.env : undefined) };
      return [name, Object.keys(variables).length === 0 ? env : { ...env, ...variables }];
    }),
  );
  if ([...own.values()].every((variables) => variables === env)) return undefined;
  return ([section, test, key]) =>
    section === 'tests' && key !== 'env' ? (own.get(String(test)) ?? env) : env;
}
