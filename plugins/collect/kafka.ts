import { Observable } from 'rxjs';
import * as z from 'zod';
import { untilAborted } from '../../operators/index.ts';
import {
  bytes,
  CollectConfigBase,
  type CollectPlugin,
  defineCollector,
  type EventBatch,
} from '../../src/sdk/index.ts';
import { type JoinGroup, joinGroup } from '../kafka/group-member.ts';
import { GroupReader, redeliveryWait } from '../kafka/group-reader.ts';
import { FORMATS } from '../kafka/incoming-records.ts';
import {
  type ConnectionSettings,
  connectionFields,
  insecureConnection,
  plainName,
  topicNames,
} from '../kafka/settings.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const schema = CollectConfigBase.extend({
  ...connectionFields,
  topics: topicNames().describe('The topics to read.'),
  group: plainName().describe('The consumer group. Processes with the same one share the partitions.'),
  instance: plainName()
    .optional()
    .describe(
      'A name of this process for the group (`group.instance.id`), by which it gets the same partitions when it comes back within a minute after a crash.',
    ),
  from: z
    .enum(['earliest', 'latest'])
    .default('earliest')
    .describe(
      'Where a group starts that has committed nothing: at the first record that is there, or at the end.',
    ),
  format: z
    .enum(FORMATS)
    .default('events')
    .describe('What a record holds: an event as a `kafka` forwarder writes it, a JSON object, or text.'),
  metadata: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The field of `data` that gets `topic`, `partition`, `offset`, `timestamp`, `key` and `headers` of the record. Default: none.',
    ),
  max_message_bytes: bytes()
    .min(KIB)
    .default(8 * MIB)
    .describe('A larger record is not read.'),
});

/** The plugin, with another client for tests. */
export function kafkaCollector(join: JoinGroup): CollectPlugin {
  return defineCollector({
    description: 'Reads topics of Apache Kafka as a member of a consumer group.',
    example: `
orders:
  plugin: kafka
  brokers: [kafka1:9092, kafka2:9092]
  topics: [orders]
  group: millrace
  format: json
`,
    schema,
    shownSettings: { brokers: '', topics: '', group: '' },
    checkConfig: ({ config }) => insecureConnection(config as ConnectionSettings),
    traits: { usesState: false, waits: true, redelivers: true },
    testing: {
      redelivery: () => ({ afterFailure: (deliveries) => redeliveryWait(deliveries), afterSilence: 0 }),
    },
    /**
     * Emits the records of the partitions that this member is given, and commits how far they are acknowledged. Records whose
     * events could not be delivered in time are read again, with all after them, and so is a record that cannot be read, until
     * it is in a dead letter. Errors only if the client is not installed, and with `ctx.once` if the group cannot be used or
     * records would have to be read again.
     */
    collect: ({ ctx }) =>
      new Observable<EventBatch>((subscriber) => {
        const reader = new GroupReader(ctx, join, subscriber);
        subscriber.add(() => reader.stop());
      }).pipe(untilAborted(ctx.signal)),
  });
}

export default kafkaCollector(joinGroup);
