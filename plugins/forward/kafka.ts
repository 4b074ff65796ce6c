import * as zlib from 'node:zlib';
import * as cel from '@marcbachmann/cel-js';
import * as z from 'zod';
import {
  batching,
  type ConfigProblem,
  defineForwarder,
  ForwardConfigBase,
  type ForwardPlugin,
  oncePerContext,
  type PipelineRunContext,
  seconds,
} from '../../src/sdk/index.ts';
import { expression, fieldName } from '../expressions/schema.ts';
import { PAYLOADS, recordsFrom } from '../kafka/outgoing-records.ts';
import { Publisher } from '../kafka/publisher.ts';
import { COMPRESSIONS, type OpenWriter, openWriter } from '../kafka/record-writer.ts';
import { connectionFields, insecureConnection, topicName } from '../kafka/settings.ts';
import { TransactionPublisher } from '../kafka/transaction-publisher.ts';
import { type OpenTransactionWriter, openTransactionWriter } from '../kafka/transaction-writer.ts';

const computed = (expected: string, types: string[]) =>
  z.strictObject({ cel: expression(cel, { expected, types }).describe('The expression.') });
const KEY_TYPES = ['string', 'int', 'double', 'bool', 'dyn', 'null_type', 'null'];

const schema = ForwardConfigBase.extend({
  ...connectionFields,
  topic: z
    .union([topicName(), computed('an expression that gives a string', ['string', 'dyn'])])
    .describe('The topic, or `{ cel: … }`: an expression that gives the topic of each event.'),
  key: z
    .union([fieldName(), computed('an expression that gives a string, a number or null', KEY_TYPES)])
    .optional()
    .describe(
      'The field of `data` that is the key of the record, or `{ cel: … }`. Events of one key stay in one partition, and in order. Default: no key.',
    ),
  payload: z
    .enum(PAYLOADS)
    .default('event')
    .describe(
      'The value of the record: the whole event as JSON, the fields of `data` next to `timestamp`, or `data.line` as text.',
    ),
  compression: z.enum(COMPRESSIONS).default('none').describe('How batches are compressed.'),
  ...batching({ events: 1000 }),
  timeout: seconds().gt(0).default(30).describe('Seconds for a request, until it is answered.'),
});
type Config = Readonly<z.output<typeof schema>> & { readonly name: string };
type Context = PipelineRunContext<Config>;

/** Events of a transaction at most: which of them are stored is noted in a few bytes. */
const MOST_NOTED_EVENTS = 20_000;

/** The plugin, with another client for tests. */
export function kafkaForwarder(open: OpenWriter, openTransactional: OpenTransactionWriter): ForwardPlugin {
  const publisherOf = oncePerContext((ctx: Context) =>
    isExact(ctx) ? new TransactionPublisher(ctx, openTransactional) : new Publisher(ctx, open),
  );
  const recordsOf = oncePerContext((ctx: Context) => recordsFrom(ctx.config));
  return defineForwarder({
    description: 'Writes events to a topic of Apache Kafka, and waits until all replicas in sync have them.',
    example: `
log_store:
  plugin: kafka
  brokers: [kafka1:9092, kafka2:9092]
  topic: logs
  key: source
`,
    schema,
    shownSettings: { brokers: '', topic: '', key: '' },
    traits: { deduplicates: true },
    checkConfig: ({ config }) => [...missingCodec(config as Config), ...insecureConnection(config as Config)],
    checkPipeline: ({ config, pipeline }) =>
      pipeline.exactly_once && (config as Config).batch.events > MOST_NOTED_EVENTS
        ? [{ message: `\`exactly_once\` requires a \`batch.events\` of at most ${MOST_NOTED_EVENTS}` }]
        : [],
    forward: ({ ctx, event, id, restOf }) =>
      publisherOf(ctx).publish(id, () => recordsOf(ctx).ofEvents([event]), restOf),
    forwardBatch: ({ ctx, events, id, restOf }) =>
      publisherOf(ctx).publish(id, () => recordsOf(ctx).ofEvents(events), restOf),
    forwardJsonLines({ ctx }) {
      const { ofLines } = recordsOf(ctx);
      return ofLines && ((lines, id, restOf) => publisherOf(ctx).publish(id, () => ofLines(lines), restOf));
    },
  });
}

export default kafkaForwarder(openWriter, openTransactionWriter);

/** Whether it is the forwarder of a pipeline with `exactly_once`, rather than its dead letter. */
function isExact({ config, pipeline, pipeline_config }: Context): boolean {
  const { exactly_once, forward = [] } = pipeline_config.pipelines[pipeline] ?? {};
  const names = forward.map((route) => (typeof route === 'string' ? route : route.to));
  return exactly_once === true && names.includes(config.name);
}

function missingCodec(config: Config): readonly ConfigProblem[] {
  if (config.compression !== 'zstd' || 'zstdCompressSync' in zlib) return [];
  return [{ path: ['compression'], message: 'zstd requires Node.js 22.15 or later; choose `lz4` or `gzip`' }];
}
