import * as z from 'zod';
import { bytes, CollectConfigBase, integer, type PipelineRunContext, seconds } from '../../src/sdk/index.ts';
import { connectionFields, jetStreamName, subjectPattern } from './settings.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The fields of the collector `nats`. */
export const collectorSchema = CollectConfigBase.extend({
  ...connectionFields,
  stream: jetStreamName().describe('The stream to read.'),
  durable: jetStreamName().describe(
    'The name of the consumer. Processes with the same one share its messages.',
  ),
  create: z.boolean().default(false).describe('Whether to create the consumer if it is missing.'),
  start: z
    .enum(['all', 'new'])
    .default('all')
    .describe('The messages that a new consumer gets: all messages of the stream, or only new ones.'),
  filter_subject: subjectPattern()
    .optional()
    .describe('A new consumer gets only the messages of this subject.'),
  ack_wait: seconds()
    .min(1)
    .default(30)
    .describe(
      'Seconds after which a message that is not acknowledged is delivered again. For a consumer that is created.',
    ),
  max_ack_pending: integer()
    .min(1)
    .optional()
    .describe(
      'Messages in flight at most, over all workers. For a consumer that is created. Default: `max_in_flight`.',
    ),
  max_deliver: integer()
    .min(1)
    .default(5)
    .describe(
      'Deliveries of a message whose events fail, at most. The server counts all deliveries, also those to a worker that stopped and gave the message back.',
    ),
  nak_delay: seconds()
    .gt(0)
    .default(5)
    .describe(
      'Seconds before a message whose events failed is delivered again. They double each time, up to 5 minutes.',
    ),
  format: z
    .enum(['events', 'json', 'lines'])
    .default('events')
    .describe(
      'What the lines of a message are: events as a `nats` forwarder writes them, JSON objects, or text.',
    ),
  max_message_bytes: bytes()
    .min(KIB)
    .default(8 * MIB)
    .describe('A larger message is not read.'),
});
export type CollectorConfig = Readonly<z.output<typeof collectorSchema>>;
export type CollectorContext = PipelineRunContext<CollectorConfig & { readonly name: string }>;
