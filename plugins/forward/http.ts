import * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  defineForwarder,
  ForwardConfigBase,
  integer,
  type PluginContext,
  PluginError,
  toJsonLine,
} from '../../src/sdk/index.ts';
import {
  type Answer,
  type AnsweredCall,
  failedItems,
  jsonOf,
  type PartialFailure,
  RETRY_STATUSES,
} from '../http/answer.ts';
import { flatLine, JSON_ARRAY, LineDocuments, type LineForm } from '../http/documents.ts';
import { flatLines } from '../http/event-lines.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { httpSink } from '../http/http-sink.ts';

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe('Where events are sent to.'),
  method: z.enum(['POST', 'PUT', 'PATCH']).default('POST').describe('The method of the requests.'),
  format: z
    .enum(['ndjson', 'json_array', 'lines'])
    .default('ndjson')
    .describe('JSON with one event a line, a JSON array of events, or `data.line` of each event as text.'),
  payload: z
    .enum(['event', 'flat'])
    .default('event')
    .describe('The content of the JSON: whole events, or the fields of `data` next to `timestamp`.'),
  retry_statuses: z
    .array(z.union([z.enum(['4xx', '5xx']), integer().min(300).max(599)]))
    .default([...RETRY_STATUSES])
    .describe('Statuses after which a batch is sent again.'),
  split_refused: z
    .boolean()
    .default(false)
    .describe('Whether a batch that the server refuses is split until the refused events are found.'),
  ...httpFields({ events: 1000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

const sink = httpSink((config: Config) => ({
  method: config.method,
  headers: { 'content-type': CONTENT_TYPES[config.format] },
  retryStatuses: config.retry_statuses,
  splitsRefused: config.split_refused,
  readAnswer: refusedBy,
}));

export default defineForwarder({
  description: 'Sends events over HTTP, in batches of JSON or text.',
  example: `
clickhouse:
  plugin: http
  url: http://localhost:8123/?query=INSERT%20INTO%20logs%20FORMAT%20JSONEachRow
  payload: flat
  auth:
    basic: { username: agent, password: { file: /run/secrets/clickhouse } }
`,
  schema,
  shownSettings: { method: '', format: '', payload: '', compression: '', timeout: ' s', concurrency: '' },
  checkConfig: ({ config }) => sink.checkConfig({ config: config as Config }),
  forward: ({ ctx, event }) => sink.send(ctx, () => documentsOf([event], ctx.config)),
  forwardBatch: ({ ctx, events }) => sink.send(ctx, () => documentsOf(events, ctx.config)),
  forwardJsonLines({ ctx }) {
    const { format, payload } = ctx.config;
    if (format === 'lines') return undefined;
    const form = FORMS[format];
    if (payload === 'event') return (lines) => sink.send(ctx, () => LineDocuments.in(lines, form));
    return (lines) =>
      sink.send(ctx, () => {
        const { bytes, count } = flatLines(lines, 'timestamp');
        return new LineDocuments(bytes, count, form);
      });
  },
});

const CONTENT_TYPES: Readonly<Record<Config['format'], string>> = {
  ndjson: 'application/x-ndjson',
  json_array: 'application/json',
  lines: 'text/plain; charset=utf-8',
};

const FORMS: Readonly<Record<Config['format'], LineForm>> = { ndjson: {}, json_array: JSON_ARRAY, lines: {} };

/** @throws PluginError for an event that JSON cannot represent. */
function documentsOf(
  events: readonly CollectedEvent[],
  { format, payload }: Pick<Config, 'format' | 'payload'>,
): LineDocuments {
  const write =
    format === 'lines'
      ? lineOf
      : payload === 'flat'
        ? (event: CollectedEvent) => flatLine(event, 'timestamp')
        : (event: CollectedEvent) => toJsonLine(event);
  const bytes = Buffer.from(events.map(write).join(''));
  return new LineDocuments(bytes, events.length, FORMS[format]);
}

/** A line break inside of a line would make two of it. */
function lineOf(event: CollectedEvent): string {
  const { line } = event.data;
  if (typeof line !== 'string') return toJsonLine(event);
  return `${line.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}\n`;
}

/**
 * The events that a 207 refuses: its body is a JSON array with a status for each event.
 *
 * @throws PluginError for any other body: some events may have been refused, and must not be lost. An array that was cut
 * may be whole the next time. A body of another form is fatal, because the server may answer each batch like that.
 */
function refusedBy({ status, text, retryAfter }: Answer, of: AnsweredCall): PartialFailure {
  if (status !== 207) return { failedEvents: [] };
  const { count } = of.documents;
  const each = jsonOf(text);
  if (each === undefined && /^\s*\[/.test(text)) {
    const message = `${of.server} answered 207 with an array that is too long or no JSON, so it is not known which of ${counted(count, 'event')} it took`;
    throw new PluginError(message);
  }
  if (!Array.isArray(each) || each.length !== count || !each.every(Number.isInteger)) {
    const message = `${of.server} answered 207 to ${counted(count, 'event')} with a body other than a JSON array with a status for each, so it is not known which of them it took; let it answer with such an array, or with 200 if it took all of them`;
    throw Object.assign(new PluginError(message), { fatal: true });
  }
  return { failedEvents: failedItems(each, of), retryAfter };
}
