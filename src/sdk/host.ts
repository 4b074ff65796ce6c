import type { Observable, ObservableInput } from 'rxjs';
import type { HostEvent } from './events.ts';

/**
 * The host that pipelines live in: an event bus and functions to call. The standalone process has one of its
 * own; a program that embeds millrace may pass another to `new Manager(config, { host })`.
 */
export interface Host {
  /** Names this host in events and tags. */
  readonly id: string;
  readonly role: string;
  /** Events of the bus whose tag matches one of the glob patterns (`*` stays within a `/`, `**` does not). */
  events(patterns: readonly string[]): Observable<HostEvent>;
  /** Names of the functions that `call` knows; configurations that name others are refused. */
  functions(): readonly string[];
  /** All names that beacons of this host can have, where it knows them: others are refused. */
  beacons?(): readonly string[];
  /** Calls a function once. Emits its result, or errors. */
  call(
    fn: string,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
  ): ObservableInput<unknown>;
}
