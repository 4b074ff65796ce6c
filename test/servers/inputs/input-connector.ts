import type { Socket } from 'node:net';

/** A collector under test, to which senders push. */
export interface InputConnector {
  readonly name: string;
  /** Programs that the tests need. */
  readonly needs: readonly string[];
  /** Whether a sender is told what is safe. Otherwise, a kill loses what is between receipt and the buffer. */
  readonly acknowledges: boolean;
  /** Whether clients that send slowly are disconnected within seconds. */
  readonly disconnectsSlow: boolean;
  /** The entry of `collectors`, in the flow style of YAML without braces, with short limits of time: two seconds. */
  collector(port: number): string;
  /** Opens a connection on which all that is malformed or too large is sent. */
  connect(port: number): Socket;
  /** Sends lines over a connection of its own. Whether they were acknowledged, or taken: not if anything fails. */
  send(port: number, lines: readonly string[]): Promise<boolean>;
  /** Sends lines and leaves before the answer. */
  sendAndLeave(port: number, lines: readonly string[]): Promise<void>;
  /** What a client sends that never goes on: the start of a request, with a secret in it. */
  readonly start: string;
  /** What is not in the protocol, or not in the format, each as all that a client sends. There are secrets in it. */
  readonly malformed: Readonly<Record<string, string | Buffer>>;
  /** Requests that are too large, each as what a client sends at most, in pieces. */
  readonly oversized: Readonly<Record<string, () => Iterable<string | Buffer>>>;
}

/** A secret of its own in what must not be taken. The rule of the suite finds it. */
export const STRAY_KEY = 'key_deadbeef-deadbeef_yek';
