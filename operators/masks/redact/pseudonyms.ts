import { map, type OperatorFunction } from 'rxjs';
import {
  BOOLEAN,
  type Check,
  checkOptions,
  checkRequired,
  checkValue,
  hasMethods,
} from '../../support/check-options.ts';
import { type TextStream, throughText } from '../../support/through-text.ts';
import { mapStrings } from '../map-strings.ts';
import type { Masked } from '../masked.ts';
import { REDACT_CHECKS, type RedactOptions, redactorOf } from './redact.ts';

/** Pseudonyms of one conversation, as `createPseudonyms` of `millrace/redact` makes them. */
export interface PseudonymTable {
  /** The pseudonym of a value that the rule `id` has found. Undefined if it gets none. */
  pseudonymOf(value: string, id: string): string | undefined;
  /** Whether a text is one of its pseudonyms. */
  isPseudonym(text: string): boolean;
  /** Replaces values that have a pseudonym, wherever they are in a text. */
  hide(text: string): string;
  /** Turns back the pseudonyms of a text that arrives in pieces. */
  stream(options: { readonly json?: boolean | undefined }): TextStream<string>;
}

const TABLE: Check = (value) =>
  hasMethods(value, 'pseudonymOf', 'isPseudonym', 'hide', 'stream') ||
  'a table of pseudonyms, such as createPseudonyms of millrace/redact returns';

export interface PseudonymOptions extends RedactOptions {
  /** The table: `createPseudonyms()` of `millrace/redact`. It says which rules' values get a pseudonym; `replace` has the others. */
  readonly table: PseudonymTable;
}

/**
 * Replaces values by pseudonyms such as `<:EMAIL_1:>`: the same value always gets the same pseudonym, and `restorePseudonyms` restores it.
 * Values that must not be restored, such as passwords, are masked as `redact` masks them. It takes strings or events. A value that
 * cannot be masked causes an error notification.
 *
 * Use it instead of `redact` when a reply to the masked text, such as the answer of a language model, needs the values again.
 *
 * @throws as `redactor`
 *
 * @example
 * const rules = { 'pii/contact:email': '\\b[a-z]{1,40}@[a-z.]{1,40}' };
 * of('Write to ada@example.org', 'Is ada@example.org here?').pipe(pseudonyms({ rules, table: createPseudonyms() }));
 * // 'Write to <:EMAIL_1:>', 'Is <:EMAIL_1:> here?'
 */
export function pseudonyms<T extends string | object>(
  options: PseudonymOptions,
): OperatorFunction<T, Masked<T>> {
  checkRequired('pseudonyms', options, { ...REDACT_CHECKS, table: TABLE }, ['rules', 'table']);
  const { table, ...redaction } = options;
  const { mask } = redactorOf(redaction, table);
  return map((value: T) => mapStrings(mask(value), (text) => table.hide(text)) as Masked<T>);
}

export interface RestorePseudonymsOptions {
  /** Whether the text is JSON: values are written with the escapes that its strings need. Default: false. */
  readonly json?: boolean | undefined;
}

/**
 * Restores the values of the pseudonyms in a text that arrives in pieces of any size. It holds back only what may become a pseudonym. It
 * emits strings, none of them empty. Pseudonyms of other tables stay as they are.
 *
 * Use it instead of `map` when the pieces of a text can cut a pseudonym.
 *
 * @param table the table of `pseudonyms`
 *
 * @example
 * const table = createPseudonyms();
 * table.pseudonymOf('ada@example.org', 'pii/contact:email'); // '<:EMAIL_1:>'
 * of('I wrote to <:EMA', 'IL_1:>.').pipe(restorePseudonyms(table)); // 'I wrote to ', 'ada@example.org.'
 */
export function restorePseudonyms(
  table: PseudonymTable,
  options: RestorePseudonymsOptions = {},
): OperatorFunction<string, string> {
  checkValue('restorePseudonyms', 'table', table, TABLE);
  checkOptions('restorePseudonyms', options, { json: BOOLEAN });
  return throughText(() => table.stream(options));
}
