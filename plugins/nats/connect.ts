import { readFileSync } from 'node:fs';
import type {
  ConsumerConfig,
  ConsumerMessages,
  JetStreamClient,
  JetStreamManager,
  JsMsg,
  StreamConfig,
  StreamInfo,
} from '@nats-io/jetstream';
import type { ConnectionOptions, NatsConnection, Subscription } from '@nats-io/transport-node';
import { catchError, defer, EMPTY, from, ignoreElements, map, Observable, takeUntil, timer } from 'rxjs';
import { PluginError, safeReason } from '../../src/sdk/index.ts';
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
} from './link.ts';
import { headerBytes } from './message-draft.ts';
import type { ConnectionSettings } from './settings.ts';

/** Milliseconds to connect, and to wait for an answer of the server. */
const TIMEOUT = 5000;
/** Milliseconds to wait at the end of a run until the server has what was sent. */
const FLUSH_TIMEOUT = 1000;
/** Milliseconds between two attempts to reach a server again. */
const RECONNECT_WAIT = 500;
/** Milliseconds; two of them without an answer end a connection, so that a partition is noticed. */
const PING_INTERVAL = 5000;

/** Connects by the packages `@nats-io/transport-node` and `@nats-io/jetstream`, which are imported on first use. */
export const connectNats: OpenLink<ConnectionSettings> = (settings, name, events) =>
  new Observable((subscriber) => {
    open(settings, name, events).then(
      (link) => {
        if (subscriber.closed) link.close();
        subscriber.next(link);
        subscriber.complete();
      },
      (error) => subscriber.error(problem(`cannot connect to ${settings.servers.join(', ')}`, error)),
    );
  });

async function open(settings: ConnectionSettings, name: string, events: LinkEvents): Promise<NatsLink> {
  const { client, jetstream } = await load();
  const connection = await client.connect({ ...optionsOf(settings, client), name });
  try {
    const manager = await jetstream.jetstreamManager(connection, { checkAPI: false, timeout: TIMEOUT });
    return new ClientLink(connection, manager.jetstream(), manager, settings.servers.join(', '), events);
  } catch (error) {
    void connection.close();
    throw error;
  }
}

async function load() {
  try {
    const client = await import('@nats-io/transport-node');
    return { client, jetstream: await import('@nats-io/jetstream') };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const message =
      'the plugin nats needs two packages that are not installed; install them beside millrace: ' +
      'npm install @nats-io/transport-node@3.3 @nats-io/jetstream@3.3';
    throw Object.assign(new PluginError(message, { cause }), { fatal: true });
  }
}

type Client = typeof import('@nats-io/transport-node');

/** Secrets are read whenever the client logs in, so that a rotated one is used after a reconnect. */
function optionsOf({ servers, auth = {}, tls }: ConnectionSettings, client: Client): ConnectionOptions {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const { token, user, password, nkey, creds } = auth;
  const authenticator = [
    token && client.tokenAuthenticator(() => token.read()),
    user && client.usernamePasswordAuthenticator(user, () => password?.read() ?? ''),
    nkey && client.nkeyAuthenticator(() => bytes(nkey.read())),
    creds && client.credsAuthenticator(() => bytes(creds.read())),
  ].find((way) => typeof way === 'function');
  return {
    servers: [...servers],
    timeout: TIMEOUT,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT,
    pingInterval: PING_INTERVAL,
    maxPingOut: 2,
    // A stack trace for each message takes longer than the message.
    noAsyncTraces: true,
    ...(authenticator && { authenticator }),
    ...(tls && {
      tls: {
        ...(tls.ca && { ca: readFileSync(tls.ca, 'utf8') }),
        ...(tls.cert && { cert: readFileSync(tls.cert, 'utf8') }),
        ...(tls.key && { key: tls.key.read() }),
        // Handed on to Node's TLS, and missing in the types of the client.
        ...({ rejectUnauthorized: tls.verify } as object),
      },
    }),
  };
}

/** A message that was published and not answered yet. */
interface Publication {
  readonly subject: string;
  readonly bytes: number;
  readonly fail: (error: PluginError) => void;
}

class ClientLink implements NatsLink {
  readonly #connection: NatsConnection;
  readonly #jetstream: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #servers: string;
  readonly #publications = new Set<Publication>();
  #isConnected = true;

  constructor(
    connection: NatsConnection,
    jetstream: JetStreamClient,
    manager: JetStreamManager,
    servers: string,
    events: LinkEvents,
  ) {
    this.#connection = connection;
    this.#jetstream = jetstream;
    this.#manager = manager;
    this.#servers = servers;
    void this.#watch(events);
    void connection.closed().then((error) => {
      this.#isConnected = false;
      events.closed(error instanceof Error ? reasonOf(error) : 'it was closed');
    });
  }

  get maxPayload(): number {
    return this.#connection.info?.max_payload ?? 1024 * 1024;
  }

  publish({ subject, payload, id }: OutgoingMessage, stream: string | undefined): Observable<never> {
    return new Observable((subscriber) => {
      // The client would keep the message and send it after a reconnect, as well as the next attempt.
      if (!this.#isConnected) {
        subscriber.error(new PluginError(`not connected to ${this.#servers}`));
        return;
      }
      const publication = {
        subject,
        bytes: payload.length + headerBytes(id, stream),
        fail: (error: PluginError) => subscriber.error(error),
      };
      this.#publications.add(publication);
      subscriber.add(() => this.#publications.delete(publication));
      const expect = stream === undefined ? {} : { expect: { streamName: stream } };
      this.#jetstream.publish(subject, payload, { msgID: id, timeout: TIMEOUT, ...expect }).then(
        () => subscriber.complete(),
        (error) => subscriber.error(publishProblem(error)),
      );
    });
  }

  stream(name: string, create: StreamSettings | undefined): Observable<number> {
    return call(`cannot use the stream ${name}`, async () => {
      const found = await this.#found(STREAM_NOT_FOUND, () => this.#manager.streams.info(name));
      if (found === undefined && create === undefined) {
        throw new PluginError(`there is no stream ${name}; create it, or set \`create: true\``);
      }
      const { config } =
        found ??
        (await this.#manager.streams.add({
          name,
          ...streamConfig(create as StreamSettings),
        } as StreamConfig));
      return config.max_bytes > 0
        ? config.max_bytes - STORED_BYTES[config.storage]
        : Number.POSITIVE_INFINITY;
    });
  }

  consumer(
    stream: string,
    settings: ConsumerSettings,
    create: boolean,
    last: ConsumerPosition | undefined,
  ): Observable<NatsConsumer> {
    const { durable, ack_wait, max_ack_pending, filter_subject } = settings;
    return call(`cannot use the consumer ${durable} of the stream ${stream}`, async () => {
      const known = await this.#found(CONSUMER_NOT_FOUND, () =>
        this.#manager.consumers.info(stream, durable),
      );
      if (known === undefined && !create) {
        throw new PluginError(
          `there is no consumer ${durable} of the stream ${stream}; create it, or set \`create: true\``,
        );
      }
      const state = create ? await this.#streamInfo(stream, known !== undefined) : undefined;
      const start = startOf(settings, last, state);
      const info =
        known ??
        (await this.#manager.consumers.add(stream, {
          durable_name: durable,
          ack_policy: 'explicit',
          ...start,
          ack_wait: ack_wait * 1e9,
          max_ack_pending,
          ...(filter_subject && { filter_subject }),
        }));
      const consumer = await this.#jetstream.consumers.get(stream, durable);
      const info$ = call(`cannot ask for the consumer ${durable}`, () => consumer.info());
      return {
        createdAfter: known === undefined ? info.delivered.stream_seq : undefined,
        ackWait: (info.config.ack_wait ?? 30e9) / 1e6,
        pull: (messages, expires) =>
          new Observable<NatsMessage>((subscriber) => {
            const callback = (message: JsMsg) => {
              const given = messageOf(message);
              if (subscriber.closed) given.nak(0);
              else subscriber.next(given);
            };
            const fail = (error: unknown) =>
              subscriber.error(problem(`cannot get messages of the consumer ${durable}`, error));
            consumer
              .fetch({ max_messages: messages, expires, callback } as object)
              .then((request) => {
                subscriber.add(() => endRequest(request));
                return request.closed().then((error) => {
                  if (error instanceof Error) fail(error);
                  else subscriber.complete();
                });
              })
              .catch(fail);
          }),
        pending: () => info$.pipe(map(({ num_pending }) => num_pending)),
        position: () =>
          state === undefined
            ? EMPTY
            : info$.pipe(
                map(({ ack_floor }) => ({
                  streamCreated: state.created,
                  acknowledged: ack_floor.stream_seq,
                })),
              ),
      };
    });
  }

  flush(): Observable<never> {
    if (!this.#isConnected) return EMPTY;
    return from(this.#connection.flush()).pipe(
      ignoreElements(),
      takeUntil(timer(FLUSH_TIMEOUT)),
      catchError(() => EMPTY),
    );
  }

  close(): void {
    // Acknowledgements may wait in its buffer.
    void this.#connection.drain().catch(() => {});
  }

  /** Undefined if this user may not see the stream, or if it is `optional` and does not come. */
  async #streamInfo(stream: string, optional: boolean): Promise<StreamInfo | undefined> {
    try {
      return await this.#manager.streams.info(stream);
    } catch (error) {
      if (optional || isForbidden(error)) return undefined;
      throw error;
    }
  }

  /** Undefined if there is none, which the server says by a code. */
  async #found<T>(notFound: number, look: () => Promise<T>): Promise<T | undefined> {
    try {
      return await look();
    } catch (error) {
      if ((error as { code?: unknown }).code === notFound) return undefined;
      throw error;
    }
  }

  /**
   * The server closes a connection with a message above a limit of the account, or with a subject that is too long, and
   * does not say which message that was. It cannot have been a smaller one than the largest without an answer.
   */
  #refuseLargest(violation: string): void {
    const isPayload = /maximum payload/i.test(violation);
    if (!isPayload && !/maximum control line/i.test(violation)) return;
    const sizeOf = ({ bytes, subject }: Publication) => (isPayload ? bytes : Buffer.byteLength(subject));
    const largest = [...this.#publications].reduce<Publication | undefined>(
      (most, next) => (most !== undefined && sizeOf(most) >= sizeOf(next) ? most : next),
      undefined,
    );
    largest?.fail(
      isPayload
        ? new MessageTooLarge('the message is above the limit of the server for this user (max_payload)')
        : new PluginError('the subject is longer than the server accepts (max_control_line)', {
            permanent: true,
          }),
    );
  }

  async #watch(events: LinkEvents): Promise<void> {
    for await (const status of this.#connection.status()) {
      const { type } = status;
      if (type === 'error') this.#refuseLargest(status.error.message);
      else if (type === 'disconnect') {
        this.#isConnected = false;
        events.lost();
      } else if (type === 'reconnect') {
        this.#isConnected = true;
        events.restored();
      }
    }
  }
}

/** Of the server's API. */
const STREAM_NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
const TOO_LARGE = 10054;
/** Bytes that a stream needs for a message in addition to its subject, headers and payload. */
const STORED_BYTES = { file: 34, memory: 16 };

function isForbidden(error: unknown): boolean {
  return error instanceof Error && (error.name === 'PermissionViolationError' || isForbidden(error.cause));
}

/** Where a consumer starts that is created. */
function startOf(
  { start }: ConsumerSettings,
  last: ConsumerPosition | undefined,
  stream: StreamInfo | undefined,
): Pick<ConsumerConfig, 'deliver_policy' | 'opt_start_seq'> {
  if (last === undefined || stream === undefined) return { deliver_policy: start };
  // The consumer was there before this stream, so that all messages of it are new.
  if (last.streamCreated !== stream.created) return { deliver_policy: 'all' };
  // A server that crashed may have lost the last messages of the stream.
  const acknowledged = Math.min(last.acknowledged, stream.state.last_seq);
  return { deliver_policy: 'by_start_sequence', opt_start_seq: acknowledged + 1 };
}

function streamConfig(settings: StreamSettings) {
  const { subjects, replicas, storage, retention, discard, max_age, max_bytes, duplicate_window } = settings;
  // Otherwise the server refuses a window that is longer than what it keeps.
  const window = max_age === undefined ? duplicate_window : Math.min(duplicate_window, max_age);
  return {
    subjects: [...subjects],
    num_replicas: replicas,
    storage,
    retention,
    discard,
    duplicate_window: window * 1e9,
    ...(max_age !== undefined && { max_age: max_age * 1e9 }),
    ...(max_bytes !== undefined && { max_bytes }),
  };
}

/**
 * Ends a request for messages. Messages that the server has already sent still arrive and are given back; otherwise no
 * worker would get them before `ack_wait` is over, which is the case if the client does not expose its subscription.
 */
function endRequest(request: ConsumerMessages): void {
  const { sub } = request as { readonly sub?: Subscription };
  if (sub === undefined || sub.isClosed()) request.stop();
  else void sub.drain().catch(() => request.stop());
}

function messageOf(message: JsMsg): NatsMessage {
  const { deliveryCount, pending, timestampNanos } = message.info;
  // On a closed connection, no answer can be given: the server delivers the message again.
  const answer = (give: () => void) => () => {
    try {
      give();
    } catch {}
  };
  return {
    data: message.data,
    subject: message.subject,
    sequence: message.seq,
    deliveries: deliveryCount,
    storedAt: String(timestampNanos),
    pending,
    working: answer(() => message.working()),
    ack: answer(() => message.ack()),
    nak: (delay) => answer(() => message.nak(delay))(),
    // Without a reason: servers before 2.10 do not understand one.
    term: answer(() => message.term()),
  };
}

function call<T>(what: string, made: () => Promise<T>): Observable<T> {
  return defer(() =>
    from(
      made().catch((error) => {
        throw problem(what, error);
      }),
    ),
  );
}

/** An error that may be logged. */
function problem(what: string, cause: unknown): PluginError {
  return cause instanceof PluginError ? cause : new PluginError(`${what}: ${reasonOf(cause)}`, { cause });
}

/** Why a message was not stored. */
function publishProblem(cause: unknown): PluginError {
  const { name, code, message } = cause as { name?: unknown; code?: unknown; message?: unknown };
  const text = `the message was not stored: ${reasonOf(cause)}`;
  if (code === TOO_LARGE) return new MessageTooLarge(`${text} (max_msg_size of the stream)`, cause);
  if (/^message too large$|max_payload size exceeded/.test(String(message)))
    return new MessageTooLarge(text, cause);
  const isWithoutStream =
    code === STREAM_NOT_FOUND || name === 'JetStreamNotEnabled' || name === 'NoRespondersError';
  return isWithoutStream ? new NoStream(text, { cause }) : new PluginError(text, { cause });
}

/** Messages of the client name subjects, which may be made of events, so most are put in our own words. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  switch (name) {
    case 'TimeoutError':
      return `no answer within ${TIMEOUT / 1000} s`;
    case 'JetStreamNotEnabled':
    case 'NoRespondersError':
      return 'no stream takes the subject now, or JetStream is not enabled';
    case 'PermissionViolationError':
      return 'the server does not permit it to this user';
    case 'AuthorizationError':
    case 'UserAuthenticationExpiredError':
      return 'the server refuses the login';
    case 'ClosedConnectionError':
    case 'DrainingConnectionError':
      return 'the connection is closed';
    case 'StreamNotFoundError':
      return 'there is no stream of this name; create it, or let a forwarder `nats` with `create: true` create it';
    case 'JetStreamApiError':
    case 'JetStreamStatusError':
    case 'JetStreamError':
      return message;
    case 'ConnectionError':
    case 'RequestError':
      return cause instanceof Error ? reasonOf(cause) : message;
    default:
      return safeReason(error);
  }
}
