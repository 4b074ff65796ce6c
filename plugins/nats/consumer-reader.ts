import {
  asapScheduler,
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  interval,
  Subscription,
  timer,
} from 'rxjs';
import { Fifo, LruMap } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  collectedEvent,
  EventBatch,
  isFatal,
  type Outcome,
  PluginError,
  type Rows,
  safeReason,
} from '../../src/sdk/index.ts';
import { readEvents } from '../lines/read-events.ts';
import type { CollectorContext } from './collector-settings.ts';
import type { ConsumerPosition, NatsConsumer, NatsMessage, OpenLink } from './link.ts';
import { MessageAnswers } from './message-answers.ts';
import type { ConnectionSettings } from './settings.ts';
import { SharedLink } from './shared-link.ts';

const KIB = 1024;
/** Messages that are asked for at a time, at most. */
const MOST_ASKED = 256;
/** Bytes of the messages that are asked for, as far as their size is known from those before. */
const MOST_BYTES = 16 * KIB * KIB;
/** Milliseconds for which the server keeps a request for messages. */
const EXPIRES = 10_000;
/** The expiry with `once`. A request then asks for available messages, and waits only if other workers took them. */
const ONCE_EXPIRES = 1000;
/** Milliseconds between two attempts to use the consumer. */
const RETRY_WAIT = 1000;
/** Milliseconds before more is asked for: messages that come together cost a quarter of the same one by one. */
const GATHER = 100;
/** Milliseconds between two looks at how far the consumer has come. */
const POSITION_INTERVAL = 2000;
/** Acknowledged messages that are known again, in case the server does not know of the acknowledgement. */
const KNOWN_MESSAGES = 10_000;
/** Of a message that cannot be read, what the dead letter gets. */
const SHOWN_BYTES = 64 * KIB;

/** What a reader does for its subscriber. */
interface ReaderOutput {
  emit(batch: EventBatch): void;
  fail(error: unknown): void;
  complete(): void;
}

/** A message that was delivered to this process and not answered yet. */
interface Open {
  /**
   * Removed with the answer. The memory of the map can refer to a deleted entry until V8 collects its old generation, and
   * the megabytes of messages after such entries would make that collection ten times as frequent.
   */
  held: Held | undefined;
  readonly key: string;
  readonly size: number;
  /** When the server last heard of it, by the scheduler. */
  heardAt: number;
  isEmitted: boolean;
}

interface Held {
  readonly message: NatsMessage;
  readonly rows: Rows;
  /** Why it cannot be read. */
  readonly refusal: PluginError | undefined;
}

/**
 * Reads a consumer: asks for as many messages as the window has room for, emits a batch for each, and answers it when its
 * events are acknowledged.
 */
export class ConsumerReader {
  readonly #ctx: CollectorContext;
  readonly #output: ReaderOutput;
  readonly #link: SharedLink;
  readonly #answers: MessageAnswers;
  readonly #open = new Map<string, Open>();
  readonly #waiting = new Fifo<Open>();
  /** Messages whose acknowledgement was sent. */
  readonly #acknowledged = new LruMap<string, true>(KNOWN_MESSAGES);
  #consumer: NatsConsumer | undefined;
  #requests = 0;
  /** Messages that were asked for and have not come. */
  #asked = 0;
  /** Messages that no worker has, as far as this one knows. */
  #left = 0;
  #waitingEvents = 0;
  #emittedMessages = 0;
  /** Events and bytes of the largest message of the last ones; undefined before the first has come. */
  #largest: { readonly events: number; readonly bytes: number } | undefined;
  #isStopped = false;
  #isFailing = false;
  #isPumpDue = false;
  /** The next request waits for more messages. */
  #isGathering = false;
  /** The messages that are after the last one may be asked for, however few they are. */
  #mayAskForRest = false;
  #takenAt = Number.NEGATIVE_INFINITY;
  /** Where the consumer was when the server was last asked. */
  #position: ConsumerPosition | undefined;
  #watching: Subscription | undefined;
  /** Until the reader is stopped. */
  readonly #reading = new Subscription();
  /** Until the run is over: what is in flight still needs it. */
  #progress: Subscription | undefined;

  constructor(ctx: CollectorContext, open: OpenLink<ConnectionSettings>, output: ReaderOutput) {
    this.#ctx = ctx;
    this.#output = output;
    this.#link = new SharedLink(ctx, open);
    this.#answers = new MessageAnswers(ctx);
    this.#reading.add(ctx.demand.room$.subscribe(() => this.#pumpSoon()));
    ctx.ended.addEventListener('abort', () => this.#progress?.unsubscribe(), { once: true });
    ctx.beforeEnd?.(
      defer(() => {
        this.stop();
        return this.#link.flush();
      }),
    );
    this.#connect();
  }

  /**
   * Gives back at once what waits. What was emitted is answered as long as the run goes on, and so is what the server had
   * sent before it knew of the stop.
   */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reading.unsubscribe();
    for (const open of this.#open.values()) {
      if (open.isEmitted) continue;
      open.held?.message.nak(0);
      this.#open.delete(open.key);
    }
  }

  #connect(): void {
    const { stream, durable, start, filter_subject, ack_wait, create } = this.#ctx.config;
    const window = Math.max(1, Math.floor(this.#ctx.demand.room));
    const max_ack_pending = this.#ctx.config.max_ack_pending ?? Math.min(window, 100_000);
    const settings = { durable, start, filter_subject, ack_wait, max_ack_pending };
    const consumer$ = this.#link.link$.pipe(
      concatMap((link) => link.consumer(stream, settings, create, this.#position)),
    );
    this.#reading.add(
      consumer$.subscribe({
        next: (consumer) => {
          this.#consumer = consumer;
          this.#reportRecovery();
          this.#reportCreated(consumer);
          this.#progress?.unsubscribe();
          this.#progress = interval(consumer.ackWait / 4).subscribe(() =>
            this.#reportProgress(consumer.ackWait),
          );
          if (create) this.#watchPosition(consumer);
          this.#pump();
        },
        error: (error) => this.#retry(error),
      }),
    );
  }

  /** A consumer that is deleted while it is read is created again where it was. */
  #watchPosition(consumer: NatsConsumer): void {
    this.#watching?.unsubscribe();
    this.#watching = timer(0, POSITION_INTERVAL)
      .pipe(exhaustMap(() => consumer.position().pipe(catchError(() => EMPTY))))
      .subscribe((position) => {
        this.#position = position;
      });
    this.#reading.add(this.#watching);
  }

  #reportCreated({ createdAfter }: NatsConsumer): void {
    if (createdAfter === undefined || this.#position === undefined) return;
    const { logger, pipeline, config } = this.#ctx;
    logger.warn(
      `${pipeline}: collector ${config.name}: the consumer ${config.durable} of the stream ${config.stream} was deleted; ` +
        `it is created again, and reads the messages after ${createdAfter}`,
    );
  }

  #retry(error: unknown): void {
    const { logger, pipeline, config, once } = this.#ctx;
    if (isFatal(error) || once) {
      this.#output.fail(error);
      return;
    }
    if (!this.#isFailing)
      logger.warn(`${pipeline}: collector ${config.name}: ${safeReason(error)}; trying again`);
    this.#isFailing = true;
    this.#consumer = undefined;
    this.#reading.add(timer(RETRY_WAIT).subscribe(() => this.#connect()));
  }

  #reportRecovery(): void {
    const { logger, pipeline, config } = this.#ctx;
    if (this.#isFailing) logger.info(`${pipeline}: collector ${config.name} reads the stream again`);
    this.#isFailing = false;
  }

  /** Once for all messages that are acknowledged together: a request for each would cost as much as the message. */
  #pumpSoon(): void {
    if (this.#isPumpDue || this.#isStopped) return;
    this.#isPumpDue = true;
    this.#reading.add(
      asapScheduler.schedule(() => {
        this.#isPumpDue = false;
        this.#pump();
      }),
    );
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
    else this.#pullGathered(consumer, wanted);
  }

  #wantedMessages(): number {
    const { room } = this.#ctx.demand;
    if (this.#largest === undefined) return this.#asked === 0 && room > 0 ? 1 : 0;
    const { events, bytes } = this.#largest;
    const fitting = Math.floor((room - this.#waitingEvents) / events);
    const most = Math.min(fitting, MOST_ASKED, Math.floor(MOST_BYTES / bytes)) - this.#asked;
    const isIdle = this.#asked === 0 && this.#open.size === 0;
    if (isIdle) return room > 0 ? Math.max(1, most) : 0;
    // A request costs as much as a message, so it is not made for each one that was acknowledged.
    const isWorthwhile = this.#asked === 0 || most >= this.#asked;
    return most > 0 && isWorthwhile ? most : 0;
  }

  /**
   * Asks for one message, which says how many are after it, and then for those. Then it waits, so that more gather at the
   * server, unless as many as there is room for are there. A message that comes after a pause is delivered at once.
   */
  #pullGathered(consumer: NatsConsumer, wanted: number): void {
    const known = Math.min(wanted, this.#left - this.#asked);
    if (known === wanted || (known > 0 && this.#mayAskForRest)) {
      this.#mayAskForRest = false;
      this.#pull(consumer, known);
    } else if (this.#asked === 0 && !this.#isGathering) {
      const wait = this.#takenAt + GATHER - asyncScheduler.now();
      if (wait <= 0) {
        this.#mayAskForRest = true;
        this.#pull(consumer, 1);
      } else {
        this.#isGathering = true;
        this.#reading.add(
          timer(wait).subscribe(() => {
            this.#isGathering = false;
            this.#pump();
          }),
        );
      }
    }
  }

  /**
   * With `once`: only what is there, and completes when nothing is. Each message says how many are after it, so the server
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
          this.#left = this.#behind(message);
          this.#take(message);
        },
        error: (error) => {
          end();
          if (this.#consumer === consumer) this.#retry(error);
        },
        complete: () => {
          // What was there went to other workers.
          if (left > 0) this.#left = 0;
          end();
          this.#pump();
        },
      }),
    );
  }

  /** Messages that are delivered again are not counted as pending, and come together: after a worker has died, for example. */
  #behind({ deliveries, pending }: NatsMessage): number {
    return deliveries > 1 && !this.#ctx.once ? Number.POSITIVE_INFINITY : pending;
  }

  #take(message: NatsMessage): void {
    this.#takenAt = asyncScheduler.now();
    const key = `${message.sequence} ${message.storedAt}`;
    const known = this.#open.get(key);
    if (known?.held !== undefined) {
      // It came again because it takes long, or because the server did not hear of it: it is in work.
      known.held = { ...known.held, message };
      known.heardAt = asyncScheduler.now();
      return;
    }
    // Whatever the number of deliveries: a server that lost the state of the consumer counts from 1 again.
    if (this.#acknowledged.has(key)) {
      message.ack();
      return;
    }
    const { size, ...read } = this.#read(message);
    const held = { ...read, message };
    const open: Open = { held, key, size, heardAt: asyncScheduler.now(), isEmitted: false };
    this.#ctx.stats.bytes(message.data.length);
    this.#ctx.stats.pending(message.pending);
    const { events, bytes } = this.#largest ?? { events: 1, bytes: 1 };
    this.#largest = {
      events: Math.max(1, size, events * 0.9),
      bytes: Math.max(1, message.data.length, bytes * 0.9),
    };
    if (size === 0) {
      message.ack();
      return;
    }
    this.#open.set(key, open);
    this.#waiting.push(open);
    this.#waitingEvents += size;
    this.#pump();
  }

  #read(message: NatsMessage): Omit<Held, 'message'> & Pick<Open, 'size'> {
    const { format, max_message_bytes: most, stream } = this.#ctx.config;
    const { data, subject, sequence } = message;
    try {
      if (data.length > most) {
        throw new PluginError(`the message has ${data.length} bytes, above \`max_message_bytes\` (${most})`);
      }
      const { rows } = new EventBatch(readEvents(data, subject, format));
      return { rows, refusal: undefined, size: rows.size };
    } catch (error) {
      const shown = Buffer.from(data.subarray(0, SHOWN_BYTES)).toString();
      const { rows } = new EventBatch([collectedEvent({ stream, sequence, subject, message: shown })]);
      return { rows, refusal: error as PluginError, size: 1 };
    }
  }

  #emitWaiting(): void {
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      const { room } = this.#ctx.demand;
      // A message that is larger than the window is emitted when nothing else is in flight.
      if (this.#isStopped || room <= 0 || (room < next.size && this.#emittedMessages > 0)) return;
      this.#waiting.shift();
      this.#waitingEvents -= next.size;
      if (next.held !== undefined) this.#emit(next, next.held);
    }
  }

  #emit(open: Open, { rows, refusal, message }: Held): void {
    open.isEmitted = true;
    this.#emittedMessages++;
    const path = `message ${message.sequence} of the stream ${this.#ctx.config.stream}`;
    const origin = { path, startOffset: 0, endOffset: message.data.length };
    const acknowledge = (outcome: Outcome) => this.#answer(open, outcome);
    this.#output.emit(
      refusal === undefined
        ? new EventBatch(rows, acknowledge, origin)
        : EventBatch.refused(rows.events[0] as CollectedEvent, refusal, acknowledge, origin),
    );
  }

  #answer(open: Open, outcome: Outcome): void {
    const { held, key } = open;
    if (held === undefined) return;
    open.held = undefined;
    this.#open.delete(key);
    this.#emittedMessages--;
    if (this.#answers.answer(held.message, held.refusal, outcome)) this.#acknowledged.set(key, true);
    this.#pumpSoon();
  }

  /** So that a message that takes longer than `ack_wait` is not given to another worker. */
  #reportProgress(ackWait: number): void {
    const now = asyncScheduler.now();
    for (const open of this.#open.values()) {
      if (now - open.heardAt < ackWait / 2) continue;
      open.held?.message.working();
      open.heardAt = now;
    }
  }
}
