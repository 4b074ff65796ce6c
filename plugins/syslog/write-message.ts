import { type CollectedEvent, toJson, toUtc } from '../../src/sdk/index.ts';
import { FACILITIES, SEVERITIES } from './parse-message.ts';

/** What a part of a message is made of; undefined: what the event has in the field of that name. */
export interface MessageValues {
  readonly facility?: GivenValue | undefined;
  readonly severity?: GivenValue | undefined;
  readonly hostname?: GivenValue | undefined;
  readonly appname?: GivenValue | undefined;
  readonly procid?: GivenValue | undefined;
  readonly msgid?: GivenValue | undefined;
  readonly message?: GivenValue | undefined;
}
type GivenValue = (event: CollectedEvent) => unknown;

/** Characters that RFC 5424 allows for each. */
const LONGEST = { hostname: 255, appname: 48, procid: 128, msgid: 32 } as const;
/** Of an element or a parameter. */
const LONGEST_NAME = 32;

const DEFAULT_FACILITY = FACILITIES.indexOf('user');
const DEFAULT_SEVERITY = SEVERITIES.indexOf('notice');
const OTHER_SEVERITIES: Readonly<Record<string, (typeof SEVERITIES)[number]>> = {
  ...{ panic: 'emerg', emergency: 'emerg', critical: 'crit', fatal: 'crit', error: 'err', warn: 'warning' },
  ...{ informational: 'info', trace: 'debug' },
};

/** Writes an event as a message of RFC 5424. Control characters and spaces in its header become `_`. */
export type MessageWriter = (event: CollectedEvent) => string;

/**
 * @param host the host name of an event that did not come by syslog
 * @example
 * const write = messageWriter({}, 'web1');
 * write({ timestamp: '2026-01-02T03:04:05.678Z', data: { severity: 'err', appname: 'nginx', message: 'down' } });
 * // '<11>1 2026-01-02T03:04:05.678Z web1 nginx - - - down'
 */
export function messageWriter(values: MessageValues, host: string): MessageWriter {
  const given = (name: keyof MessageValues, event: CollectedEvent) =>
    values[name]?.(event) ?? event.data[name];
  const word = (name: keyof typeof LONGEST, event: CollectedEvent, otherwise?: string) =>
    headerWord(given(name, event) ?? otherwise, LONGEST[name]);
  const time = headerTimes();
  return (event) => {
    const facility = facilityOf(given('facility', event));
    const severity = severityOf(given('severity', event) ?? event.data.level);
    // What came by syslog without a host name is not of this host.
    const hostname = word('hostname', event, event.data.facility === undefined ? host : undefined);
    const header = [
      `<${facility * 8 + severity}>1 ${time(event.timestamp)} ${hostname}`,
      ...[word('appname', event), word('procid', event), word('msgid', event)],
      structuredData(event.data.structured_data),
    ].join(' ');
    const text = messageOf(given('message', event) ?? event.data.line ?? event.data);
    return text === '' ? header : `${header} ${text}`;
  };
}

/** A time of RFC 5424: more digits of a second than that allows, and another zone designator, would make the header invalid. */
const RFC_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*(Z|[+-]\d\d:\d\d)$/;
/** Of `2026-01-02T03:04:05.678Z`; years after 9999 have more. */
const ISO_LENGTH = 24;

/** Writes timestamps. Events that were read together have the same one, which is parsed once. */
function headerTimes(): (timestamp: unknown) => string {
  let last: unknown;
  let text = '-';
  return (timestamp) => {
    if (timestamp !== last) {
      last = timestamp;
      text = typeof timestamp === 'string' ? headerTime(timestamp) : '-';
    }
    return text;
  };
}

/** `-` stands for what is not a date. */
function headerTime(timestamp: string): string {
  const time = Date.parse(timestamp);
  if (Number.isNaN(time)) return '-';
  const [, start, zone] = RFC_TIME.exec(timestamp) ?? [];
  // `Date` takes 30 February for 2 March; others need not.
  if (start !== undefined && toUtc(timestamp) !== undefined) return `${start}${zone}`;
  const text = new Date(time).toISOString();
  return text.length === ISO_LENGTH ? text : '-';
}

function messageOf(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value);
}

function facilityOf(value: unknown): number {
  if (typeof value === 'number' && value in FACILITIES) return value;
  const index = FACILITIES.indexOf(String(value).toLowerCase() as (typeof FACILITIES)[number]);
  return index < 0 ? DEFAULT_FACILITY : index;
}

function severityOf(value: unknown): number {
  if (typeof value === 'number' && value in SEVERITIES) return value;
  const name = String(value).toLowerCase();
  const known = Object.hasOwn(OTHER_SEVERITIES, name) ? OTHER_SEVERITIES[name] : name;
  const index = SEVERITIES.indexOf(known as (typeof SEVERITIES)[number]);
  return index < 0 ? DEFAULT_SEVERITY : index;
}

/** `-` stands for no value. */
function headerWord(value: unknown, longest: number): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '-';
  return (
    String(value)
      .slice(0, longest)
      .replace(/[^\x21-\x7e]/g, '_') || '-'
  );
}

function structuredData(value: unknown): string {
  if (!isRecord(value)) return '-';
  const idOf = distinctNames();
  const elements = Object.entries(value).map(([id, parameters]) => {
    const paramOf = distinctNames();
    const entries = isRecord(parameters) ? Object.entries(parameters) : [['value', parameters] as const];
    const written = entries.flatMap(([key, one]) => {
      const name = paramOf(key);
      return [one].flat().map((each) => parameter(name, each));
    });
    return `[${[idOf(id), ...written].join(' ')}]`;
  });
  return elements.join('') || '-';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parameter(name: string, value: unknown): string {
  return `${name}="${messageOf(value ?? '').replace(/["\\\]]/g, '\\$&')}"`;
}

/** Names as RFC 5424 allows them. Different ones stay different: those that become equal get a number. */
function distinctNames(): (name: string) => string {
  const used = new Set<string>();
  const numbers = new Map<string, number>();
  return (name) => {
    const allowed = nameOf(name);
    let written = allowed;
    while (used.has(written)) {
      const number = (numbers.get(allowed) ?? 1) + 1;
      numbers.set(allowed, number);
      const end = `_${number}`;
      written = allowed.slice(0, LONGEST_NAME - end.length) + end;
    }
    used.add(written);
    return written;
  };
}

function nameOf(name: string): string {
  return name.slice(0, LONGEST_NAME).replace(/[^\x21-\x7e]|[="\]]/g, '_') || '_';
}
