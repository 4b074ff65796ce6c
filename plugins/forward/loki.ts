import { Buffer } from 'node:buffer';
import * as z from 'zod';
import {
  type CollectedEvent,
  type ConfigProblem,
  defineForwarder,
  ForwardConfigBase,
  integer,
  oncePerContext,
  type PluginContext,
  toJson,
} from '../../src/sdk/index.ts';
import { fieldPath, getField } from '../expressions/fields.ts';
import { fieldName } from '../expressions/schema.ts';
import { ByteWriter } from '../http/byte-writer.ts';
import { type CallIds, callIds, positionIn } from '../http/call-ids.ts';
import { type Documents, EventDocuments, LineDocuments } from '../http/documents.ts';
import { EventLines, eventsIn } from '../http/event-lines.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { type EncodedCall, encodedCall, httpSink } from '../http/http-sink.ts';
import { millisecondsOf, parseTimestamp } from '../http/timestamps.ts';

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe('The URL of Loki, to which `/loki/api/v1/push` is added.'),
  labels: z
    .record(
      z.string().refine((name) => /^(?!__)[A-Za-z_]\w*$/.test(name), {
        message:
          'a name of a label, of letters, digits and underscores, without two underscores at its start',
      }),
      z.union([z.string().min(1), z.strictObject({ field: fieldName().describe('A field of `data`.') })]),
    )
    .describe(
      'The labels of the streams: a value each, or `{ field: NAME }` for that of a field of the event.',
    ),
  max_streams: integer()
    .min(1)
    .default(1000)
    .describe('Streams that a run uses at most. Further ones have the labels with fixed values only.'),
  format: z
    .enum(['line', 'json'])
    .default('line')
    .describe('What is stored: `data.line`, or `data` as JSON. Events without a line are stored as JSON.'),
  ...httpFields({ events: 1000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];
type Labels = Readonly<Record<string, string>>;

const sink = httpSink((_config: Config) => ({
  path: '/loki/api/v1/push',
  headers: { 'content-type': 'application/json' },
}));

export default defineForwarder({
  description: 'Sends events to Grafana Loki, in streams with labels.',
  example: `
loki:
  plugin: loki
  url: http://localhost:3100
  labels: { job: nginx, level: { field: level } }
`,
  schema,
  shownSettings: { url: '', labels: '', compression: '', timeout: ' s', concurrency: '' },
  checkConfig: ({ config }) => [
    ...withoutFixed(config as Config),
    ...tooManyEvents(config as Config),
    ...sink.checkConfig({ config: config as Config }),
  ],
  forward: ({ ctx, event, id, restOf }) => send(ctx, [event], callIds(id, restOf)),
  forwardBatch: ({ ctx, events, id, restOf }) => send(ctx, events, callIds(id, restOf)),
  forwardJsonLines({ ctx }) {
    const { labels } = ctx.config;
    const fixed = fixedLabels(labels);
    if (Object.keys(fixed).length < Object.keys(labels).length) return undefined;
    return (lines, id, restOf) =>
      sink.send(ctx, () => {
        const ids = callIds(id, restOf);
        return documentsIn(lines, fixed, ctx.config, ids) ?? encodeEvents(ctx, eventsIn(lines), ids);
      });
  },
});

function fixedLabels(labels: Config['labels']): Labels {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

function withoutFixed({ labels }: Config): readonly ConfigProblem[] {
  if (Object.keys(fixedLabels(labels)).length > 0) return [];
  const message =
    'at least one label needs a fixed value, as in `job: nginx`: an event may have none of the fields';
  return [{ path: ['labels'], message }];
}

const NANOSECONDS = 1_000_000;
/** With more, too few calls would have nanoseconds of their own. */
const MOST_EVENTS = 100_000;

function tooManyEvents({ batch: { events } }: Config): readonly ConfigProblem[] {
  if (events <= MOST_EVENTS) return [];
  const message = `expected at most ${MOST_EVENTS}: each event of a millisecond needs a nanosecond of its own, because Loki keeps equal lines of one time once`;
  return [{ path: ['batch', 'events'], message }];
}

/**
 * Loki stores lines of a stream once that are the same and have the same time, and lines that were read together have. So each
 * gets other nanoseconds: the same in every attempt to send it, and in the order of the events. The number at the end of the id
 * of a call selects a part of the millisecond, which has room for all events of a call.
 */
function nanosecondsIn({ batch: { events } }: Config, ids: CallIds): (position: number) => number {
  const number = Number(/\d{1,15}$/.exec(ids.call)?.[0] ?? 0);
  const start = (number % Math.floor(NANOSECONDS / events)) * events;
  return (position) => start + positionIn(ids, position);
}

/** An event, as a stream has it. */
interface Entry {
  /** The labels of the stream, as JSON. */
  readonly stream: string;
  /** The time and the line, as JSON. */
  readonly value: string;
}

function send(ctx: Context, events: readonly CollectedEvent[], ids: CallIds) {
  return sink.send(ctx, () => encodeEvents(ctx, events, ids));
}

function encodeEvents(ctx: Context, events: readonly CollectedEvent[], ids: CallIds): EncodedCall {
  const streamOf = streamsOf(ctx);
  const nanoseconds = nanosecondsIn(ctx.config, ids);
  const entryOf = (event: CollectedEvent, position: number): Entry => {
    const { line } = event.data;
    const text = ctx.config.format === 'line' && typeof line === 'string' ? line : toJson(event.data);
    const time = `${millisecondsOf(event.timestamp)}${String(nanoseconds(position)).padStart(6, '0')}`;
    return { stream: streamOf(event), value: `["${time}",${JSON.stringify(text)}]` };
  };
  return encodedCall(events, entryOf, (entries) => new EventDocuments(entries, bodyOf));
}

function bodyOf(entries: readonly Entry[]): Buffer {
  const streams = new Map<string, string[]>();
  for (const { stream, value } of entries) {
    const values = streams.get(stream);
    if (values === undefined) streams.set(stream, [value]);
    else values.push(value);
  }
  const parts = [...streams].map(([stream, values]) => `{"stream":${stream},"values":[${values.join(',')}]}`);
  return Buffer.from(`{"streams":[${parts.join(',')}]}`);
}

/** Bytes of UTF-8, after which values of labels are cut: the limit of Loki. */
const MOST_OF_LABEL = 2048;

/** The labels of an event, as JSON. There are at most `max_streams` of them, because each stream costs Loki memory. */
const streamsOf = oncePerContext(({ config: { labels, max_streams }, logger, pipeline }: Context) => {
  const fixed = fixedLabels(labels);
  const fields = Object.entries(labels).flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [{ name, path: fieldPath(value.field) }],
  );
  const rest = JSON.stringify(fixed);
  const streams = new Map<string | undefined, string>();
  let isFull = false;
  return ({ data }: CollectedEvent): string => {
    const values = fields.map(({ path }) => labelValue(getField(data, path)));
    const key = values.length === 1 ? values[0] : JSON.stringify(values);
    const known = streams.get(key);
    if (known !== undefined) return known;
    if (streams.size >= max_streams) {
      if (!isFull) {
        logger.warn(
          `${pipeline}: there are more than ${max_streams} streams for Loki; further ones have the labels with fixed values only, unless \`max_streams\` is raised`,
        );
      }
      isFull = true;
      return rest;
    }
    const own = fields.flatMap(({ name }, n) => (values[n] === '' ? [] : [[name, values[n]]]));
    const stream = JSON.stringify({ ...fixed, ...Object.fromEntries(own) });
    streams.set(key, stream);
    return stream;
  };
});

function labelValue(value: unknown): string {
  if (!['string', 'number', 'boolean', 'bigint'].includes(typeof value)) return '';
  const text = String(value);
  // A character has at most three bytes, and two characters that are one have four.
  if (text.length * 3 <= MOST_OF_LABEL) return text;
  const bytes = Buffer.from(text.slice(0, MOST_OF_LABEL));
  if (text.length <= MOST_OF_LABEL && bytes.length <= MOST_OF_LABEL) return text;
  let end = MOST_OF_LABEL;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

const [OPEN, CLOSE] = [0x7b, 0x7d];
const BEFORE_TIME = Buffer.from('["');
const BEFORE_LINE = Buffer.from('","');
const AFTER_LINE = Buffer.from('"]\n');

/** The entries of events that are JSON already, and all of one stream. Undefined if one of them has to be parsed. */
function documentsIn(bytes: Buffer, labels: Labels, config: Config, ids: CallIds): Documents | undefined {
  const lines = new EventLines(bytes, 'line');
  const writer = new ByteWriter(bytes.length + (bytes.length >> 2));
  const nanoseconds = nanosecondsIn(config, ids);
  while (lines.next()) {
    const time = lines.isPlain ? parseTimestamp(lines.timestamp) : Number.NaN;
    if (!(time >= 0)) return undefined;
    writer.copy(BEFORE_TIME);
    writer.number(time);
    writer.padded(nanoseconds(lines.position), 6);
    writer.copy(BEFORE_LINE);
    if (config.format === 'line' && lines.textStart > 0) {
      writer.copy(bytes, lines.textStart, lines.textEnd);
    } else {
      writer.byte(OPEN);
      writer.quoted(bytes, lines.dataStart, lines.dataEnd);
      writer.byte(CLOSE);
    }
    writer.copy(AFTER_LINE);
  }
  const list = [`{"streams":[{"stream":${JSON.stringify(labels)},"values":[`, ']}]}'] as const;
  return new LineDocuments(writer.done(), lines.position + 1, { list });
}
