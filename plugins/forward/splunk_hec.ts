import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { firstValueFrom, fromEvent, race, timer } from 'rxjs';
import * as z from 'zod';
import { steadyClock } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  defineForwarder,
  ForwardConfigBase,
  type PluginContext,
  PluginError,
  safeReason,
  seconds,
  secret,
  toJson,
} from '../../src/sdk/index.ts';
import {
  type Answer,
  type AnsweredCall,
  isSuccess,
  jsonOf,
  type PartialFailure,
  statusText,
} from '../http/answer.ts';
import { ByteWriter } from '../http/byte-writer.ts';
import { LineDocuments } from '../http/documents.ts';
import { EventLines, eventsIn } from '../http/event-lines.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { type Ask, type EncodedCall, encodedCall, httpSink } from '../http/http-sink.ts';
import { millisecondsOf, parseTimestamp } from '../http/timestamps.ts';

const fixed = (what: string) =>
  z.string().min(1).optional().describe(`${what} of all events. Default: that of the token.`);

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe(
    'The URL of the collector, to which `/services/collector/event` or `…/raw` is added.',
  ),
  token: secret().describe('The token, sent as `Authorization: Splunk …`.'),
  index: fixed('The index'),
  sourcetype: fixed('The source type'),
  source: fixed('The source'),
  host: fixed('The host'),
  format: z
    .enum(['line', 'json', 'raw'])
    .default('line')
    .describe(
      'What an event is: `data.line`, or `data` as JSON. `raw` sends lines alone, whose time Splunk finds in them.',
    ),
  acknowledge: z
    .strictObject({
      timeout: seconds().gt(0).default(60).describe('Seconds after which a batch is sent again.'),
      interval: seconds().gt(0).default(1).describe('Seconds between two questions.'),
    })
    .optional()
    .describe('Whether to ask until the indexers have stored a batch. The token has to allow it.'),
  ...httpFields({ events: 1000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

const PATH = '/services/collector';

const sink = httpSink((config: Config) => {
  const { token, index, sourcetype, source, host, format, acknowledge } = config;
  const channel = randomUUID();
  const base = new URL(config.url).pathname.replace(/(?:\/services\/collector\/(?:event|raw))?\/*$/, '');
  const ackPath = `${base}${PATH}/ack?channel=${channel}`;
  const given = Object.entries({ index, sourcetype, source, host }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, encodeURIComponent(value)]],
  );
  return {
    path: `${PATH}/${format === 'raw' ? 'raw' : 'event'}`,
    ...(format === 'raw' && { query: Object.fromEntries(given) }),
    headers: { 'content-type': 'application/json', 'x-splunk-request-channel': channel },
    secretHeaders: { authorization: { field: 'token', value: token, prefix: 'Splunk ' } },
    isAboutEvents: ({ status, text }: Answer) => status === 400 && EVENT_CODES.has(codeOf(text) ?? 0),
    errorName: (text: string) => {
      const code = codeOf(text);
      return code === undefined ? undefined : (CODES[code] ?? `HEC code ${code}`);
    },
    ...(acknowledge !== undefined && {
      readAnswer: (answer: Answer, of: AnsweredCall, ask: Ask) =>
        acknowledged(answer, of, ask, acknowledge, ackPath),
    }),
  };
});

export default defineForwarder({
  description: 'Sends events to Splunk, by its HTTP Event Collector.',
  example: `
splunk:
  plugin: splunk_hec
  url: https://splunk.example.com:8088
  token: { file: /run/secrets/hec-token }
  index: web
  sourcetype: access_combined
`,
  schema,
  shownSettings: {
    url: '',
    index: '',
    sourcetype: '',
    format: '',
    compression: '',
    timeout: ' s',
    concurrency: '',
  },
  checkConfig: ({ config }) => sink.checkConfig({ config: config as Config }),
  forward: ({ ctx, event }) => sink.send(ctx, () => encodeEvents(ctx.config, [event])),
  forwardBatch: ({ ctx, events }) => sink.send(ctx, () => encodeEvents(ctx.config, events)),
  forwardJsonLines:
    ({ ctx }) =>
    (lines) =>
      sink.send(ctx, () => documentsIn(lines, ctx.config) ?? encodeEvents(ctx.config, eventsIn(lines))),
});

/** Splunk refuses a request for a blank line and may have stored the events in front of it, so it is not sent. */
const BLANK = /^[ \t\r\n]*$/;
const BLANK_LINE = 'the line is blank, which Splunk refuses';

/** The metadata that all events have, as the start of a JSON object. */
function startOf({ index, sourcetype, source, host }: Config): string {
  const metadata = JSON.stringify({ index, sourcetype, source, host }).slice(0, -1);
  return metadata === '{' ? '{"time":' : `${metadata},"time":`;
}

function encodeEvents(config: Config, events: readonly CollectedEvent[]): EncodedCall {
  const { format } = config;
  const start = startOf(config);
  const encode = (event: CollectedEvent): string => {
    const { line } = event.data;
    if (format !== 'json' && typeof line === 'string' && BLANK.test(line)) throw new PluginError(BLANK_LINE);
    if (format === 'raw')
      return `${(typeof line === 'string' ? line : toJson(event.data)).replaceAll(/[\r\n]+/g, ' ')}\n`;
    const content = format === 'line' && typeof line === 'string' ? JSON.stringify(line) : toJson(event.data);
    return `${start}${secondsText(millisecondsOf(event.timestamp))},"event":${content}}\n`;
  };
  return encodedCall(events, encode, (lines) => new LineDocuments(Buffer.from(lines.join('')), lines.length));
}

const secondsText = (ms: number) => `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;

const [QUOTE, OPEN, CLOSE, LF, DOT, SPACE, BACKSLASH] = [0x22, 0x7b, 0x7d, 0x0a, 0x2e, 0x20, 0x5c];
/** The characters of the escapes `\t`, `\r` and `\n`. */
const BREAKS = new Set(Buffer.from('trn'));
const BEFORE_EVENT = Buffer.from(',"event":');

/** Whether a string of JSON without its quotes matches {@link BLANK}. */
function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] === SPACE) continue;
    if (bytes[at] !== BACKSLASH || !BREAKS.has(bytes[++at] as number)) return false;
  }
  return true;
}

/** The documents of events that are JSON already. Undefined if one of them has to be parsed. */
function documentsIn(bytes: Buffer, config: Config): LineDocuments | undefined {
  if (config.format === 'raw') return undefined;
  const lines = new EventLines(bytes, 'line');
  const writer = new ByteWriter(bytes.length + (bytes.length >> 2));
  const start = Buffer.from(startOf(config));
  while (lines.next()) {
    const time = lines.isPlain ? parseTimestamp(lines.timestamp) : Number.NaN;
    if (!(time >= 0)) return undefined;
    writer.copy(start);
    writer.number(Math.floor(time / 1000));
    writer.byte(DOT);
    writer.padded(time % 1000, 3);
    writer.copy(BEFORE_EVENT);
    const hasLine = config.format === 'line' && lines.textStart > 0;
    if (hasLine && isBlank(bytes, lines.textStart, lines.textEnd)) return undefined;
    writer.byte(hasLine ? QUOTE : OPEN);
    if (hasLine) writer.copy(bytes, lines.textStart, lines.textEnd);
    else writer.copy(bytes, lines.dataStart, lines.dataEnd);
    writer.byte(hasLine ? QUOTE : CLOSE);
    writer.byte(CLOSE);
    writer.byte(LF);
  }
  return new LineDocuments(writer.done(), lines.position + 1);
}

/** What the codes of answers mean. Other texts of an answer are not shown. */
const CODES: Readonly<Record<number, string>> = {
  1: 'token disabled',
  2: 'token is required',
  3: 'invalid authorization',
  4: 'invalid token',
  5: 'no data',
  6: 'invalid data format',
  7: 'incorrect index',
  8: 'internal server error',
  9: 'server is busy',
  10: 'data channel is missing',
  11: 'invalid data channel',
  12: 'event field is required',
  13: 'event field cannot be blank',
  14: 'acknowledgement is disabled',
  15: 'error in handling indexed fields',
};
/** The codes that say that an event is wrong. */
const EVENT_CODES = new Set([5, 6, 12, 13, 15]);

function codeOf(text: string): number | undefined {
  const code = (jsonOf(text) as { readonly code?: unknown } | null | undefined)?.code;
  return Number.isSafeInteger(code) ? (code as number) : undefined;
}

/**
 * Asks until the indexers have stored the batch, also if the server cannot answer for a while.
 *
 * @throws PluginError if they have not within the time, or if the answer has no id: the batch is sent again.
 */
async function acknowledged(
  { text }: Answer,
  { server, signal }: AnsweredCall,
  ask: Ask,
  { timeout, interval }: NonNullable<Config['acknowledge']>,
  path: string,
): Promise<PartialFailure> {
  const id = (jsonOf(text) as { readonly ackId?: unknown } | null | undefined)?.ackId;
  if (!Number.isSafeInteger(id)) {
    const message = `${server} answered without an \`ackId\`; allow indexer acknowledgement for the token, or leave out \`acknowledge\``;
    throw Object.assign(new PluginError(message), { fatal: true });
  }
  const elapsed = steadyClock();
  const question = Buffer.from(JSON.stringify({ acks: [id] }));
  let problem = '';
  while (elapsed() < timeout * 1000) {
    await firstValueFrom(race(timer(interval * 1000), fromEvent(signal, 'abort')));
    if (signal.aborted) throw new PluginError('the call was aborted');
    try {
      const answer = await ask(path, question);
      if (isAcknowledged(answer, id as number)) return { failedEvents: [] };
      problem = isSuccess(answer) ? '' : `; the last question was answered ${statusText(answer)}`;
    } catch (error) {
      // The server has the batch already, so that a question that fails is asked again, and the batch is not sent again.
      problem = `; the last question failed: ${safeReason(error)}`;
    }
  }
  throw new PluginError(
    `${server} did not acknowledge the batch within ${timeout} s (\`acknowledge.timeout\`)${problem}`,
  );
}

function isAcknowledged(answer: Answer, id: number): boolean {
  if (!isSuccess(answer)) return false;
  const acks = (
    jsonOf(answer.text) as { readonly acks?: Readonly<Record<string, unknown>> } | null | undefined
  )?.acks;
  return acks?.[String(id)] === true;
}
