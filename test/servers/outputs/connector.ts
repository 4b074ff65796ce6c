import type { Behaviour } from '../support/hostile-http.ts';
import type { Restartable } from '../support/restartable.ts';

/** Where the events of one test go: an index, a topic or a stream of its own. */
export interface Target {
  /** The entry of `forwarders`, in the flow style of YAML without braces. @param at the address that it connects to. */
  forwarder(at: string): string;
  /** What the server has of the test, each as JSON with the line in it. */
  documents(): Promise<readonly string[]>;
}

/** A forwarder under test, and the real server that it delivers to. */
export interface Connector<S extends Restartable = Restartable> {
  readonly name: string;
  /** Programs that the tests need. */
  readonly needs: readonly string[];
  start(): Promise<S>;
  /** @param name a name for this test: letters and digits. */
  target(server: S, name: string): Target | Promise<Target>;
  /** Whether the server recognises what it has already when millrace sends it again: then no lost answer causes duplicates. */
  readonly recognises: boolean;
  /** Whether `exactly_once` is possible: then a kill of millrace causes no duplicates either. */
  readonly exactlyOnce: boolean;
  /** A signal after which the server still has what it had acknowledged. */
  readonly endsBy: 'SIGKILL' | 'SIGTERM';
  /** Characters of a line that the server itself refuses, alone among those of its batch. */
  readonly refusedLength?: number;
  /** What is in the file `token` in the folder of the process. Default: {@link RIGHT_TOKEN}. */
  readonly token?: string;
}

/** Credentials that are right. */
export const RIGHT_TOKEN = 'right-token';

/** One that delivers over HTTP. */
export interface HttpConnector<S extends Restartable = Restartable> extends Connector<S> {
  /** The base of the server's URLs. */
  url(server: S): string;
  /**
   * Fields that log in with what is in the file `token`, if those of the target do not, and whether a request has the right
   * one, if the server does not judge that itself.
   */
  readonly credentials: { readonly fields?: string; readonly isRight?: (headers: Headers) => boolean };
  /** How the protocol refuses a request because of an event in it, if no line is refused by the server itself. */
  readonly refusal?: Behaviour;
}

/** One that delivers over a connection of its own protocol. The address of a target is `host:port`. */
export interface TcpConnector<S extends Restartable = Restartable> extends Connector<S> {
  port(server: S): number;
  /** The port that the server tells clients to connect to, where the proxy has to listen. Default: any. */
  readonly proxyPort?: (server: S) => number;
  /** Fields with which an answer is waited for no longer than two seconds. Without them, no answer stays away. */
  readonly timeout?: string;
  /** Whether it speaks TLS from the first byte on if it has the field `tls`. */
  readonly mayBeSecure: boolean;
  /** The certificates by which the server is known, as a file, if it speaks TLS itself. */
  readonly authority?: (server: S) => string;
  /**
   * Whether the server says what it has. Otherwise, what was on its way is lost when a connection breaks, and faults happen to
   * what is sent, not to answers.
   */
  readonly acknowledges: boolean;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;
