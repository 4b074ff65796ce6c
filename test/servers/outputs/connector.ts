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
  /** Where the proxy in front of the server connects to: the base of URLs. */
  address(server: S): string;
  /**
   * Whether the server recognises what it has already. Then neither an answer that was lost nor a kill of millrace causes
   * duplicates.
   */
  readonly recognises: boolean;
  /** A signal after which the server still has what it had acknowledged. */
  readonly endsBy: 'SIGKILL' | 'SIGTERM';
  /** Characters of a line that the server itself refuses, alone among those of its batch. */
  readonly refusedLength?: number;
  /** Fields that log in with what is in the file `token`, and whether a request has the token `right-token`. */
  readonly credentials: { readonly fields: string; isRight(headers: Headers): boolean };
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;
