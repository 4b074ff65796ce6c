import { asyncScheduler, concatMap, EMPTY, interval, Observable, type Subscription, timer } from 'rxjs';
import * as z from 'zod';
import { Fifo } from '../../operators/support/fifo.ts';
import { LruMap } from '../../operators/support/lru-map.ts';
import { untilAborted } from '../../operators/until-aborted.ts';
import {
  CollectConfigBase,
  type CollectPlugin,
  collectedEvent,
  defineCollector,
  EventBatch,
  integer,
  isFatal,
  type Outcome,
  type PipelineRunContext,
  PluginError,
  safeReason,
} from '../../src/sdk/index.ts';
import { connectNats } from '../nats/connect.ts';
import type { NatsConsumer, NatsMessage, OpenLink } from '../nats/link.ts';
import { readEvents } from '../nats/read-events.ts';
import {
  type ConnectionSettings,
  connectionFields,
  jetStreamName,
  subjectPattern,
} from '../nats/settings.ts';
import { SharedLink } from '../nats/shared-link.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Messages that are asked for at a time, at most. */
const MOST_ASKED = 256;
/** Bytes of the messages that are asked for, as far as their size is known from those before. */
const MOST_BYTES = 16 * MIB;
/** Milliseconds for which the server keeps a request for messages. */
const EXPIRES = 10_000;
/** The same with `once`, where a request is for messages that are there: it waits only if other workers got them. */
const ONCE_EXPIRES = 1000;
/** Milliseconds between two attempts to use the consumer. */
const RETRY_WAIT = 1000;
/** Milliseconds. The wait before a failed message comes again doubles with each delivery. */
const LONGEST_NAK = 300_000;
/** Acknowledged messages that are known again, in case the acknowledgement was lost. */
const KNOWN_MESSAGES = 10_000;
/** Of a message that cannot be read, what the dead letter gets. */
const SHOWN_BYTES = 64 * KIB;

const schema = CollectConfigBase.extend({
  ...connectionFields,
  stream: jetStreamName().describe('The stream to read.'),
  durable: jetStreamName().describe(
    'The name of the consumer. Processes with the same one share its messages.',
  ),
  create: z.boolean().default(false).describe('Whether to create the consumer if it is missing.'),
  start: z
    .enum(['all', 'new'])
    .default('all')
    .describe('What a consumer that is created gets: every message of the stream, or new ones.'),
  filter_subject: subjectPattern()
    .optional()
    .describe('A consumer that is created gets only the messages of this subject.'),
  ack_wait: z
    .number()
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
  max_deliver: integer().min(1).default(5).describe('Deliveries of a message whose events fail, at most.'),
  nak_delay: z
    .number()
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
  max_message_bytes: integer()
    .min(KIB)
    .default(8 * MIB)
    .describe('A larger message is not read.'),
});
type Config = Readonly<z.output<typeof schema>>;
type Context = PipelineRunContext<Config & { readonly name: string }>;

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
    schema,
    shownSettings: { stream: '', durable: '' },
    usesState: false,
    heedsDemand: true,
    redelivers: true,
    /**
     * Emits a batch for each message, and acknowledges the message when its last event is. A message whose events failed
     * is delivered again after `nak_delay`, `max_deliver` times at most; one that cannot be read is never. Errors only if
     * the client is not installed, and with `ctx.once` if the consumer cannot be used.
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

interface Output {
  emit(batch: EventBatch): void;
  fail(error: unknown): void;
  complete(): void;
}

/** A message that was delivered to this process and not answered yet. */
interface Open {
  message: NatsMessage;
  readonly key: string;
  readonly size: number;
  readonly content: EventBatch['content'];
  /** Why it cannot be read. */
  readonly refusal: PluginError | undefined;
  /** When the server last heard of it, by the scheduler. */
  heardAt: number;
  isEmitted: boolean;
}

class ConsumerReader {
  readonly #ctx: Context;
  readonly #output: Output;
  readonly #link: SharedLink;
  readonly #open = new Map<string, Open>();
  readonly #waiting = new Fifo<Open>();
  /** Messages whose acknowledgement was sent. */
  readonly #acknowledged = new LruMap<string, true>(KNOWN_MESSAGES);
  #consumer: NatsConsumer | undefined;
  #requests = 0;
  /** Messages that were asked for and have not come. */
  #asked = 0;
  /** With `once`: messages that no worker has, as far as this one knows. */
  #left = 0;
  #waitingEvents = 0;
  #emittedMessages = 0;
  /** Of the largest message of the last ones: one event and a few bytes before the first has come. */
  #events = 1;
  #bytes = 1;
  #isStopped = false;
  #isTroubled = false;
  /** Until the reader is stopped. */
  #reading: Subscription;
  /** Until the run is over: what is in flight still needs it. */
  #progress: Subscription | undefined;

  constructor(ctx: Context, open: OpenLink<ConnectionSettings>, output: Output) {
    this.#ctx = ctx;
    this.#output = output;
    this.#link = new SharedLink(ctx, open, () => EMPTY);
    this.#reading = ctx.demand.room$.subscribe(() => this.#pump());
    this.#connect();
  }

  /** What waits is given back at once. What was emitted is answered as long as the run goes on. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reading.unsubscribe();
    for (const open of this.#open.values()) {
      if (open.isEmitted) continue;
      open.message.nak(0);
      this.#open.delete(open.key);
    }
    const end = () => {
      this.#progress?.unsubscribe();
      this.#link.close();
    };
    if (this.#open.size === 0 || this.#ctx.ended.aborted) end();
    else this.#ctx.ended.addEventListener('abort', end, { once: true });
  }

  #connect(): void {
    const { stream, durable, start, filter_subject, ack_wait, create } = this.#ctx.config;
    const window = Math.max(1, Math.floor(this.#ctx.demand.room));
    const max_ack_pending = this.#ctx.config.max_ack_pending ?? Math.min(window, 100_000);
    const settings = { durable, start, filter_subject, ack_wait, max_ack_pending };
    this.#reading.add(
      this.#link.link$.pipe(concatMap((link) => link.consumer(stream, settings, create))).subscribe({
        next: (consumer) => {
          this.#consumer = consumer;
          this.#reportRecovery();
          this.#progress?.unsubscribe();
          this.#progress = interval(consumer.ackWait / 4).subscribe(() =>
            this.#reportProgress(consumer.ackWait),
          );
          this.#pump();
        },
        error: (error) => this.#retry(error),
      }),
    );
  }

  #retry(error: unknown): void {
    const { logger, pipeline, config, once } = this.#ctx;
    if (isFatal(error) || once) {
      this.#output.fail(error);
      return;
    }
    if (!this.#isTroubled)
      logger.warn(`${pipeline}: collector ${config.name}: ${safeReason(error)}; trying again`);
    this.#isTroubled = true;
    this.#consumer = undefined;
    this.#reading.add(timer(RETRY_WAIT).subscribe(() => this.#connect()));
  }

  #reportRecovery(): void {
    const { logger, pipeline, config } = this.#ctx;
    if (this.#isTroubled) logger.info(`${pipeline}: collector ${config.name} reads the stream again`);
    this.#isTroubled = false;
  }

  /** Emits what there is room for, then asks for as many messages as there will be room for. */
  #pump(): void {
    if (this.#isStopped) return;
    this.#emitWaiting();
    const consumer = this.#consumer;
    if (consumer === undefined || this.#isStopped) return;
    const wanted = this.#wantedMessages();
    if (wanted === 0) return;
    if (this.#ctx.once) this.#pullPending(consumer, wanted);
    else this.#pull(consumer, wanted);
  }

  #wantedMessages(): number {
    const room = Math.floor((this.#ctx.demand.room - this.#waitingEvents) / this.#events);
    const most = Math.min(room, MOST_ASKED, Math.floor(MOST_BYTES / this.#bytes)) - this.#asked;
    const isIdle = this.#asked === 0 && this.#open.size === 0;
    if (isIdle) return this.#ctx.demand.room > 0 ? Math.max(1, most) : 0;
    // A request costs as much as a message, so it is not made for each one that was acknowledged.
    const isWorthwhile = this.#asked === 0 || most >= this.#asked;
    return most > 0 && isWorthwhile ? most : 0;
  }

  /**
   * With `once`: only what is there, and completes when nothing is. Each message says how many are behind it, so the server
   * is only asked before the first request and when that number is used up.
   */
  #pullPending(consumer: NatsConsumer, wanted: number): void {
    const known = Math.min(wanted, this.#left - this.#asked);
    if (known > 0) this.#pull(consumer, known);
    if (this.#requests > 0) return;
    this.#requests++;
    this.#reading.add(
      consumer.pending().subscribe({
        next: (pending) => {
          this.#requests--;
          this.#left = pending;
          if (pending > 0) this.#pull(consumer, Math.min(wanted, pending));
          else if (this.#open.size === 0) this.#output.complete();
        },
        error: (error) => this.#retry(error),
      }),
    );
  }

  #pull(consumer: NatsConsumer, messages: number): void {
    let left = messages;
    this.#asked += messages;
    this.#requests++;
    const end = () => {
      this.#asked -= left;
      left = 0;
      this.#requests--;
    };
    this.#reading.add(
      consumer.pull(messages, this.#ctx.once ? ONCE_EXPIRES : EXPIRES).subscribe({
        next: (message) => {
          if (left > 0) {
            left--;
            this.#asked--;
          }
          this.#left = message.pending;
          this.#take(message);
        },
        error: (error) => {
          end();
          if (this.#consumer === consumer) this.#retry(error);
        },
        complete: () => {
          end();
          this.#pump();
        },
      }),
    );
  }

  #take(message: NatsMessage): void {
    const key = `${message.sequence} ${message.storedAt}`;
    const known = this.#open.get(key);
    if (known !== undefined) {
      // It came again because it takes long, or because the server did not hear of it: it is in work.
      known.message = message;
      known.heardAt = asyncScheduler.now();
      return;
    }
    if (message.deliveries > 1 && this.#acknowledged.has(key)) {
      message.ack();
      return;
    }
    const open = { ...this.#read(message), message, key, heardAt: asyncScheduler.now(), isEmitted: false };
    this.#ctx.stats.bytes(message.data.length);
    this.#ctx.stats.pending(message.pending);
    this.#events = Math.max(1, open.size, this.#events * 0.9);
    this.#bytes = Math.max(1, message.data.length, this.#bytes * 0.9);
    if (open.size === 0) {
      message.ack();
      return;
    }
    this.#open.set(key, open);
    this.#waiting.push(open);
    this.#waitingEvents += open.size;
    this.#pump();
  }

  #read(message: NatsMessage): Pick<Open, 'content' | 'refusal' | 'size'> {
    const { format, max_message_bytes: most, stream } = this.#ctx.config;
    const { data, subject, sequence } = message;
    try {
      if (data.length > most) {
        throw new PluginError(`the message has ${data.length} bytes, above \`max_message_bytes\` (${most})`);
      }
      const content = readEvents(data, subject, format);
      return { content, refusal: undefined, size: 'size' in content ? content.size : content.length };
    } catch (error) {
      const shown = Buffer.from(data.subarray(0, SHOWN_BYTES)).toString();
      const content = [collectedEvent({ stream, sequence, subject, message: shown })];
      return { content, refusal: error as PluginError, size: 1 };
    }
  }

  #emitWaiting(): void {
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      const { room } = this.#ctx.demand;
      // A message that is larger than the window is emitted when nothing else is in flight.
      if (this.#isStopped || room <= 0 || (room < next.size && this.#emittedMessages > 0)) return;
      this.#waiting.shift();
      this.#waitingEvents -= next.size;
      this.#emit(next);
    }
  }

  #emit(open: Open): void {
    const { content, refusal, message } = open;
    open.isEmitted = true;
    this.#emittedMessages++;
    const path = `message ${message.sequence} of the stream ${this.#ctx.config.stream}`;
    const origin = { path, startOffset: 0, endOffset: message.data.length };
    const acknowledge = (outcome: Outcome) => this.#answer(open, outcome);
    this.#output.emit(
      refusal === undefined
        ? new EventBatch(content, acknowledge, origin)
        : EventBatch.refused((content as readonly never[])[0] as never, refusal, acknowledge, origin),
    );
  }

  #answer(open: Open, outcome: Outcome): void {
    const { max_deliver, nak_delay } = this.#ctx.config;
    const { message, refusal, key } = open;
    this.#open.delete(key);
    this.#emittedMessages--;
    if (refusal !== undefined) {
      message.term();
    } else if (outcome !== 'failed') {
      this.#acknowledged.set(key, true);
      message.ack();
    } else if (message.deliveries >= max_deliver) {
      this.#reportTerm(message);
      message.term();
    } else {
      message.nak(Math.min(nak_delay * 1000 * 2 ** (message.deliveries - 1), LONGEST_NAK));
    }
    this.#pump();
  }

  #reportTerm({ sequence, deliveries }: NatsMessage): void {
    const { logger, pipeline, config } = this.#ctx;
    logger.error(
      `${pipeline}: collector ${config.name}: events of message ${sequence} of the stream ${config.stream} failed in ` +
        `${deliveries} deliveries; it is not delivered again`,
    );
  }

  /** So that a message that takes longer than `ack_wait` is not given to another worker. */
  #reportProgress(ackWait: number): void {
    const now = asyncScheduler.now();
    for (const open of this.#open.values()) {
      if (now - open.heardAt < ackWait / 2) continue;
      open.message.working();
      open.heardAt = now;
    }
  }
}
