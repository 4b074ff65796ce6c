import { defaultIfEmpty, forkJoin, type Observable, switchMap, timer } from 'rxjs';
import type { AnalyticsConfig } from '../sdk/config.ts';

/** Of some pipelines, those that write to standard output. */
export function writersToOutput(config: AnalyticsConfig, names: readonly string[]): string[] {
  return names.filter((name) =>
    config.pipelines[name]?.forward.some(
      (forwarder) => config.forwarders[forwarder]?.loaded_plugin.writesToStdout === true,
    ),
  );
}

/** Resolves when the reader of standard output has left (`| head`). */
export function outputClosed(output: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    output.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EPIPE') resolve();
    });
  });
}

/** What pipelines that cannot write any more have left for their other forwarders. */
const GRACE_MS = 1000;

/** Emits when it is time to end without the pipelines that write to a closed output: they may never drain. */
export function abandonWriters(othersStopped: readonly Observable<void>[]): Observable<unknown> {
  return forkJoin(othersStopped).pipe(
    defaultIfEmpty(undefined),
    switchMap(() => timer(GRACE_MS)),
  );
}
