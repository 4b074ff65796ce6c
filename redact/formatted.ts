import { format } from 'node:util';
import type { Redactor } from './create-redactor.ts';

/** The tokens of a message, each of which takes a value: `%s` and `%d` of `%s has %d%%`. */
export const tokensOf = (message: string): readonly string[] =>
  (message.match(/%[sdifjoOc%]/g) ?? []).filter((token) => token !== '%%');

/**
 * A message and the values of its tokens, masked together: what a value is can be in the message. The message is the formatted
 * one, and no values are left, if something is found in that.
 */
export function redactedFormatted(
  redactor: Redactor,
  message: string,
  values: readonly unknown[],
): readonly [message: string, values: readonly unknown[]] {
  if (values.length === 0) return [redactor.redact(message), []];
  const masked = values.map((value): unknown => redactor.redact(value));
  const written = format(
    message.replace(/%[%oO]/g, (token) => (token === '%%' ? token : '%j')),
    ...masked,
  );
  const redacted = redactor.redact(written);
  return redacted === written ? [message, masked] : [redacted, []];
}
