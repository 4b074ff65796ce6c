import type { ParsedFields } from '../../src/sdk/index.ts';
import { setField } from '../expressions/fields.ts';
import { timeReader } from '../parse/timestamp.ts';

/** The names of the severities, by their numbers, as in RFC 5424 and in the configuration of syslog daemons. */
export const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] as const;

/** The names of the facilities, by their numbers. */
export const FACILITIES = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp'],
  ...['ntp', 'audit', 'alert', 'clock'],
  ...['local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
] as const;

/** `user.notice`: what RFC 3164 says of a message without a priority. */
const DEFAULT_PRIORITY = 13;
const HIGHEST_PRIORITY = 191;
const BYTE_ORDER_MARK = 0xfeff;

export interface Message {
  readonly fields: ParsedFields;
  /** Undefined if the message has no valid time. */
  readonly timestamp: string | undefined;
}

/** Parses a message. `received` is the time at which it came, from which the year of a time without one follows. */
export type MessageParser = (text: string, source: string, received: string) => Message;

/**
 * Reads RFC 5424, RFC 3164 and what is like them, as rsyslog does: a message never fails. What is missing is left out, and
 * what is not recognised stays in `message`.
 *
 * @param zone of times that name none. Default: UTC.
 * @example
 * const message = '<165>1 2026-01-02T03:04:05.678Z web1 nginx 42 - - up';
 * messageParser()(message, '10.0.0.7', '2026-01-02T03:04:06.000Z').fields.hostname; // 'web1'
 */
export function messageParser(zone?: string): MessageParser {
  const inZone = messageTimes(zone);
  const inUtc = messageTimes(undefined);
  return (text, source, received) => {
    const timeOf: TimeOf = (time, name) =>
      name === 'UTC' || name === 'GMT' ? inUtc(time, received) : inZone(time, received);
    const fields: ParsedFields = {};
    const start = readPriority(text, fields);
    const timestamp = startsWithVersion(text, start)
      ? readStructured(text, start, fields, timeOf)
      : readTraditional(text, start, fields, timeOf);
    fields.source = source;
    return { fields, timestamp };
  };
}

/** Reads a time that was written with the name of its zone, or without one. */
type TimeOf = (time: string, zone?: string) => string | undefined;

/** Sets the facility and the severity. Returns the position after the priority. */
function readPriority(text: string, fields: ParsedFields): number {
  const end = text.charCodeAt(0) === LESS_THAN ? text.indexOf('>', 2) : -1;
  const digits = end > 0 && end <= 4 ? text.slice(1, end) : '';
  const number = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  const isPriority = number <= HIGHEST_PRIORITY;
  const priority = isPriority ? number : DEFAULT_PRIORITY;
  fields.facility = FACILITIES[priority >> 3];
  fields.severity = SEVERITIES[priority & 7];
  return isPriority ? end + 1 : 0;
}

const LESS_THAN = 0x3c;

/** The version of RFC 5424, and the start of a time or what stands for none. */
const VERSION = /1(?: (?:- |\d{4}-)|$)/y;

function startsWithVersion(text: string, start: number): boolean {
  VERSION.lastIndex = start;
  return start > 0 && VERSION.test(text);
}

const FIELDS = ['hostname', 'appname', 'procid', 'msgid'] as const;

/** RFC 5424. Returns the time. A header that ends early is read as far as it goes. */
function readStructured(
  text: string,
  start: number,
  fields: ParsedFields,
  timeOf: TimeOf,
): string | undefined {
  let at = start + 2;
  const next = (): string => {
    const space = text.indexOf(' ', at);
    const end = space < 0 ? text.length : space;
    const value = text.slice(at, end);
    at = end + 1;
    return value;
  };
  const time = next();
  const timestamp = time === '-' ? undefined : timeOf(time);
  for (const name of FIELDS) {
    const value = next();
    if (value !== '-' && value !== '') fields[name] = value;
  }
  const { elements, end } = readStructuredData(text, at);
  if (elements !== undefined) fields.structured_data = elements;
  fields.message = withoutByteOrderMark(text, end);
  return timestamp;
}

function withoutByteOrderMark(text: string, start: number): string {
  return text.slice(text.charCodeAt(start) === BYTE_ORDER_MARK ? start + 1 : start);
}

type Parameters = Record<string, string | string[]>;
type Elements = Record<string, Parameters>;

/** Structured data, and where the message after it starts. What is not structured data is a part of the message. */
function readStructuredData(text: string, start: number): { elements?: Elements; end: number } {
  const isAt = (position: number, character: string) => text[position] === character;
  const isEnd = (position: number) => position >= text.length || isAt(position, ' ');
  const afterSpace = (position: number) => Math.min(position + 1, text.length);
  if (isAt(start, '-') && isEnd(start + 1)) return { end: afterSpace(start + 1) };
  const elements: Elements = {};
  let at = start;
  while (isAt(at, '[')) {
    const id = nameAt(text, at + 1);
    if (id === '') return { end: start };
    at += 1 + id.length;
    const parameters = ownValue(elements, id) ?? {};
    setField(elements, id, parameters);
    while (isAt(at, ' ')) {
      while (isAt(at, ' ')) at++;
      const name = nameAt(text, at);
      const from = at + name.length + 2;
      const to = text.startsWith('="', from - 2) && name !== '' ? closingQuote(text, from) : -1;
      if (to < 0) return { end: start };
      addParameter(parameters, name, unescaped(text.slice(from, to)));
      at = to + 1;
    }
    if (!isAt(at, ']')) return { end: start };
    at++;
  }
  return at > start && isEnd(at) ? { elements, end: afterSpace(at) } : { end: start };
}

/** Longer names than the 32 characters of the RFC are in use. */
const NAME = /[^\s=\]"]{1,255}/y;

/** The name of an element or a parameter; empty if there is none. */
function nameAt(text: string, position: number): string {
  NAME.lastIndex = position;
  return NAME.exec(text)?.[0] ?? '';
}

/** The position of the next quote without a backslash before it; -1 if there is none. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (before > from && text[before - 1] === '\\') before--;
    if ((at - before) % 2 === 0) return at;
  }
  return -1;
}

function unescaped(value: string): string {
  return value.includes('\\') ? value.replace(/\\(["\\\]])/g, '$1') : value;
}

/** A parameter that is there more than once has a list of values. */
function addParameter(parameters: Parameters, name: string, value: string): void {
  const known = ownValue(parameters, name);
  if (known === undefined) setField(parameters, name, value);
  else if (typeof known === 'string') setField(parameters, name, [known, value]);
  else known.push(value);
}

function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

const CLOCK = String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`;
/** Cisco writes a number in front of the time, and a mark if its clock is not set. */
const TIME = new RegExp(
  String.raw` *(?:\d{1,10}: )?[*.]?(?:` +
    String.raw`(\d{4}-\d\d-\d\d[Tt ]${CLOCK}(?:[Zz]|[+-]\d\d:?\d\d)?)|` +
    String.raw`([A-Z][a-z]{2} [ \d]?\d (?:\d{4} )?${CLOCK}(?: \d{4}(?=[ :]))?)(?: ([A-Z]{3,5})(?=:))?` +
    ')(:?)(?: |$)',
  'y',
);
/** `app[42]: `, `app: ` or `app[42] `. */
const TAG = /([^\s:[\]]{1,255})(?:\[([^\s[\]]{0,255})\](?::? |:|$)|:(?: |$))/y;

/** RFC 3164, and what is not RFC 5424. Returns the time. */
function readTraditional(
  text: string,
  start: number,
  fields: ParsedFields,
  timeOf: TimeOf,
): string | undefined {
  TIME.lastIndex = start;
  const [, iso, traditional, zone, colon] = TIME.exec(text) ?? [];
  const time = iso ?? traditional;
  const timestamp = time === undefined ? undefined : timeOf(time, zone);
  let at = timestamp === undefined ? start : TIME.lastIndex;
  if (timestamp !== undefined && colon === '' && !isTagAt(text, at)) {
    const space = text.indexOf(' ', at);
    // A single word is the message.
    if (space > at) {
      const hostname = text.slice(at, space);
      if (hostname !== '-') fields.hostname = hostname;
      at = space + 1;
    }
  }
  // Without a priority and a time, it is just text.
  if (at > 0 && isTagAt(text, at)) {
    const [, appname, procid] = execAt(TAG, text, at) ?? [];
    fields.appname = appname;
    if (procid) fields.procid = procid;
    at = TAG.lastIndex;
  }
  fields.message = text.slice(at);
  return timestamp;
}

const isTagAt = (text: string, position: number) => execAt(TAG, text, position) !== null;

function execAt(expression: RegExp, text: string, position: number): RegExpExecArray | null {
  expression.lastIndex = position;
  return expression.exec(text);
}

/** Seconds that are remembered: messages that follow each other often have the same one. */
const MOST_REMEMBERED = 1000;

/** Reads times, each second once. */
function messageTimes(zone: string | undefined): (text: string, received: string) => string | undefined {
  const read = timeReader({ zone });
  const known = new Map<string, string | undefined>();
  let hour = '';
  return (text, received) => {
    // A year that is missing follows from the time at which the message came.
    if (known.size >= MOST_REMEMBERED || !received.startsWith(hour)) known.clear();
    hour = received.slice(0, HOUR_LENGTH);
    const [start, end] = fractionOf(text);
    const second = end === start ? text : text.slice(0, start) + text.slice(end);
    let time = known.get(second);
    if (time === undefined && !known.has(second)) {
      time = read(second, received);
      known.set(second, time);
    }
    if (time === undefined || end === start) return time;
    return `${time.slice(0, SECOND_LENGTH)}.${text.slice(start + 1, Math.min(end, start + 4)).padEnd(3, '0')}Z`;
  };
}

/** Characters of a time in UTC up to the hour, and up to the second. */
const HOUR_LENGTH = '2026-01-02T03'.length;
const SECOND_LENGTH = '2026-01-02T03:04:05'.length;

/** Where the fraction of the second starts, and where it ends. */
function fractionOf(text: string): readonly [start: number, end: number] {
  const dot = text.indexOf('.');
  const start = dot < 0 ? text.indexOf(',') : dot;
  if (start < 0) return [0, 0];
  let end = start + 1;
  while (text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end++;
  return end === start + 1 ? [0, 0] : [start, end];
}

const ZERO = 0x30;
const NINE = 0x39;
