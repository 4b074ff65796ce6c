import type { CollectedEvent } from '../../sdk/events.ts';
import { type LineEnvelope, LineEvents } from '../../sdk/line-events.ts';
import { ParsedEvents, type ParsedFields } from '../../sdk/parsed-events.ts';
import type { Rows } from '../../sdk/rows.ts';
import { copyOfJson, isJson } from '../rows-of-events.ts';
import { CONTENT } from './sample-events.ts';
import { sampleEnvelopes, sampleLines } from './sample-lines.ts';
import type { Subject } from './subject.ts';

type Samples = Pick<Subject, 'events' | 'secret'>;

/** What a processor may get as rows: each call makes them again, because a mapping may change what it is given. */
export function sampleRows(subject: Samples): (() => Rows)[] {
  const fields = sampleFields(subject);
  const timestamps = fields.map((_, n) => `2026-01-02T03:04:05.${String(n % 1000).padStart(3, '0')}Z`);
  const envelopes = sampleEnvelopes(subject.secret);
  const [first, ...others] = envelopes.filter(({ isTruncated }) => !isTruncated);
  const parsed = (envelope: LineEnvelope, times?: readonly string[]) => () =>
    new ParsedEvents(copyOfJson(fields) as ParsedFields[], envelope, times);
  return [
    parsed(first as LineEnvelope),
    ...others.map((envelope) => parsed(envelope, timestamps)),
    ...envelopes.map((envelope) => () => LineEvents.of(sampleLines(subject), envelope)),
  ];
}

/** Rows of which the events have been created and are held by somebody else: they are frozen. */
export function heldRows(rows: Rows, events: readonly CollectedEvent[]): Rows {
  if (!(rows instanceof ParsedEvents)) return rows;
  const fields = events.map(({ data }) => data as ParsedFields);
  return new ParsedEvents(fields, rows.envelope, rows.timestamps, events);
}

/** The data of the events that a plugin is to be checked with, as far as lines can be parsed to it, and odd data. */
function sampleFields({ events, secret }: Samples): ParsedFields[] {
  const given = events.flatMap(({ data }) => (isJson(data) ? [copyOfJson(data) as ParsedFields] : []));
  const secrets: ParsedFields[] =
    secret === undefined
      ? []
      : [
          { line: secret, source: 'app.log' },
          { message: `${secret} and ${secret}`, level: 'info' },
          { user: { tokens: [{ value: secret }, 'x'] }, [secret]: 1 },
          JSON.parse(`{"__proto__":${JSON.stringify(secret)}}`),
        ];
  return [
    ...given,
    ...secrets,
    {},
    { line: 'GET /index.html 200', source: 'app.log' },
    { line: 7, source: null, message: '', level: 'warn' },
    {
      status: 404,
      ratio: 0.25,
      big: 2 ** 53,
      ok: false,
      none: null,
      list: [1, 'two', [3]],
      deep: { a: { b: {} } },
    },
    { message: `a "quoted" word, half of a pair \ud800, 😀, NUL \0, a line end \u2028\n` },
    { message: `${CONTENT} `.repeat(500) },
    JSON.parse('{"__proto__":{"a":"b"},"constructor":"c","toString":"d"}'),
    ...given,
  ];
}
