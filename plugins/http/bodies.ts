import { Buffer } from 'node:buffer';
import * as cel from '@marcbachmann/cel-js';
import { type CollectedEvent, parseJson, toJson, toJsonLine } from '../../src/sdk/index.ts';
import { CelExpression } from '../expressions/cel.ts';
import { toJsonValue } from '../expressions/json-value.ts';
import { CelProgram, type Scope, visit } from '../expressions/program.ts';
import { EventDocuments, flatLine, JSON_ARRAY, LineDocuments, type LineForm } from './documents.ts';
import { flatLines } from './event-lines.ts';
import { type EncodedCall, encodedCall } from './http-sink.ts';

/** What the expression of a body can read. */
export const OF_BATCH: Scope = {
  variables: { events: 'list' },
  hint: 'each of them is the payload of an event',
};

/** Whether a valid expression of a body has something of the events. */
export function readsEvents(body: string): boolean {
  let isRead = false;
  visit(new CelProgram(body, cel, OF_BATCH, 'body').ast, ({ op, args }) => {
    if (op === 'id' && args === 'events') isRead = true;
  });
  return isRead;
}

export interface BodySettings {
  readonly format: 'ndjson' | 'json_array' | 'json' | 'lines';
  readonly payload: 'event' | 'flat' | { readonly cel: string };
  readonly body?: string | undefined;
}

/** How the events of a call become the bodies of requests. */
interface Bodies {
  ofEvents(events: readonly CollectedEvent[]): EncodedCall;
  /** Of events that are JSON already; undefined if the events are needed. */
  readonly ofLines: ((lines: Buffer) => LineDocuments) | undefined;
}

export function bodiesFrom(settings: BodySettings): Bodies {
  const { format, payload } = settings;
  if (format === 'json') return jsonBodies(settings);
  const form: LineForm = format === 'json_array' ? JSON_ARRAY : {};
  const write = format === 'lines' ? lineWriter(payload) : jsonLineWriter(payload);
  const documentsOf = (lines: readonly string[]) =>
    new LineDocuments(Buffer.from(lines.join('')), lines.length, form);
  const ofEvents = (events: readonly CollectedEvent[]) => encodedCall(events, write, documentsOf);
  if (format === 'lines' || typeof payload === 'object') return { ofEvents, ofLines: undefined };
  return {
    ofEvents,
    ofLines(lines) {
      if (payload === 'event') return LineDocuments.in(lines, form);
      const { bytes, count } = flatLines(lines, 'timestamp');
      return new LineDocuments(bytes, count, form);
    },
  };
}

/** A request for each event, or for all that `body` puts into one. */
function jsonBodies({ payload, body }: BodySettings): Bodies {
  const read = payloadReader(payload);
  // The expression of `body` sees what JSON shows of an event.
  const payloadOf =
    body === undefined || typeof payload === 'object'
      ? read
      : (event: CollectedEvent) => parseJson(toJson(read(event)));
  const encode = body === undefined ? ([only]: readonly unknown[]) => jsonOf(only) : batchEncoder(body);
  /** No two events are of one kind, so that none shares a request. */
  const kindOf = body === undefined ? (own: object) => own : () => undefined;
  return {
    ofEvents: (events) =>
      encodedCall(
        events,
        (event) => ({ payload: payloadOf(event) }),
        (all) => new EventDocuments(all, (some) => encode(some.map((one) => one.payload)), kindOf),
      ),
    ofLines: undefined,
  };
}

const jsonOf = (value: unknown) => Buffer.from(toJson(value));

function batchEncoder(source: string): (events: readonly unknown[]) => Buffer {
  const program = new CelProgram(source, cel, OF_BATCH, 'body');
  return (events) => jsonOf(toJsonValue(program.run({ events }), 'body'));
}

function payloadReader(payload: BodySettings['payload']): (event: CollectedEvent) => unknown {
  if (payload === 'event') return (event) => event;
  if (payload === 'flat') return ({ timestamp, data }) => ({ timestamp, ...data });
  const expression = new CelExpression(payload.cel, cel, 'payload');
  return (event) => toJsonValue(expression.of(event), 'payload');
}

function jsonLineWriter(payload: BodySettings['payload']): (event: CollectedEvent) => string {
  if (payload === 'event') return (event) => toJsonLine(event);
  if (payload === 'flat') return (event) => flatLine(event, 'timestamp');
  const payloadOf = payloadReader(payload);
  return (event) => `${toJson(payloadOf(event))}\n`;
}

/** Writes `data.line`, or the text that an expression gives. What is no text becomes JSON. */
function lineWriter(payload: BodySettings['payload']): (event: CollectedEvent) => string {
  const isOwn = typeof payload === 'object';
  const textOf = isOwn ? payloadReader(payload) : (event: CollectedEvent) => event.data.line;
  return (event) => {
    const text = textOf(event);
    if (typeof text !== 'string') return isOwn ? `${toJson(text)}\n` : toJsonLine(event);
    // A line break inside of a line would make two of it.
    return `${text.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}\n`;
  };
}
