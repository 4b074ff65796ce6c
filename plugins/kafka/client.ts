import { type ConnectionOptions, createSecureContext } from 'node:tls';
import type { BaseOptions, ConnectionPool, SASLOptions } from '@platformatic/kafka';
import { PluginError, safeReason } from '../../src/sdk/index.ts';
import { type ClientTls, connectionOptions } from '../tls/client-tls.ts';
import type { ConnectionSettings } from './settings.ts';

export type Client = typeof import('@platformatic/kafka');

/** Milliseconds to connect to a broker. */
const CONNECT_TIMEOUT = 5000;

/** Imports the package `@platformatic/kafka`, on first use. */
export async function loadClient(): Promise<Client> {
  try {
    return await import('@platformatic/kafka');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    const message =
      'the plugin kafka needs a package that is not installed; install it beside millrace: ' +
      'npm install @platformatic/kafka@1.35';
    throw Object.assign(new PluginError(message, { cause }), { fatal: true });
  }
}

/**
 * Secrets are read for each connection, so that a rotated one is used once a connection fails.
 *
 * @param silence milliseconds, the same as those of {@link closeSilent}
 */
export function clientOptions({ brokers, sasl, tls }: ConnectionSettings, silence: number): BaseOptions {
  return {
    clientId: 'millrace',
    bootstrapBrokers: brokers.map(addressOf),
    connectTimeout: CONNECT_TIMEOUT,
    // The connection ends sooner, in the login as well: only then, another attempt takes a new one.
    requestTimeout: silence + CONNECT_TIMEOUT,
    ...(sasl && {
      sasl: {
        mechanism: sasl.mechanism.toUpperCase() as SASLOptions['mechanism'],
        username: sasl.username,
        password: () => sasl.password.read(),
      },
    }),
    ...(tls && { tls: tlsOptions(tls) }),
  };
}

/**
 * The client copies these for each connection, so that rotated certificates are used. While only one of two files is
 * replaced, those from before are.
 */
function tlsOptions(tls: ClientTls): ConnectionOptions {
  let secureContext = createSecureContext(connectionOptions(tls));
  return {
    rejectUnauthorized: tls.verify,
    get secureContext() {
      try {
        secureContext = createSecureContext(connectionOptions(tls));
      } catch {
        // The server judges the ones from before, and its answer is logged.
      }
      return secureContext;
    },
  };
}

/**
 * Closes connections over which nothing has gone in either direction for so many milliseconds. When a request times out,
 * the client keeps its connection, and would send all further ones over it. When the connection closes, the request fails
 * too, and the next attempt opens another one. So does a request after a pause. The time is real, as that of the network is.
 */
export function closeSilent(connections: ConnectionPool, silence: number): void {
  connections.on('connect', ({ connection: { socket } }) =>
    socket.setTimeout(silence, () => socket.destroy()),
  );
}

/** The client does not read addresses of IPv6. */
function addressOf(broker: string): { host: string; port: number } {
  const [, ipv6, name = '', port = '9092'] = /^(?:\[(.+)\]|(.+?))(?::(\d+))?$/.exec(broker) ?? [];
  return { host: ipv6 ?? name, port: Number(port) };
}

/** An error of the client: one, or several of which each may be several. */
interface ClientError extends Error {
  readonly code?: string;
  /** The name of the error in Kafka's protocol. */
  readonly apiId?: string;
  readonly errors?: readonly ClientError[];
}

/** An error of a server, with the name that it has in Kafka's protocol. */
export class KafkaError extends PluginError {
  /** `MESSAGE_TOO_LARGE`, for example; undefined if no server has answered. */
  readonly id: string | undefined;

  constructor(message: string, id?: string, cause?: unknown) {
    super(message, { cause });
    this.id = id;
  }
}

/** What a user can do something about. It is the same for every event. */
const FATAL: Readonly<Record<string, string>> = {
  UNKNOWN_TOPIC_OR_PARTITION: 'there is no such topic, or this user may not see it; create it first',
  TOPIC_AUTHORIZATION_FAILED: 'the server does not permit this user to use the topic',
  GROUP_AUTHORIZATION_FAILED: 'the server does not permit this user to use the group',
  CLUSTER_AUTHORIZATION_FAILED: 'the server does not permit this user to write (IDEMPOTENT_WRITE)',
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    'the server does not permit this user to use transactions, whose ids start with `millrace-`',
  SASL_AUTHENTICATION_FAILED: 'the server refuses the login; check `sasl`',
  UNSUPPORTED_SASL_MECHANISM: 'the server does not offer this `sasl.mechanism`',
};

/** An error that may be logged: the messages of the client could quote names that are made of events. */
export function kafkaError(what: string, cause: unknown): PluginError {
  if (cause instanceof PluginError) return cause;
  const all = flat(cause as ClientError);
  const id = all.map(idOf).find((name) => name !== undefined);
  if (id !== undefined) {
    const known = FATAL[id];
    const error = new KafkaError(
      `${what}: ${known ?? 'the server answered'}${known ? '' : ` ${id}`}`,
      id,
      cause,
    );
    return known === undefined ? error : Object.assign(error, { fatal: true });
  }
  const root = all.find(({ code }) => code !== undefined && !code.startsWith('PLT_KFK')) ?? all.at(-1);
  return new KafkaError(`${what}: ${reasonOf(root as ClientError)}`, undefined, cause);
}

/** The errors that an error consists of, outermost first. */
function flat(error: ClientError): ClientError[] {
  const inner = [...(error.errors ?? []), error.cause].filter((one) => one instanceof Error);
  return [error, ...inner.flatMap((one) => flat(one as ClientError))];
}

function idOf({ apiId, code, message }: ClientError): string | undefined {
  if (code === 'PLT_KFK_USER' && message.startsWith('Unknown topic ')) return 'UNKNOWN_TOPIC_OR_PARTITION';
  if (code === 'PLT_KFK_AUTHENTICATION' && apiId === undefined) {
    return message.includes('mechanism') ? 'UNSUPPORTED_SASL_MECHANISM' : 'SASL_AUTHENTICATION_FAILED';
  }
  return apiId;
}

function reasonOf(error: ClientError): string {
  switch (error.code) {
    case 'PLT_KFK_NETWORK':
    case 'PLT_KFK_TIMEOUT':
      return /timed out/i.test(error.message)
        ? 'no answer in time'
        : 'the connection was closed without an answer';
    case 'PLT_KFK_UNSUPPORTED_COMPRESSION':
      return 'records are compressed with an algorithm that this version of Node.js does not have; zstd needs 22.15';
    case 'PLT_KFK_UNSUPPORTED_API':
      return 'the server is too old for this client';
    default:
      return safeReason(error);
  }
}
