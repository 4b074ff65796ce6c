import type { Buffer } from 'node:buffer';
import * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  defineForwarder,
  ForwardConfigBase,
  type Logger,
  type PluginContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { fieldName } from '../expressions/schema.ts';
import { type Answer, type AnsweredCall, jsonOf, type PartialFailure } from '../http/answer.ts';
import { EventDocuments } from '../http/documents.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { encodeEach, httpSink } from '../http/http-sink.ts';
import { encodeJson, encodeProtobuf } from '../otlp/encode-logs.ts';
import { type LogRecord, logRecord } from '../otlp/log-record.ts';
import { protoFields } from '../otlp/proto-writer.ts';

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe('The URL of the receiver, to which `/v1/logs` is added.'),
  encoding: z.enum(['protobuf', 'json']).default('protobuf').describe('How requests are encoded.'),
  resource: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe('The attributes of the resource, such as `service.name`.'),
  severity: fieldName()
    .default('level')
    .describe('The field of `data` with the level, which becomes the severity.'),
  ...httpFields({ events: 1000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

const sink = httpSink(({ encoding }: Config, log?: Logger) => ({
  path: '/v1/logs',
  headers: { 'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf' },
  readAnswer: (answer: Answer, of: AnsweredCall) => readAnswer(answer, of, log),
}));

export default defineForwarder({
  description: 'Sends events as logs by OTLP over HTTP, such as to an OpenTelemetry Collector.',
  example: `
collector:
  plugin: otlp
  url: http://localhost:4318
  resource: { service.name: web, deployment.environment: prod }
`,
  schema,
  shownSettings: { encoding: '', compression: '', timeout: ' s', concurrency: '' },
  checkConfig: ({ config }) => sink.checkConfig({ config: config as Config }),
  forward: ({ ctx, event }) => send(ctx, [event]),
  forwardBatch: ({ ctx, events }) => send(ctx, events),
});

function send(ctx: Context, events: readonly CollectedEvent[]) {
  const { encoding, resource, severity } = ctx.config;
  const source = { resource, version: ctx.info.version };
  const encode = (records: readonly LogRecord[]): Buffer =>
    encoding === 'json' ? encodeJson(records, source) : encodeProtobuf(records, source);
  return sink.send(ctx, () =>
    encodeEach(
      events,
      (event) => logRecord(event, severity),
      (records) => new EventDocuments(records, encode),
    ),
  );
}

/**
 * A receiver says how many records it has rejected, and not which, and the protocol forbids to send the request again. If it
 * has rejected all of them, they fail permanently. Otherwise there is only the log to say so.
 *
 * @throws PluginError, permanent, if the receiver has refused all of them, or the only one.
 */
function readAnswer(
  { bytes, text }: Answer,
  { documents, server }: AnsweredCall,
  log: Logger | undefined,
): PartialFailure {
  const rejected = text.trimStart().startsWith('{') ? rejectedInJson(text) : rejectedIn(bytes);
  if (rejected === 0) return { failedEvents: [] };
  if (rejected >= documents.count) {
    throw new PluginError(`${server} rejected the records of the request (partial_success)`, {
      permanent: true,
    });
  }
  const message = `${server} rejected ${rejected} of ${counted(documents.count, 'record')} and does not say which (partial_success): they are lost`;
  log?.warn(message, { rejected });
  return { failedEvents: [] };
}

function rejectedInJson(text: string): number {
  const answer = jsonOf(text) as {
    readonly partialSuccess?: { readonly rejectedLogRecords?: unknown };
  } | null;
  return Number(answer?.partialSuccess?.rejectedLogRecords ?? 0) || 0;
}

/** `ExportLogsServiceResponse`: `partial_success` is its field 1, and `rejected_log_records` the field 1 of that. */
function rejectedIn(bytes: Buffer): number {
  const partial = protoFields(bytes)?.find(({ field }) => field === 1)?.value;
  if (partial === undefined || typeof partial === 'number') return 0;
  const rejected = protoFields(partial)?.find(({ field }) => field === 1)?.value;
  return typeof rejected === 'number' ? rejected : 0;
}
