import * as z from 'zod';
import {
  CollectConfigBase,
  defineCollector,
  EventBatch,
  type ListenAddress,
  type PluginContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { type Endpoint, plainAnswer, type ReceivedRequest, type RequestEvents } from '../http-in/endpoint.ts';
import { collectHttp } from '../http-in/http-intake.ts';
import { RETRY_AFTER, Refusal } from '../http-in/refusal.ts';
import { eventsOf, jsonObjects, jsonRows, lineEvents } from '../http-in/request-events.ts';
import { httpListenerFields } from '../http-in/settings.ts';
import { hecEndpoints } from '../http-in/splunk-hec.ts';
import { lineTesting } from '../lines/collect-lines.ts';
import { readEvents } from '../lines/read-events.ts';
import { exposureProblems, listensOn } from '../listen/listening.ts';

const schema = CollectConfigBase.extend({
  ...httpListenerFields(8088),
  path: z
    .string()
    .regex(/^\/[^?#\s]*$/, { message: 'a path that starts with `/`' })
    .default('/')
    .describe('The path of requests, beside those of Splunk HEC.'),
  format: z
    .enum(['auto', 'json', 'events', 'lines'])
    .default('auto')
    .describe(
      'What bodies are: JSON or text, as `Content-Type` says; JSON; events as an `http` forwarder writes them; lines of text.',
    ),
});
type Format = z.output<typeof schema>['format'];

export default defineCollector({
  description: 'Listens for events over HTTP: JSON, lines of text, and Splunk HEC.',
  example: `
gateway:
  plugin: http
  listen: 127.0.0.1:8088
  path: /logs
  auth: { bearer: { env: GATEWAY_TOKEN } }
`,
  schema,
  shownSettings: { listen: '', path: '', format: '' },
  traits: {
    usesState: false,
    waits: true,
    redelivers: true,
    answers: true,
    emitsLines: true,
    listens: ({ config }: { config: { listen: ListenAddress } }) => listensOn(config.listen),
  },
  testing: {
    ...lineTesting((config: z.output<typeof schema>) => ({
      source: config.path,
      backfill: false,
      maxLineBytes: config.max_body_bytes,
      skipEmptyLines: true,
    })),
    /** A sender repeats what was refused, or what it got no answer for. */
    redelivery: ({ config }) => ({
      afterFailure: () => RETRY_AFTER * 1000,
      afterSilence: config.timeout * 1000,
    }),
  },
  checkConfig: ({ config }) => exposureProblems(config),
  /**
   * Emits the events of a request in one batch, when there is room. A request is answered with 200 when they are
   * acknowledged, and with 429 or 503 and `Retry-After` if it is to be repeated. Errors if it cannot listen.
   */
  collect({ ctx }) {
    let ackIds = 0;
    const endpoints = new Map([
      ...hecEndpoints(() => ackIds++),
      [ctx.config.path, ownEndpoint(ctx.config)] as const,
    ]);
    return collectHttp(ctx, (path) => endpoints.get(path));
  },
});

function ownEndpoint({ format, path }: PluginContext<typeof schema>['config']): Endpoint {
  return {
    method: 'POST',
    auth: {},
    answer: plainAnswer,
    read: (request) => read(request, format === 'auto' ? formatOf(request) : format, path),
  };
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?(?:x-)?(?:nd)?json(?:-?lines|l|-seq)?$/;
const IS_LINES = /ndjson|jsonl|lines/;

function formatOf({ headers }: ReceivedRequest): Exclude<Format, 'auto'> {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.startsWith('multipart/')) throw new Refusal(415, 'send JSON or text, not a form');
  return JSON_TYPE.test(type.trim()) ? 'json' : 'lines';
}

function read(
  { headers, body, memory }: ReceivedRequest,
  format: Exclude<Format, 'auto'>,
  path: string,
): RequestEvents {
  if (format === 'lines') return lineEvents(body, path, memory);
  if (format === 'json')
    return eventsOf(jsonRows(jsonObjects(body, IS_LINES.test(headers['content-type'] ?? ''))));
  try {
    return eventsOf(new EventBatch(readEvents(body, path, 'events')).rows);
  } catch (error) {
    // Its messages name the line and quote nothing.
    if (error instanceof PluginError) throw new Refusal(400, error.message);
    throw error;
  }
}
