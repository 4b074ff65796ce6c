import fs from 'node:fs';
import type { Subscription } from 'rxjs';
import { type FollowSettings, followFiles, type LineBatch } from '../../operators/files/follow-files.ts';

/** Reads every file from its beginning. */
export const fromStart = { startAt: () => 0, forget: () => {} };
/** Polls, and loses patience, in milliseconds instead of seconds. */
export const FAST = { pollMs: 20, quietPolls: 4, flushPolls: 4, positions: fromStart };

export const linesOf = (batches: LineBatch[]) => batches.flatMap((batch) => batch.lines);

/** How many files under `folder` this process has open. */
export const openFiles = (folder: string) =>
  fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false;
    }
  }).length;

/** Follows files for a test; what is followed is unsubscribed from by `stopAll`. */
export class Followers {
  #subscriptions: Subscription[] = [];

  /** Follows, and collects what comes. `ready` is fulfilled when the files that exist are known. */
  follow(
    paths: string[],
    settings: Partial<FollowSettings> = {},
    each: (batch: LineBatch) => void = () => {},
  ) {
    const batches: LineBatch[] = [];
    const warnings: string[] = [];
    let started = () => {};
    const ready = new Promise<void>((resolve) => {
      started = resolve;
    });
    const log = {
      warn: (_: string, { code }: Record<string, unknown>) => warnings.push(String(code)),
      info: started,
    };
    const subscription = followFiles(paths, { ...FAST, log, ...settings }).subscribe((batch) => {
      batches.push(batch);
      each(batch);
    });
    this.#subscriptions.push(subscription);
    return { batches, warnings, ready, lines: () => linesOf(batches), subscription };
  }

  stopAll(): void {
    for (const subscription of this.#subscriptions.splice(0)) subscription.unsubscribe();
  }
}
