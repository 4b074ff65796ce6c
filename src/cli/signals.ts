import fs from 'node:fs';
import { constants } from 'node:os';
import {
  defaultIfEmpty,
  forkJoin,
  fromEvent,
  interval,
  map,
  merge,
  type Observable,
  type Subscription,
  switchMap,
  throttleTime,
  timer,
} from 'rxjs';
import { type AnalyticsConfig, forwardersOf } from '../sdk/config.ts';

type StopSignal = 'SIGTERM' | 'SIGINT';

/**
 * Under npx and npm, Ctrl-C arrives twice: from the terminal, and a moment later from npm. A signal that is repeated
 * within this time is the same key press.
 */
const ECHO_MS = 100;

/** Emits SIGTERM and SIGINT without such echoes. While it is subscribed, they do not end the process. */
export function stopSignals(source: NodeJS.EventEmitter = process): Observable<StopSignal> {
  const each = (signal: StopSignal) =>
    fromEvent(source, signal).pipe(
      throttleTime(ECHO_MS),
      map(() => signal),
    );
  return merge(each('SIGTERM'), each('SIGINT'));
}

/** The exit code of a process that a signal ended, as shells count. */
export function signalExitCode(signal: StopSignal): number {
  return 128 + constants.signals[signal];
}

/** Whether the terminal of this process is still open. Closing it sends SIGHUP, as a reload does. */
export function hasTerminal(): boolean {
  try {
    fs.closeSync(fs.openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Keeps the process alive until unsubscribed: Node exits when only promises are pending, such as a plugin's. */
export function keepAlive(): Subscription {
  return interval(2 ** 31 - 1).subscribe();
}

/** The pipelines among `names` that write to standard output. */
export function writersToOutput(config: AnalyticsConfig, names: readonly string[]): string[] {
  return names.filter((name) => {
    const pipeline = config.pipelines[name];
    const forwarders = pipeline === undefined ? [] : forwardersOf(pipeline);
    return forwarders.some((entry) => config.forwarders[entry]?.loaded_plugin.traits?.writesStdout === true);
  });
}

/**
 * Resolves with the first error of standard output, after which Node.js writes nothing more to it. It is `EPIPE` when
 * its reader has left (`| head`).
 */
export function outputClosed(output: NodeJS.EventEmitter): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => output.once('error', resolve));
}

/** Whether standard output is a file, so that nothing that is written to it shows on a terminal. */
export function isFile({ fd }: { readonly fd: number }): boolean {
  try {
    return fs.fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** How long pipelines that cannot write any more may drain to their other forwarders. */
const GRACE_MS = 1000;

/** Emits when the process may exit without the pipelines that write to a closed output, which may never drain. */
export function abandonWriters(othersStopped: readonly Observable<void>[]): Observable<unknown> {
  return forkJoin(othersStopped).pipe(
    defaultIfEmpty(undefined),
    switchMap(() => timer(GRACE_MS)),
  );
}
