/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A scalar's text after substitution. */
export interface Substitution {
  readonly text: string;
  /** Variables whose values are in the text; the values are never shown. */
  readonly used: readonly { readonly name: string; readonly value: string }[];
  /** Variables that are not set and have no default. */
  readonly missing: readonly string[];
}

// A name begins with a letter or `_`, so regular expressions such as `${1}` and `a{2}$` are left as they are.
const REFERENCE = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** What ends in no quote, escape or line, so that no scalar of YAML ends inside of it. */
const WHOLE_REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^}"'\\\r\n]*)?\}/g;

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
  const used: { name: string; value: string }[] = [];
  const missing: string[] = [];
  const result = text.replace(
    REFERENCE,
    (whole: string, escaped: string, name: string, fallback?: string) => {
      if (escaped !== '') return whole.slice(1);
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (fallback !== undefined && (value === undefined || value === '')) return fallback;
      if (value === undefined) {
        missing.push(name);
        return whole;
      }
      used.push({ name, value });
      return value;
    },
  );
  return { text: result, used, missing };
}

/** A text without the values of variables: each is replaced by its reference. */
export function withhold(text: string, used: Substitution['used']): string {
  const longestFirst = used
    .filter(({ value }) => value !== '')
    .sort((a, b) => b.value.length - a.value.length);
  let result = text;
  for (const { name, value } of longestFirst) {
    const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    // A value of a letter or two would be found inside every other word.
    const pattern = value.length < 4 ? `(?<!\\w)${literal}(?!\\w)` : literal;
    result = result.replace(new RegExp(pattern, 'g'), () => `\${${name}}`);
  }
  return result;
}
