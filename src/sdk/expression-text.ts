/**
 * `/api/users` is a path and no expression with the flags u, s, e, r, s. A single letter is always meant as a flag:
 * a wrong one must not make an expression a text that is found nowhere.
 */
const EXPRESSION = /^\/(.+)\/([gimsu]*|[a-z])$/s;

/**
 * The regular expression that a text `/…/flags` stands for; undefined for other text. Flags are i, m, s and u.
 *
 * @throws SyntaxError if it is no valid one
 * @example
 * expressionIn('/k-[0-9]+/i'); // /k-[0-9]+/i
 * expressionIn('/api/users'); // undefined
 */
export function expressionIn(text: string): RegExp | undefined {
  const [, body, flags = ''] = EXPRESSION.exec(text) ?? [];
  if (body === undefined) return undefined;
  if (!/^[gimsu]*$/.test(flags)) throw new SyntaxError(`${flags} is no flag; flags are i, m, s and u`);
  // With `g` a match would depend on the one before.
  return new RegExp(body, flags.replaceAll('g', ''));
}

/** A text at any depth of a value that looks like an expression and is none. */
export interface ExpressionMistake {
  readonly path: (string | number)[];
  readonly input: string;
  readonly reason: string;
}

/** The wrong expressions in a value, at any depth. */
export function expressionMistakes(
  value: unknown,
  path: readonly (string | number)[] = [],
): ExpressionMistake[] {
  if (typeof value === 'string') {
    const reason = reasonOf(value);
    return reason === undefined ? [] : [{ path: [...path], input: value, reason }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => expressionMistakes(item, [...path, index]));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => expressionMistakes(item, [...path, key]));
}

function reasonOf(text: string): string | undefined {
  try {
    expressionIn(text);
    return undefined;
  } catch (error) {
    // The engine quotes the whole expression first, which stands in the message already.
    return (error as Error).message.replace(/^Invalid regular expression: .*: /s, '');
  }
}
