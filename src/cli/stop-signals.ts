import { constants } from 'node:os';
import { fromEvent, map, merge, type Observable, throttleTime } from 'rxjs';

type StopSignal = 'SIGTERM' | 'SIGINT';

/**
 * Under npx and npm, Ctrl-C arrives twice: from the terminal, and a moment later handed on by npm. Nobody presses
 * twice within this time, so what comes again within it is the same press.
 */
const ECHO_MS = 100;

/** SIGTERM and SIGINT, each as often as it was meant. While it is subscribed they do not end the process. */
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
