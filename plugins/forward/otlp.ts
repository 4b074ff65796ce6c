import type { Buffer } from 'node:buffer';
import * as z from 'zod';
import { counted, isNoteworthy } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  defineForwarder,
  ForwardConfigBase,
  type PluginContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { fieldPath } from '../expressions/fields.ts';
import { fieldName } from '../expressions/schema.ts';
import { type Answer, type AnsweredCall, jsonOf, type PartialFailure } from '../http/answer.ts';
import { type Documents, EventDocuments } from '../http/documents.ts';
import { eventsIn } from '../http/event-lines.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { type EncodedCall, encodedCall, httpSink, type RunReports } from '../http/http-sink.ts';
import { encodeJson, encodeProtobuf } from '../otlp/encode.ts';
import { encodeLines } from '../otlp/encode-lines.ts';
import { LOGS, type Signal } from '../otlp/messages.ts';
import { type LogMapping, type OtlpRecord, otlpRecord } from '../otlp/otlp-record.ts';
import { protobufFields } from '../otlp/protobuf-reader.ts';

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe('The URL of the receiver, to which `/v1/logs` or `/v1/traces` is added.'),
  encoding: z.enum(['protobuf', 'json']).default('protobuf').describe('How requests are encoded.'),
  resource: z
    .record(
      z.string().refine((name) => name !== '', { message: 'a name' }),
      z.string(),
    )
    .default({})
    .describe(
      'The attributes of the resource, such as `service.name`, of events that have none of their own.',
    ),
  severity: fieldName()
    .default('level')
    .describe('The field of `data` with the level, which becomes the severity.'),
  ...httpFields({ events: 1000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

/** The statuses after which the protocol allows to send a request again, and a timeout. */
const RETRIED = [408, 429, 502, 503, 504];

const sink = httpSink(({ encoding }: Config, run?: RunReports) => {
  const lost = lostRecords(run);
  return {
    headers: { 'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf' },
    retryStatuses: RETRIED,
    readAnswer: (answer: Answer, of: AnsweredCall) => readAnswer(answer, of, encoding, lost),
  };
});

export default defineForwarder({
  description: 'Sends logs and traces by OTLP over HTTP, such as to an OpenTelemetry Collector.',
  example: `
collector:
  plugin: otlp
  url: http://localhost:4318
  resource: { service.name: web, deployment.environment: prod }
`,
  schema,
  shownSettings: { url: '', encoding: '', compression: '', timeout: ' s', concurrency: '' },
  checkConfig: ({ config }) => sink.checkConfig({ config: config as Config }),
  forward: ({ ctx, event }) => send(ctx, [event]),
  forwardBatch: ({ ctx, events }) => send(ctx, events),
  forwardJsonLines({ ctx }) {
    if (ctx.config.encoding === 'json') return undefined;
    const mapping = mappingOf(ctx);
    return (lines) =>
      sink.send(ctx, () => {
        const documents = encodeLines(lines, mapping);
        if (documents === undefined) return encodeEvents(ctx, eventsIn(lines));
        return { documents, pathOf: () => pathFor(ctx.config.url, LOGS) };
      });
  },
});

function mappingOf({ config: { resource, severity }, info: { version } }: Context): LogMapping {
  const scope = { name: 'millrace', version };
  return { severity: fieldPath(severity), origin: { resource: { attributes: resource }, scope } };
}

function send(ctx: Context, events: readonly CollectedEvent[]) {
  return sink.send(ctx, () => encodeEvents(ctx, events));
}

/** Logs first, then spans, which have a path of their own. */
function encodeEvents(ctx: Context, events: readonly CollectedEvent[]): EncodedCall {
  const { url, encoding } = ctx.config;
  const mapping = mappingOf(ctx);
  const encode = encoding === 'json' ? encodeJson : encodeProtobuf;
  let records: readonly SentRecord[] = [];
  const call = encodedCall(
    events,
    (event, position): SentRecord => ({ ...otlpRecord(event, mapping), position }),
    (unsorted) => {
      records = unsorted.toSorted((a, b) => Number(a.signal !== LOGS) - Number(b.signal !== LOGS));
      return new EventDocuments(records, encode, ({ signal }) => signal);
    },
  );
  const pathOf = ({ first }: Documents) => pathFor(url, records[first]?.signal ?? LOGS);
  return { ...call, positions: records.map(({ position }) => position), pathOf };
}

interface SentRecord extends OtlpRecord {
  /** Of its event in the call. */
  readonly position: number;
}

/** `url` may end with the path of either signal. */
function pathFor(url: string, { path }: Signal): string {
  const { pathname, search } = new URL(url);
  return pathname.replace(/\/+$/, '').replace(/\/v1\/(?:logs|traces)$/, '') + path + search;
}

/**
 * A receiver says how many records it has rejected, and not which, and the protocol forbids to send the request again. If it
 * has rejected all of them, they fail permanently. Otherwise only the log and a metric can say so.
 *
 * @throws PluginError, permanent, if the receiver has refused all of them, or the only one. Fatal if the answer is none of the
 * protocol, such as the page of a proxy.
 */
function readAnswer(
  { status, bytes, text }: Answer,
  { documents, server }: AnsweredCall,
  encoding: Config['encoding'],
  lost: LostRecords,
): PartialFailure {
  // Some receivers answer in JSON to any request. No message of Protocol Buffers starts with a brace.
  const rejected = (encoding === 'protobuf' ? rejectedIn(bytes) : undefined) ?? rejectedInJson(text);
  if (rejected === undefined) {
    const message = `${server} answered ${status} with a body other than that of OTLP, so it is not known whether it has the records; check \`url\``;
    throw Object.assign(new PluginError(message), { fatal: true });
  }
  if (rejected === 0) return { failedEvents: [] };
  if (rejected >= documents.count) {
    throw new PluginError(`${server} rejected the records of the request (partial_success)`, {
      permanent: true,
    });
  }
  lost(
    rejected,
    `${server} rejected ${rejected} of ${counted(documents.count, 'record')} and does not say which (partial_success): they are lost`,
  );
  return { failedEvents: [] };
}

/** Is told of records that are lost, and how. */
type LostRecords = (count: number, message: string) => void;

/** Counts lost records, and logs them ever more rarely: a receiver may reject some of every request. */
function lostRecords(run: RunReports | undefined): LostRecords {
  const counter = run?.metrics.counter({
    name: 'otlp_records_rejected_total',
    help: 'Records that the receiver rejected without saying which.',
  });
  let total = 0;
  return (count, message) => {
    counter?.inc(count);
    total += count;
    if (isNoteworthy(total, count)) run?.logger.warn(`${message} (so far: ${total})`, { rejected: count });
  };
}

/** Undefined if it is no answer in JSON. */
function rejectedInJson(text: string): number | undefined {
  if (text.trim() === '') return 0;
  const answer = jsonOf(text) as {
    readonly partialSuccess?: {
      readonly rejectedLogRecords?: unknown;
      readonly rejectedSpans?: unknown;
    } | null;
  } | null;
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
  const { rejectedLogRecords, rejectedSpans } = answer.partialSuccess ?? {};
  return Number(rejectedLogRecords ?? rejectedSpans ?? 0) || 0;
}

/**
 * `partial_success` is the field 1 of the answer, and the number of rejected logs or spans the field 1 of that. Undefined if it
 * is no such message.
 */
function rejectedIn(bytes: Buffer): number | undefined {
  const answer = protobufFields(bytes);
  if (answer === undefined) return undefined;
  const partial = answer.find(({ field }) => field === 1)?.value;
  if (partial === undefined) return 0;
  const fields = typeof partial === 'number' ? undefined : protobufFields(partial);
  if (fields === undefined) return undefined;
  const rejected = fields.find(({ field }) => field === 1)?.value ?? 0;
  return typeof rejected === 'number' && !Number.isNaN(rejected) ? rejected : undefined;
}
