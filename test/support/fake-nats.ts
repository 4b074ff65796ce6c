import { defer, EMPTY, ignoreElements, map, Observable, of, throwError, timer } from 'rxjs';
import {
  type ConsumerPosition,
  type ConsumerSettings,
  type LinkEvents,
  MessageTooLarge,
  type NatsConsumer,
  type NatsLink,
  type NatsMessage,
  NoStream,
  type OpenLink,
  type OutgoingMessage,
  type StreamSettings,
} from '../../plugins/nats/link.ts';
import { headerBytes } from '../../plugins/nats/message-draft.ts';
import type { ConnectionSettings } from '../../plugins/nats/settings.ts';
import { PluginError } from '../../src/sdk/errors.ts';

/** How a message of the stream was answered. */
type Answer = 'ack' | 'term' | `nak ${number}`;

interface Delivery {
  readonly message: NatsMessage;
  answer: Answer | undefined;
}

/** One stream with one consumer, in memory and in virtual time: it stores, forgets ids never, and delivers again. */
export class FakeNats {
  readonly stored: { readonly subject: string; readonly text: string; readonly id: string }[] = [];
  /** Everything that was asked for. */
  readonly calls: string[] = [];
  readonly answers: string[] = [];
  /** Bytes of a message, headers included: of the server, and of the stream, which only refuses it. */
  maxPayload = 1024 * 1024;
  maxMessage = Number.POSITIVE_INFINITY;
  /** Bytes of a message and its subject that the whole stream has room for. */
  maxStream = Number.POSITIVE_INFINITY;
  /** Bytes of each message that was published, headers included. */
  readonly published: number[] = [];
  hasStream = true;
  ackWait = 30_000;
  /** Called with each message to be stored; throws if it cannot be. */
  onPublish: (message: OutgoingMessage) => void = () => {};
  /** Why no connection can be opened now. */
  refuses: PluginError | undefined;
  latency = 0;
  /** It delivers messages again that are given back, or not acknowledged within `ackWait`. */
  deliversAgain = true;
  /** It does not hear that messages are in work. */
  isDeaf = false;
  /** The bytes of a message, if they are no text. */
  asBytes: ((text: string) => Buffer) | undefined;
  links = 0;
  /** How many messages each request was for. */
  readonly requests: number[] = [];
  /** How often the server was asked for what is pending. */
  asked = 0;
  /** Messages that are pending when the server is asked, and that others have when they are requested. */
  takenByOthers = 0;
  readonly #ids = new Set<string>();
  readonly #requests = new Set<{
    left: number;
    give(message: NatsMessage): void;
    end(): void;
    fail(): void;
  }>();
  #waiting: { sequence: number; deliveries: number }[] = [];
  readonly #acknowledged = new Set<number>();
  #hasConsumer = true;
  #streamCreated = 1;
  #events: LinkEvents | undefined;
  readonly #open = new Map<number, { stop(): void }>();

  open: OpenLink<ConnectionSettings> = (_settings, name, events) =>
    defer(() => {
      if (this.refuses !== undefined) return throwError(() => this.refuses);
      this.links++;
      this.#events = events;
      this.calls.push(`open ${name}`);
      return of(this.#link());
    });

  /** A message of somebody else. */
  put(text: string, subject = 'logs.app'): void {
    this.stored.push({ subject, text, id: '' });
    if (!this.#hasConsumer) return;
    this.#waiting.push({ sequence: this.stored.length, deliveries: 0 });
    this.#deliver();
  }

  /** The server has lost the state of the consumer: it delivers all messages after this one, and counts from 1 again. */
  rewind(after: number): void {
    for (const { stop } of this.#open.values()) stop();
    this.#waiting = this.stored
      .map((_, index) => ({ sequence: index + 1, deliveries: 0 }))
      .filter(({ sequence }) => sequence > after);
    this.#deliver();
  }

  /** The consumer is gone, and so is the stream if `stream`. Another one has the messages that are put from now on. */
  deleteConsumer(stream = false): void {
    if (stream) {
      this.stored.length = 0;
      this.#acknowledged.clear();
      this.#streamCreated++;
    }
    this.#hasConsumer = false;
    this.#waiting = [];
    for (const request of this.#requests) request.fail();
  }

  /** The stream has a message with this id. */
  know(id: string): void {
    this.#ids.add(id);
  }

  /** What happens to a connection. */
  get connection(): LinkEvents {
    if (this.#events === undefined) throw new Error('there is no connection');
    return this.#events;
  }

  #link(): NatsLink {
    const maxPayload = () => this.maxPayload;
    return {
      get maxPayload() {
        return maxPayload();
      },
      publish: (message, stream) =>
        defer(() => {
          const { subject, payload, id } = message;
          const bytes = payload.length + headerBytes(id, stream);
          this.published.push(bytes);
          this.onPublish(message);
          if (!this.hasStream) throw new NoStream('no stream takes the subject');
          // The client throws, and its connection is as before.
          if (bytes > this.maxPayload) throw new PluginError('max_payload size exceeded');
          if (bytes > this.maxMessage) throw new MessageTooLarge('message size exceeds maximum allowed');
          this.calls.push(`publish ${subject}${stream === undefined ? '' : ` to ${stream}`}`);
          if (!this.#ids.has(id)) {
            this.#ids.add(id);
            this.stored.push({ subject, text: Buffer.from(payload).toString(), id });
          }
          return this.latency === 0 ? EMPTY : timer(this.latency).pipe(ignoreElements());
        }),
      stream: (name: string, create: StreamSettings | undefined) => {
        this.calls.push(`stream ${name}${create === undefined ? '' : ` of ${create.subjects.join(' ')}`}`);
        if (create !== undefined) this.hasStream = true;
        return of(this.maxStream);
      },
      consumer: (stream, settings, create, last) => of(this.#consumer(stream, settings, create, last)),
      flush: () => {
        this.calls.push('flush');
        return EMPTY;
      },
      close: () => {
        this.calls.push('close');
      },
    };
  }

  #consumer(
    stream: string,
    { durable, max_ack_pending }: ConsumerSettings,
    create: boolean,
    last: ConsumerPosition | undefined,
  ): NatsConsumer {
    let createdAfter: number | undefined;
    if (!this.#hasConsumer) {
      createdAfter = last?.streamCreated === String(this.#streamCreated) ? last.acknowledged : 0;
      this.#hasConsumer = true;
      this.rewind(createdAfter);
    }
    const after = createdAfter === undefined ? '' : `, after ${createdAfter}`;
    this.calls.push(
      `${create ? 'create' : 'use'} ${durable} of ${stream}, ${max_ack_pending} at most${after}`,
    );
    return {
      createdAfter,
      position: () => {
        let acknowledged = 0;
        while (this.#acknowledged.has(acknowledged + 1)) acknowledged++;
        return of({ streamCreated: String(this.#streamCreated), acknowledged });
      },
      ackWait: this.ackWait,
      pull: (messages, expires) =>
        new Observable((subscriber) => {
          const request = {
            left: messages,
            give: (message: NatsMessage) => subscriber.next(message),
            end: () => subscriber.complete(),
            fail: () => subscriber.error(new PluginError('consumer deleted')),
          };
          this.requests.push(messages);
          this.#requests.add(request);
          subscriber.add(() => this.#requests.delete(request));
          // A TestScheduler of RxJS fails if what is due clears a timer of the same millisecond, such as that of `nak`.
          subscriber.add(timer(expires + 1).subscribe(() => subscriber.complete()));
          this.#deliver();
        }),
      pending: () => {
        this.asked++;
        return timer(1).pipe(map(() => this.#waiting.length + this.takenByOthers));
      },
    };
  }

  #deliver(): void {
    for (const request of this.#requests) {
      while (request.left > 0) {
        const next = this.#waiting.shift();
        if (next === undefined) return;
        request.left--;
        request.give(this.#message(next.sequence, next.deliveries + 1).message);
      }
      this.#requests.delete(request);
      request.end();
    }
  }

  #message(sequence: number, deliveries: number): Delivery {
    const { text, subject } = this.stored[sequence - 1] as { text: string; subject: string };
    const again = (ms: number) =>
      (this.deliversAgain ? timer(ms) : EMPTY).subscribe(() => {
        this.#waiting.push({ sequence, deliveries });
        this.#deliver();
      });
    let waiting = again(this.ackWait);
    this.#open.get(sequence)?.stop();
    this.#open.set(sequence, { stop: () => waiting.unsubscribe() });
    const answered = (answer: Answer) => {
      this.#open.get(sequence)?.stop();
      delivery.answer = answer;
      this.answers.push(`${sequence} ${answer}`);
    };
    const delivery: Delivery = {
      answer: undefined,
      message: {
        data: this.asBytes?.(text) ?? Buffer.from(text),
        subject,
        sequence,
        deliveries,
        // As the server counts.
        pending: this.#waiting.filter((waiting) => waiting.deliveries === 0).length,
        storedAt: `${this.#streamCreated} ${sequence}`,
        ack: () => {
          this.#acknowledged.add(sequence);
          answered('ack');
        },
        term: () => answered('term'),
        nak: (delay) => {
          answered(`nak ${delay}`);
          again(delay);
        },
        working: () => {
          if (this.isDeaf) return;
          waiting.unsubscribe();
          waiting = again(this.ackWait);
          this.answers.push(`${sequence} working`);
        },
      },
    };
    return delivery;
  }
}
