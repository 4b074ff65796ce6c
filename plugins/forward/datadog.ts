import { Buffer } from 'node:buffer';
import * as z from 'zod';
import {
  type CollectedEvent,
  defineForwarder,
  ForwardConfigBase,
  type PluginContext,
  secret,
  toJson,
} from '../../src/sdk/index.ts';
import { JSON_ARRAY, LineDocuments } from '../http/documents.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { type EncodedCall, encodedCall, httpSink } from '../http/http-sink.ts';
import { millisecondsOf } from '../http/timestamps.ts';

const text = (description: string) => z.string().min(1).optional().describe(description);

const schema = ForwardConfigBase.extend({
  url: httpUrl('set `api_key`').describe(
    'The URL of the intake of your site, such as `https://http-intake.logs.datadoghq.eu`, to which `/api/v2/logs` is added.',
  ),
  api_key: secret().describe('The API key, sent as `DD-API-KEY`.'),
  service: text('The service of all events.'),
  source: text('The source of all events (`ddsource`), which selects the pipeline of the integration.'),
  hostname: text('The host of all events.'),
  tags: z
    .array(z.string().regex(/^[^,]+$/, { message: 'a tag without commas, such as `env:prod`' }))
    .default([])
    .describe('Tags of all events (`ddtags`), such as `env:prod`.'),
  format: z
    .enum(['line', 'json'])
    .default('line')
    .describe('The message: `data.line`, or `data` as JSON. Events without a line are sent as JSON.'),
  // The limits of the intake.
  ...httpFields({ events: 1000, bytes: 4_000_000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

const sink = httpSink(({ api_key }: Config) => ({
  path: '/api/v2/logs',
  headers: { 'content-type': 'application/json' },
  secretHeaders: { 'dd-api-key': { field: 'api_key', value: api_key } },
}));

export default defineForwarder({
  description: 'Sends events to Datadog, as logs.',
  example: `
datadog:
  plugin: datadog
  url: https://http-intake.logs.datadoghq.eu
  api_key: { file: /run/secrets/datadog }
  service: web
  source: nginx
  tags: [env:prod]
`,
  schema,
  shownSettings: { url: '', service: '', source: '', compression: '', timeout: ' s', concurrency: '' },
  checkConfig: ({ config }) => sink.checkConfig({ config: config as Config }),
  forward: ({ ctx, event }) => sink.send(ctx, () => encode(ctx.config, [event])),
  forwardBatch: ({ ctx, events }) => sink.send(ctx, () => encode(ctx.config, events)),
});

function encode(config: Config, events: readonly CollectedEvent[]): EncodedCall {
  const { service, source, hostname, tags, format } = config;
  const all = { ddsource: source, ddtags: tags.length === 0 ? undefined : tags.join(','), hostname, service };
  const log = ({ timestamp, data }: CollectedEvent) => {
    const message = format === 'line' && typeof data.line === 'string' ? data.line : toJson(data);
    return `${JSON.stringify({ ...all, timestamp: millisecondsOf(timestamp), message })}\n`;
  };
  return encodedCall(
    events,
    log,
    (logs) => new LineDocuments(Buffer.from(logs.join('')), logs.length, JSON_ARRAY),
  );
}
