import { isoNow, type ParsedFields } from '../../src/sdk/index.ts';
import { parseJsonValue } from '../parse/formats.ts';
import type { Answer, Endpoint, ReceivedRequest, RequestEvents } from './endpoint.ts';
import { Refusal } from './refusal.ts';
import { eventsOf, jsonRows, lineEvents, textOf } from './request-events.ts';

// Splunk's HTTP Event Collector, as its senders use it. An answer has a text and a code of Splunk's.

const BASE = '/services/collector';
/** The name of the field with what HEC says of an event. */
const FIELD = 'hec';
const METADATA = ['host', 'source', 'sourcetype', 'index', 'fields'] as const;

/** A refusal that has a code of its own. */
class HecRefusal extends Refusal {
  readonly code: number;

  constructor(code: number, message: string, position?: number) {
    super(400, message, position === undefined ? {} : { position });
    this.code = code;
  }
}

/** The endpoints of HEC, by their paths. `nextAckId` counts the requests of channels. */
export function hecEndpoints(nextAckId: () => number): ReadonlyMap<string, Endpoint> {
  const auth = { tokenScheme: 'splunk', tokenAsPassword: true };
  const answer: Endpoint['answer'] = (result, request) => hecAnswer(result, request, nextAckId);
  const events: Endpoint = { method: 'POST', auth, read: ({ body }) => readEvents(body), answer };
  const raw: Endpoint = { method: 'POST', auth, read: readRaw, answer };
  const nothing = eventsOf(jsonRows([]));
  const health: Endpoint = {
    method: 'GET',
    auth: undefined,
    read: ({ isFull }) => ({
      ...nothing,
      answer: isFull ? text(503, 18, 'HEC is unhealthy, queues are full') : text(200, 17, 'HEC is healthy'),
    }),
    answer,
  };
  const ack: Endpoint = {
    method: 'POST',
    auth,
    answer,
    read: ({ body }) => ({
      ...nothing,
      answer: { status: 200, body: json({ acks: acknowledgementsOf(body) }) },
    }),
  };
  const named: Readonly<Record<string, Endpoint>> = {
    '': events,
    '/event': events,
    '/raw': raw,
    '/health': health,
  };
  const withVersions = Object.entries(named).flatMap(([name, endpoint]): [string, Endpoint][] => [
    [`${BASE}${name}`, endpoint],
    [`${BASE}${name}/1.0`, endpoint],
  ]);
  return new Map([...withVersions, [`${BASE}/ack`, ack]]);
}

/**
 * The events of a body: objects one after the other, with or without white space between them. Text becomes `line`, the
 * fields of an object those of the event.
 */
function readEvents(body: Buffer): RequestEvents {
  const fields: ParsedFields[] = [];
  const timestamps: string[] = [];
  const now = isoNow();
  const json = textOf(body);
  for (const text of objectsIn(json)) {
    const position = fields.length;
    const value = parseJsonValue(text) as ParsedFields | undefined;
    if (value === undefined) throw invalid(position);
    const { event, time } = value;
    if (event === undefined || event === null) throw new HecRefusal(12, 'Event field is required', position);
    if (event === '') throw new HecRefusal(13, 'Event field cannot be blank', position);
    fields.push(withMetadata(dataOf(event), value));
    const timestamp = time === undefined || time === null ? now : timeOf(time);
    if (timestamp === undefined) throw invalid(position);
    timestamps.push(timestamp);
  }
  if (fields.length === 0) throw new HecRefusal(5, 'No data');
  return eventsOf(jsonRows(fields, timestamps));
}

const invalid = (position: number) => new HecRefusal(6, 'Invalid data format', position);

/** The objects of JSON that stand one after the other. */
function* objectsIn(json: string): Generator<string> {
  const next = /["{}]/g;
  let position = 0;
  let depth = 0;
  let start = 0;
  for (let match = next.exec(json); match !== null; match = next.exec(json)) {
    if (match[0] === '"') next.lastIndex = endOfString(json, match.index);
    else if (match[0] === '{') {
      if (depth === 0 && json.slice(start, match.index).trim() !== '') throw invalid(position);
      if (depth === 0) start = match.index;
      depth++;
    } else if (--depth <= 0) {
      if (depth < 0) throw invalid(position);
      yield json.slice(start, next.lastIndex);
      start = next.lastIndex;
      position++;
    }
  }
  if (depth !== 0 || json.slice(start).trim() !== '') throw invalid(position);
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}

function dataOf(event: unknown): ParsedFields {
  if (typeof event === 'string') return { line: event };
  const isObject = typeof event === 'object' && !Array.isArray(event);
  return isObject && !Object.hasOwn(event as object, FIELD) ? (event as ParsedFields) : { event };
}

function withMetadata(data: ParsedFields, value: ParsedFields): ParsedFields {
  let metadata: ParsedFields | undefined;
  for (const name of METADATA) {
    if (value[name] === undefined || value[name] === null) continue;
    metadata ??= {};
    metadata[name] = value[name];
  }
  if (metadata !== undefined) data[FIELD] = metadata;
  return data;
}

/** Seconds since 1970 with a fraction, as a number or a string. Larger numbers count milli-, micro- or nanoseconds. */
function timeOf(time: unknown): string | undefined {
  const seconds = typeof time === 'string' && time.trim() !== '' ? Number(time) : time;
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined;
  const unit = seconds < 1e11 ? 1000 : seconds < 1e14 ? 1 : seconds < 1e17 ? 1e-3 : 1e-6;
  const date = new Date(Math.round(seconds * unit));
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** The lines of a body. What the query says of them is the same for all. */
function readRaw({ body, query, memory }: ReceivedRequest): RequestEvents {
  if (body.length === 0) throw new HecRefusal(5, 'No data');
  const said = METADATA.filter((name) => name !== 'fields' && query.has(name));
  if (said.length === 0) return lineEvents(body, `${BASE}/raw`, memory);
  const metadata = Object.fromEntries(said.map((name) => [name, query.get(name)]));
  const lines = textOf(body)
    .split(/\r?\n/)
    .filter((line) => line !== '');
  const rows = jsonRows(lines.map((line) => ({ line, [FIELD]: { ...metadata } })));
  return eventsOf(rows, JSON.stringify(metadata).length);
}

/** A client gets the id of a request after its events were acknowledged, so each id that it asks for is. */
function acknowledgementsOf(body: Buffer): Record<string, boolean> {
  const { acks } = (parseJsonValue(textOf(body)) ?? {}) as { acks?: unknown };
  if (!Array.isArray(acks)) throw new HecRefusal(6, 'Invalid data format');
  return Object.fromEntries(acks.filter(Number.isSafeInteger).map((id) => [String(id), true]));
}

function hecAnswer(
  result: number | Refusal,
  { headers, query }: Pick<ReceivedRequest, 'headers' | 'query'>,
  nextAckId: () => number,
): Answer {
  if (typeof result === 'number') {
    const hasChannel = headers['x-splunk-request-channel'] !== undefined || query.has('channel');
    const ackId = hasChannel ? { ackId: nextAckId() } : {};
    return { status: 200, body: json({ text: 'Success', code: 0, ...ackId }) };
  }
  const { status, position } = result;
  if (result instanceof HecRefusal) return text(400, result.code, result.message, position);
  if (status === 401)
    return headers.authorization === undefined
      ? text(401, 2, 'Token is required')
      : text(403, 4, 'Invalid token');
  if (status === 400) return text(400, 6, 'Invalid data format', position);
  if (status === 413) return text(413, 27, result.message);
  if (status === 429 || status === 503) return busy(result);
  return text(status, 8, result.message);
}

/** Senders of HEC give up on a status below 500, such as 429. */
const busy = ({ message }: Refusal) => text(503, 9, `Server is busy: ${message}`);

function text(status: number, code: number, text: string, position?: number): Answer {
  const number = position === undefined ? {} : { 'invalid-event-number': position };
  return { status, body: json({ text, code, ...number }) };
}

const json = (value: unknown): string => JSON.stringify(value);
