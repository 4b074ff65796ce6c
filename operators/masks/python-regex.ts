import { ExpressionError } from './expression-error.ts';
import { type Translation, translate } from './python-syntax.ts';

export { ExpressionError } from './expression-error.ts';

const LEADING_FLAGS = /^\(\?([A-Za-z]+)\)/;
const FLAGS: Readonly<Record<string, string>> = { i: 'i', m: 'm', s: 's', a: '', u: '' };

/**
 * Compiles a regular expression of JavaScript that may also use spellings of Python: inline flags at the
 * start (`(?i)`, `(?ms)`; `a` and `u` change nothing), `(?P<n>…)`, `(?P=n)`, `(?#…)`, `\A`, `\Z`, `\a`,
 * `\U0001F600`, `{,3}`. It refuses syntax that JavaScript would silently interpret differently, such as `\h`, `[]` or a
 * reference to a missing group, because an expression that matches the wrong text masks nothing.
 *
 * `\w`, `\d` and `\b` only recognise ASCII, and `$` matches only at the very end (of a line with `(?m)`), as in JavaScript.
 * The result is global; it has the `u` flag only if the expression needs it (`\p{…}`, `\u{…}`, characters beyond
 * U+FFFF).
 *
 * @param rule names the rule in the error.
 * @throws ExpressionError that describes the problem.
 *
 * @example
 * compileExpression('(?i)(?P<quote>["\'])token(?P=quote)'); // /(?<quote>["'])token\k<quote>/gi
 */
export function compileExpression(source: string, rule?: string): RegExp {
  const { flags, body } = takeFlags(source, rule);
  let translation: Translation;
  try {
    translation = translate(body);
  } catch (error) {
    throw error instanceof ExpressionError ? error.of(rule) : error;
  }
  const allFlags = `g${flags}${translation.needsUnicode ? 'u' : ''}`;
  try {
    return new RegExp(translation.source, allFlags);
  } catch (error) {
    const prefix = `Invalid regular expression: /${translation.source}/${allFlags}: `;
    const { message } = error as Error;
    const reason = message.startsWith(prefix) ? message.slice(prefix.length) : message;
    throw new ExpressionError(hint(reason, source), rule);
  }
}

function takeFlags(source: string, rule: string | undefined): { flags: string; body: string } {
  const flags = new Set<string>();
  let body = source;
  for (let match = LEADING_FLAGS.exec(body); match !== null; match = LEADING_FLAGS.exec(body)) {
    for (const letter of match[1] as string) {
      const flag = FLAGS[letter];
      if (flag === undefined) {
        throw new ExpressionError(
          `the flag (?${letter}) is not supported; supported are i, m, s, a, u`,
          rule,
        );
      }
      flags.add(flag);
    }
    body = body.slice(match[0].length);
  }
  return { flags: [...flags].join(''), body };
}

const SCOPED_FLAGS = /\(\?[a-z]*-?[a-z]+:/i;
const LATE_FLAGS = /\(\?[a-z]+\)/i;
const POSSESSIVE = /[^(|][*+?}]\+/;

/** V8 says no more than "Invalid group" or "Nothing to repeat" of what people most often bring along. */
function hint(reason: string, source: string): string {
  if (reason === 'Nothing to repeat' && POSSESSIVE.test(source))
    return 'possessive quantifiers, as in a++ and a*+, are not supported; take the second + away';
  if (reason !== 'Invalid group') return reason;
  if (SCOPED_FLAGS.test(source)) {
    return 'flags for a part, as in (?i:…), are not supported by this Node.js; put (?i) at the very start';
  }
  if (LATE_FLAGS.test(source.replace(LEADING_FLAGS, '')))
    return 'flags, as in (?i), belong at the very start';
  if (source.includes('(?>')) return 'atomic groups, (?>…), are not supported';
  if (source.includes('(?(')) return 'conditional groups, (?(1)…|…), are not supported';
  return reason;
}
