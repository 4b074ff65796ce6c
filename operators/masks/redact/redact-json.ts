import { map, type OperatorFunction } from 'rxjs';
import { checkRequired } from '../../support/check-options.ts';
import { maskJson, UNMASKABLE } from './mask-json.ts';
import { REDACT_CHECKS, type RedactOptions, redactorOf } from './redact.ts';

/**
 * Masks JSON documents, such as the lines of a structured log. Each stays a JSON document: keys help to find the secrets in their values, a
 * number that is masked becomes a string, and integers keep all their digits. A string that is not JSON is masked as a string. What
 * cannot be masked, such as the bytes of a Buffer, becomes `<:unmaskable:>`.
 *
 * Use it instead of `redact` when events are strings of JSON: a secret with quotes, escapes or line breaks is found in the form that it
 * had before it was written as JSON.
 *
 * @throws as `redactor`
 *
 * @example
 * of('{"user":"ada","pin":"1234"}').pipe(redactJson({ rules: { PIN: { match: 'pin"?: ?"?([0-9]{4})', mask: 1, keywords: ['pin'] } } }));
 * // '{"user":"ada","pin":"<:PIN:>"}'
 */
export function redactJson(options: RedactOptions): OperatorFunction<string, string> {
  checkRequired('redactJson', options, REDACT_CHECKS, ['rules']);
  const redactor = redactorOf(options);
  const masks = {
    value: (value: unknown) => redactor.maskValue(value, () => UNMASKABLE, Number.POSITIVE_INFINITY),
    text: (text: string) => redactor.maskText(text),
  };
  return map((json) => maskJson(json, masks));
}
