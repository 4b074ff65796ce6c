import type { Observable } from 'rxjs';
import { PluginError } from '../../src/sdk/index.ts';

/** A message that a consumer was given. `ack`, `nak` and `term` end its delivery. */
export interface NatsMessage {
  readonly data: Uint8Array;
  readonly subject: string;
  /** Its number in the stream. */
  readonly sequence: number;
  /** How often it was delivered, this time included. */
  readonly deliveries: number;
  /** Messages after it that were delivered to no worker yet. */
  readonly pending: number;
  /** When the stream stored it: a stream that is created again starts to count from 1 again. */
  readonly storedAt: string;
  /** It is still being worked on: `ack_wait` starts again. */
  working(): void;
  ack(): void;
  /** To be delivered again after so many milliseconds. */
  nak(delay: number): void;
  /** Never to be delivered again. */
  term(): void;
}

/** A message for a stream. */
export interface OutgoingMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** `Nats-Msg-Id`: within the window of the stream, a message with an id that it has is acknowledged and not stored. */
  readonly id: string;
}

/** A message that is above a limit of the server, of the account or of the stream: only a part of it may be stored. */
export class MessageTooLarge extends PluginError {
  constructor(message: string, cause?: unknown) {
    super(message, { permanent: true, cause });
  }
}

/** No stream takes the subject of a message: it may have been deleted. */
export class NoStream extends PluginError {}

/** How far a consumer has come. */
export interface ConsumerPosition {
  /** When the stream was created: one that is created again has other messages under the same numbers. */
  readonly streamCreated: string;
  /** The number in the stream up to which all messages are acknowledged. */
  readonly acknowledged: number;
}

/** A consumer of a stream, as the server describes it. */
export interface NatsConsumer {
  /** Set if it was missing and has been created: it gives the messages after this one. */
  readonly createdAfter: number | undefined;
  /** Milliseconds after which a message that is not acknowledged is delivered again. */
  readonly ackWait: number;
  /**
   * Emits at most `messages` messages as they come, and completes when they have, or when the request has expired, after
   * `expires` milliseconds, at least 1000. Errors if the consumer cannot be asked. After an unsubscription, messages that
   * were sent meanwhile are given back at once.
   */
  pull(messages: number, expires: number): Observable<NatsMessage>;
  /** Emits how many messages have not been delivered to any worker yet. */
  pending(): Observable<number>;
  /** Emits where the consumer is, or nothing if this user may not see the stream. */
  position(): Observable<ConsumerPosition>;
}

export interface StreamSettings {
  readonly subjects: readonly string[];
  readonly replicas: number;
  readonly storage: 'file' | 'memory';
  readonly retention: 'limits' | 'workqueue' | 'interest';
  readonly discard: 'old' | 'new';
  /** Seconds. */
  readonly max_age?: number | undefined;
  readonly max_bytes?: number | undefined;
  /** Seconds. */
  readonly duplicate_window: number;
}

export interface ConsumerSettings {
  readonly durable: string;
  readonly start: 'all' | 'new';
  /** Seconds. */
  readonly ack_wait: number;
  readonly max_ack_pending: number;
  readonly filter_subject?: string | undefined;
}

/** A connection to JetStream: what the plugins use of the client, so that tests can take its place. */
export interface NatsLink {
  /** The most bytes of a message that the server takes now, headers included. */
  readonly maxPayload: number;
  /**
   * Completes when the stream has stored the message, or has had it before. Errors with `MessageTooLarge` or `NoStream` in
   * these cases.
   */
  publish(message: OutgoingMessage, stream: string | undefined): Observable<never>;
  /**
   * Emits the most bytes of a message that the whole stream has room for, headers included. Creates the stream if `create`
   * says how, and otherwise errors if there is none.
   */
  stream(name: string, create: StreamSettings | undefined): Observable<number>;
  /**
   * Emits the consumer. Creates it if `create`: where it was, if `last` is a position of it in this stream, and otherwise
   * where the settings say.
   */
  consumer(
    stream: string,
    settings: ConsumerSettings,
    create: boolean,
    last: ConsumerPosition | undefined,
  ): Observable<NatsConsumer>;
  /** Completes when the server has what was sent, and what it had sent has come. At once without a connection. */
  flush(): Observable<never>;
  /** Sends what is in its buffers, acknowledgements for example, and then closes the connection. */
  close(): void;
}

/** What a link tells of its connection, beside errors of single calls. */
export interface LinkEvents {
  lost(): void;
  restored(): void;
  /** It is closed for good: the next call opens another one. */
  closed(reason: string): void;
}

/** Emits a link once it is connected. Errors with a `PluginError` that may be logged. */
export type OpenLink<Settings> = (
  settings: Settings,
  name: string,
  events: LinkEvents,
) => Observable<NatsLink>;
