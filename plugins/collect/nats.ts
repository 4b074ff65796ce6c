import { Observable } from 'rxjs';
import { untilAborted } from '../../operators/index.ts';
import { type CollectPlugin, defineCollector, type EventBatch } from '../../src/sdk/index.ts';
import { collectorSchema } from '../nats/collector-settings.ts';
import { connectNats } from '../nats/connect.ts';
import { ConsumerReader } from '../nats/consumer-reader.ts';
import type { OpenLink } from '../nats/link.ts';
import { nakDelay } from '../nats/message-answers.ts';
import type { ConnectionSettings } from '../nats/settings.ts';

/** The plugin, with another client for tests. */
export function natsCollector(open: OpenLink<ConnectionSettings>): CollectPlugin {
  return defineCollector({
    description: 'Reads a stream of NATS JetStream by a durable consumer, which several processes can share.',
    example: `
fleet:
  plugin: nats
  servers: nats://127.0.0.1:4222
  stream: LOGS
  durable: workers
  create: true
`,
    schema: collectorSchema,
    shownSettings: { servers: '', stream: '', durable: '' },
    traits: { usesState: false, waits: true, redelivers: true },
    testing: {
      redelivery: ({ config }) => ({
        afterFailure: (deliveries) =>
          deliveries < config.max_deliver ? nakDelay(config, deliveries) : undefined,
        afterSilence: config.ack_wait * 1000,
      }),
    },
    /**
     * Emits a batch for each message, and acknowledges the message when its last event is. A message whose events failed
     * is delivered again after `nak_delay`, `max_deliver` times at most. One that cannot be read is delivered again until a
     * dead letter takes it. Errors only if the client is not installed, and with `ctx.once` if the consumer cannot be used.
     */
    collect: ({ ctx }) =>
      new Observable<EventBatch>((subscriber) => {
        const reader = new ConsumerReader(ctx, open, {
          emit: (batch) => subscriber.next(batch),
          fail: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
        subscriber.add(() => reader.stop());
      }).pipe(untilAborted(ctx.signal)),
  });
}

export default natsCollector(connectNats);
