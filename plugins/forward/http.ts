import * as cel from '@marcbachmann/cel-js';
import * as z from 'zod';
import {
  batching,
  type ConfigProblem,
  defineForwarder,
  ForwardConfigBase,
  integer,
  oncePerContext,
  type PluginContext,
} from '../../src/sdk/index.ts';
import { expression } from '../expressions/schema.ts';
import { RETRY_STATUSES } from '../http/answer.ts';
import { bodiesFrom, OF_BATCH, readsEvents } from '../http/bodies.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { httpSink } from '../http/http-sink.ts';
import { answerReaders, answersField } from '../http/item-answers.ts';

/** The batches of requests that have one event each. */
const ONE_EVENT = batching({ events: 1 }).batch.parse({});

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe('Where events are sent to.'),
  method: z.enum(['POST', 'PUT', 'PATCH']).default('POST').describe('The method of the requests.'),
  format: z
    .enum(['ndjson', 'json_array', 'json', 'lines'])
    .default('ndjson')
    .describe(
      'JSON with one event a line, a JSON array of events, a JSON document of one event or of what `body` makes of a batch, or `data.line` of each event as text.',
    ),
  payload: z
    .union([
      z.enum(['event', 'flat']),
      z.strictObject({
        cel: expression(cel, { expected: 'a valid expression', mayHoldSecret: true }).describe(
          'The expression.',
        ),
      }),
    ])
    .default('event')
    .meta({ mayHoldSecret: true })
    .describe(
      'What is sent of each event: the whole event, the fields of `data` next to `timestamp`, or `{ cel: … }`, the value of an expression.',
    ),
  body: expression(cel, { expected: 'a valid expression', scope: OF_BATCH, mayHoldSecret: true })
    .optional()
    .describe(
      'With `format: json`, the JSON document of a request, a CEL expression over `events`, the payloads of a batch.',
    ),
  retry_statuses: z
    .array(z.union([z.enum(['4xx', '5xx']), integer().min(300).max(599)]))
    .default([...RETRY_STATUSES])
    .describe('Statuses after which a batch is sent again.'),
  split_refused: z
    .boolean()
    .default(false)
    .describe('Whether a batch that the server refuses is split until the refused events are found.'),
  answers: answersField().optional().describe('What an answer says of the events.'),
  ...httpFields({ events: 1000 }),
}).overwrite((config) =>
  config.format === 'json' && config.body === undefined ? { ...config, batch: ONE_EVENT } : config,
);

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

const sink = httpSink((config: Config) => ({
  method: config.method,
  headers: { 'content-type': CONTENT_TYPES[config.format] },
  retryStatuses: config.retry_statuses,
  splitsRefused: config.split_refused,
  ...answerReaders(config.answers),
}));

const bodiesOf = oncePerContext((ctx: Context) => bodiesFrom(ctx.config));

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
  shownSettings: {
    url: '',
    method: '',
    format: '',
    payload: '',
    compression: '',
    timeout: ' s',
    concurrency: '',
  },
  checkConfig: ({ config }) => [
    ...problemsOfBody(config as Config),
    ...sink.checkConfig({ config: config as Config }),
  ],
  forward: ({ ctx, event }) => sink.send(ctx, () => bodiesOf(ctx).ofEvents([event])),
  forwardBatch: ({ ctx, events }) => sink.send(ctx, () => bodiesOf(ctx).ofEvents(events)),
  forwardJsonLines({ ctx }) {
    const { ofLines } = bodiesOf(ctx);
    return ofLines && ((lines) => sink.send(ctx, () => ofLines(lines)));
  },
});

const CONTENT_TYPES: Readonly<Record<Config['format'], string>> = {
  ndjson: 'application/x-ndjson',
  json_array: 'application/json',
  json: 'application/json',
  lines: 'text/plain; charset=utf-8',
};

function problemsOfBody({ format, body }: Config): readonly ConfigProblem[] {
  if (body === undefined) return [];
  const path = ['body'];
  if (format !== 'json') {
    return [{ path, message: '`body` is the one JSON document of a request: set `format: json`' }];
  }
  if (readsEvents(body)) return [];
  return [{ path, message: '`body` does not use `events`, so nothing of them would be sent' }];
}
