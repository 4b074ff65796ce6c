import { ExpressionError } from './expression-error.ts';

/**
 * JavaScript's spelling of a backslash and a letter. Python's anchors `\A` and `\Z` become look-arounds.
 *
 * @throws ExpressionError for an escape that neither knows: JavaScript would take it for the bare letter.
 */
export function letterEscape(letter: string, inClass: boolean): string {
  if (letter === 'a') return '\\x07';
  if ('dDsSwWfnrtvb'.includes(letter)) return `\\${letter}`;
  if (inClass) throw notKnown(`\\${letter}`, true);
  if (letter === 'B') return '\\B';
  if (letter === 'A') return '(?<![\\s\\S])';
  if (letter === 'Z' || letter === 'z') return '(?![\\s\\S])';
  throw notKnown(`\\${letter}`, false);
}

export function notKnown(text: string, inClass: boolean): ExpressionError {
  const advice = /^\\[pP]/.test(text) ? `; a property stands in braces, as in ${text}{L}` : '';
  return new ExpressionError(`the escape ${text} is not known${inClass ? ' inside […]' : ''}${advice}`);
}
