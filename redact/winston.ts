// Masks what winston logs, as a format.

import { format, stripVTControlCharacters } from 'node:util';
import { checkRedactor } from './check-redactor.ts';
import type { Redactor } from './create-redactor.ts';
import { isError, read, redactedError, redactedFields, unmaskable } from './errors.ts';
import { redactedFormatted, tokensOf } from './formatted.ts';

/** The symbols under which winston keeps the level, the line and the arguments of an entry: see triple-beam. */
const LEVEL = Symbol.for('level');
const MESSAGE = Symbol.for('message');
const SPLAT = Symbol.for('splat');

/** What stands in place of a value that is masked in the message. */
const REPLACED = '<:redacted:>';

type Info = Record<string | symbol, unknown>;

/** A format of winston, as far as `combine` and transports need it. */
export interface RedactedFormat {
  readonly options: object;
  // biome-ignore lint/suspicious/noExplicitAny: an info of winston, whose type other versions of logform have too.
  transform(info: any): any;
}

/**
 * Returns a format for winston. It masks all fields of an entry, the message together with the values of its `%s`, and the line that
 * another format has made of the entry. It works anywhere in `format.combine`; put it last to mask what other formats add. `level`
 * and `timestamp` stay as they are.
 *
 * @example
 * const { transform } = redactedFormat(createRedactor());
 * transform({ level: 'info', message: 'login', password: 'Tr0ub4dor&3' });
 * // { level: 'info', message: 'login', password: '<:password:>' }
 */
export function redactedFormat(redactor: Redactor): RedactedFormat {
  checkRedactor('redactedFormat', redactor);
  return { options: {}, transform: (info: Info) => infoOrLevel(redactor, info) };
}

/** A program must not fail because of what it logs: a Proxy can throw at whatever is asked of it. */
function infoOrLevel(redactor: Redactor, info: Info): Info {
  try {
    return redactedInfo(redactor, info);
  } catch {
    const message = unmaskable(redactor);
    const written = read(info, 'level');
    const level = isLevel(written, undefined) ? written : 'error';
    return { level, [LEVEL]: level, message, [MESSAGE]: message };
  }
}

function redactedInfo(redactor: Redactor, info: Info): Info {
  // `logger.error(new Error(…))`: the format `errors` needs an error, also after this one.
  const shown = isError(info)
    ? (redactedError(redactor, info) as unknown as Info)
    : (redactedFields(redactor, info) as Info);
  const level = info[LEVEL];
  if (level !== undefined) shown[LEVEL] = level;
  if (isLevel(info.level, level)) shown.level = info.level;
  if (isTimestamp(info.timestamp)) shown.timestamp = info.timestamp;
  const splat = info[SPLAT] ?? info.splat;
  const hidden = Array.isArray(splat) ? hiddenValues(redactor, info.message, splat) : [];
  const withoutHidden = (values: readonly unknown[]) =>
    values.map((value) => (hidden.includes(value as string) ? REPLACED : value));
  if (Array.isArray(splat)) shown[SPLAT] = withoutHidden(redactedSplat(redactor, info.message, splat, shown));
  if (Array.isArray(shown.splat)) shown.splat = withoutHidden(shown.splat);
  const line = info[MESSAGE];
  if (typeof line === 'string') {
    const masked = line.startsWith('{') ? redactor.redactJson(line) : redactor.redact(line);
    shown[MESSAGE] = hidden.reduce(
      (text, value) => text.replaceAll(JSON.stringify(value), `"${REPLACED}"`),
      masked,
    );
  } else if (line !== undefined) shown[MESSAGE] = redactor.redact(line);
  return shown;
}

/** Values of a message that are secrets because of what is around them there. In a list of values, nothing says so. */
function hiddenValues(redactor: Redactor, message: unknown, splat: readonly unknown[]): readonly string[] {
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (typeof message !== 'string' || !splat.some(isText)) return [];
  // The format `splat` may have put them into it.
  const shown = [message, format(message, ...splat)].map((text) => [text, redactor.redact(text)] as const);
  return splat
    .filter(isText)
    .filter((value) => shown.some(([text, masked]) => text.includes(value) && !masked.includes(value)));
}

/** What is left for the format `splat` after the message, which is set. */
function redactedSplat(
  redactor: Redactor,
  message: unknown,
  splat: readonly unknown[],
  shown: Info,
): unknown[] {
  const mask = (value: unknown) => (isError(value) ? redactedError(redactor, value) : redactor.redact(value));
  if (typeof message !== 'string') return splat.map(mask);
  const count = tokensOf(message).length;
  const others = splat.slice(count).map(mask);
  const [text, values] = redactedFormatted(redactor, message, splat.slice(0, count));
  shown.message = text;
  if (values.length > 0 || count === 0) return [...values, ...others];
  // The format `splat` would take signs of percent in the text for tokens. What it does with the other values is done here.
  Object.assign(shown, ...others);
  return [];
}

/** With colours, in capital letters, or padded. */
function isLevel(value: unknown, level: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (level === undefined) return /^[a-z]{1,20}$/i.test(value);
  return stripVTControlCharacters(value).trim().toLowerCase() === String(level).toLowerCase();
}

const isTimestamp = (value: unknown) =>
  typeof value === 'number' ||
  (typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?$/.test(value));
