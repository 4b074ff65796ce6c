import { Buffer } from 'node:buffer';
import * as cel from '@marcbachmann/cel-js';
import * as z from 'zod';
import { counted } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  type ConfigProblem,
  defineForwarder,
  ForwardConfigBase,
  oncePerContext,
  type PluginContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { CelExpression } from '../expressions/cel.ts';
import { expression } from '../expressions/schema.ts';
import { type Answer, type AnsweredCall, failedItems, jsonOf, type PartialFailure } from '../http/answer.ts';
import { type BulkItem, bulkItems, errorType, MOST_OF_ITEM_ANSWER, statusOf } from '../http/bulk-items.ts';
import { type CallIds, callIds, eventIdAt, positionIn } from '../http/call-ids.ts';
import { flatLine, LineDocuments } from '../http/documents.ts';
import { flatLines } from '../http/event-lines.ts';
import { httpFields, httpUrl } from '../http/http-fields.ts';
import { encodedCall, httpSink } from '../http/http-sink.ts';

const computed = (gives: string) =>
  z.strictObject({
    cel: expression(cel, {
      expected: `an expression that gives ${gives}`,
      types: ['string', 'dyn'],
    }).describe('The expression.'),
  });
const name = () =>
  z.string().refine(isName, {
    message: 'a name of Elasticsearch: in lower case, without spaces and any of \\ / * ? " < > | , # :',
  });

const schema = ForwardConfigBase.extend({
  url: httpUrl().describe('The URL of the cluster, to which `/_bulk` is added.'),
  index: z
    .union([name(), computed('the name of an index')])
    .optional()
    .describe('The index, or `{ cel: … }`: an expression that gives the index of each event.'),
  data_stream: z
    .union([name(), computed('the name of a data stream')])
    .optional()
    .describe('The data stream in place of an index, also as an expression.'),
  id: z
    .union([z.enum(['delivery', 'none']), computed('an id')])
    .default('delivery')
    .describe(
      'The ids of the documents. `delivery`: an event that is sent again has the same id and is stored once. `none`: the server gives ids. `{ cel: … }`: an expression that gives the id of each event.',
    ),
  ...httpFields({ events: 1000 }),
});

type Context = PluginContext<typeof schema>;
type Config = Context['config'];

/** What is needed of an answer: the status of each item, and the kind and the reason of its error. Reasons may quote events. */
const NEEDED_OF_ANSWER = 'errors,items.*.status,items.*.error.type,items.*.error.reason,error.type';

const sink = httpSink((_config: Config) => ({
  path: '/_bulk',
  query: { filter_path: NEEDED_OF_ANSWER },
  headers: { 'content-type': 'application/x-ndjson' },
  isAboutEvents: () => false,
  mostOfAnswer: MOST_OF_ITEM_ANSWER,
  readAnswer: readItems,
  errorName: (text: string) => errorType(jsonOf(text)),
}));

export default defineForwarder({
  description: 'Stores events in Elasticsearch or OpenSearch, in an index or a data stream.',
  example: `
search:
  plugin: elasticsearch
  url: http://localhost:9200
  data_stream: logs-app-default
  auth:
    basic: { username: agent, password: { file: /run/secrets/elasticsearch } }
`,
  schema,
  shownSettings: { url: '', index: '', data_stream: '', compression: '', timeout: ' s', concurrency: '' },
  traits: { deduplicates: true },
  checkConfig: ({ config }) => [
    ...wrongTargets(config as Config),
    ...filtered(config as Config),
    ...sink.checkConfig({ config: config as Config }),
  ],
  checkPipeline: ({ config, pipeline }) =>
    pipeline.exactly_once && config.id === 'none'
      ? [
          {
            message:
              '`exactly_once` requires that a document has the same id whenever it is sent; found `id: none`',
          },
        ]
      : [],
  forward: ({ ctx, event, id, restOf, eventIds }) => send(ctx, [event], callIds(id, restOf, eventIds)),
  forwardBatch: ({ ctx, events, id, restOf, eventIds }) => send(ctx, events, callIds(id, restOf, eventIds)),
  forwardJsonLines({ ctx }) {
    const { index, data_stream, id: ids } = ctx.config;
    const target = data_stream ?? index;
    if (typeof target !== 'string' || typeof ids !== 'string') return undefined;
    return (lines, id, restOf, eventIds) =>
      sink.send(ctx, () => {
        const writeHead = headWriter(target, ids === 'none' ? undefined : callIds(id, restOf, eventIds));
        const { bytes, count } = flatLines(lines, '@timestamp', writeHead);
        return new LineDocuments(bytes, count, { linesEach: 2 });
      });
  },
});

function wrongTargets({ index, data_stream }: Config): readonly ConfigProblem[] {
  if ((index === undefined) !== (data_stream === undefined)) return [];
  return [{ path: [], message: 'exactly one of `index` and `data_stream` is required' }];
}

/** Without the fields of an answer that millrace reads, it would not be known what was stored. */
function filtered({ url }: Config): readonly ConfigProblem[] {
  if (!new URL(url).searchParams.has('filter_path')) return [];
  return [{ path: ['url'], message: 'leave out the parameter `filter_path`, which millrace sets itself' }];
}

/** The rules for names of indices, which are those for data streams too. `<logs-{now/d}>` is a name that the server computes. */
function isName(text: string): boolean {
  if (/^<[^<>\s/\\*?"|,]*\{[^<>\s\\*?"|,]+\}[^<>\s/\\*?"|,]*>$/.test(text)) return true;
  return !/^(?:[-_+].*|\.{0,2})$|[\s\\/*?"<>|,#:A-Z]/.test(text) && Buffer.byteLength(text) <= 255;
}

/** Writes the line in front of a document, whose parts are the same for all but the position. */
function headWriter(target: string, ids: CallIds | undefined): Parameters<typeof flatLines>[2] {
  const action = (_id?: string) => JSON.stringify({ create: { _index: target, _id } });
  if (ids === undefined) {
    const line = Buffer.from(`${action()}\n`);
    return (writer) => writer.copy(line);
  }
  const { events } = ids;
  const all = action(events === undefined ? `${ids.call}-` : '');
  const before = Buffer.from(all.slice(0, -'"}}'.length));
  const after = Buffer.from('"}}\n');
  return (writer, position) => {
    writer.copy(before);
    if (events === undefined) writer.number(positionIn(ids, position));
    else writer.text(events(position));
    writer.copy(after);
  };
}

function send(ctx: Context, events: readonly CollectedEvent[], ids: CallIds) {
  const write = itemWriterOf(ctx);
  const documentsOf = (items: readonly string[]) =>
    new LineDocuments(Buffer.from(items.join('')), items.length, { linesEach: 2 });
  return sink.send(ctx, () =>
    encodedCall(events, (event, position) => write(event, eventIdAt(ids, position)), documentsOf),
  );
}

/** Writes the two lines of an event. */
const itemWriterOf = oncePerContext(({ config: { index = '', data_stream, id } }: Context) => {
  const target = { setting: data_stream ?? index, of: data_stream === undefined ? 'index' : 'data_stream' };
  const targetOf = evaluator(target.setting, isName, `a name for \`${target.of}\``);
  const ownIdOf = typeof id === 'string' ? undefined : evaluator(id, isId, 'an id, which has 1 to 512 bytes');
  return (event: CollectedEvent, callId: string) => {
    const _id = id === 'none' ? undefined : (ownIdOf?.(event) ?? callId);
    const action = JSON.stringify({ create: { _index: targetOf(event), _id } });
    return `${action}\n${flatLine(event, '@timestamp')}`;
  };
});

/** A setting that may be an expression, as a function of the event. */
function evaluator(
  setting: string | { readonly cel: string },
  isValid: (text: string) => boolean,
  expected: string,
): (event: CollectedEvent) => string {
  if (typeof setting === 'string') return () => setting;
  const compiled = new CelExpression(setting.cel, cel);
  return (event) => {
    const value = compiled.of(event);
    if (typeof value === 'string' && isValid(value)) return value;
    throw new PluginError(`the expression \`${setting.cel}\` did not give ${expected}`);
  };
}

const isId = (text: string) => text !== '' && Buffer.byteLength(text) <= 512;

/** Statuses of items that the server would refuse again. */
const REFUSALS = new Set([400, 413, 422]);
/** Errors with such a status which are about the index or the cluster: they end when somebody repairs that. */
const MAY_END = new Set(['index_closed_exception', 'validation_exception', 'cluster_block_exception']);
/** How the reasons of `illegal_argument_exception` start that are about the index: a missing ingest pipeline, and an alias. */
const ABOUT_INDEX = /^(?:pipeline with id \[|no write index is defined)/;
const NO_ERRORS = /^\s*\{[^[{]*"errors"\s*:\s*false/;

/**
 * The items that were not stored. One with an id that is there already was stored by an earlier request.
 *
 * @throws PluginError, fatal, if the answer is not that of a bulk request: it is not known which events were stored.
 */
function readItems({ status, text, retryAfter }: Answer, of: AnsweredCall): PartialFailure {
  if (NO_ERRORS.test(text)) return { failedEvents: [] };
  const items = bulkItems(text, 'create');
  const { count } = of.documents;
  if (items?.length !== count) {
    const message = `${of.server} answered ${status} to ${counted(count, 'event')} with a body other than that of a bulk request, so it is not known which of them it stored; check \`url\``;
    throw Object.assign(new PluginError(message), { fatal: true });
  }
  const types = items.map(errorType);
  const statuses = items.map(statusOf);
  const isPermanent = (own: number, n: number) =>
    REFUSALS.has(own) && !MAY_END.has(types[n] ?? '') && !isAboutIndex(items[n]);
  return { failedEvents: failedItems(statuses, of, types, isPermanent), retryAfter };
}

/** The reason is only compared, and never shown. */
function isAboutIndex(item: BulkItem | undefined): boolean {
  const { type, reason } = (item?.error ?? {}) as { readonly type?: unknown; readonly reason?: unknown };
  return type === 'illegal_argument_exception' && typeof reason === 'string' && ABOUT_INDEX.test(reason);
}
