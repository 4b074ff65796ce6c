import * as z from 'zod';
import { readProcesses } from '../functions/process.ts';
import { defineBeacon, interval, type Reading } from './beacon.ts';

/** What happened to the processes of one name since the last round; `before` is absent in the first. */
export function processChange(
  name: string,
  before: readonly number[] | undefined,
  pids: readonly number[],
): Reading[] {
  const is = (what: string): Reading => ({ tail: [name, what], data: { name, state: what, pids } });
  const isRunning = pids.length > 0;
  if (before === undefined) return [is(isRunning ? 'running' : 'absent')];
  const wasRunning = before.length > 0;
  if (wasRunning && isRunning) {
    // None of the old ones is left: they went, and others came, between two rounds.
    const isRestarted = !before.some((pid) => pids.includes(pid));
    return isRestarted ? [is('ended'), is('started')] : [];
  }
  if (wasRunning) return [is('ended')];
  return isRunning ? [is('started')] : [];
}

/**
 * Watches processes by the names that `process.list` shows. First `process/<name>/running` or
 * `process/<name>/absent`, then `…/started` when the first of a name appears and `…/ended` when the last has
 * gone. `pids` has those that run now.
 */
export const process = defineBeacon({
  name: 'process',
  schema: z.strictObject({ interval: interval(5), names: z.array(z.string().min(1)).min(1) }),
  readers: ({ names }) => {
    const known = new Map<string, readonly number[]>();
    const read = async () => {
      const alive = (await readProcesses()).filter(({ state }) => state !== 'zombie');
      return [...new Set(names)].flatMap((name) => {
        const pids = alive.filter((entry) => entry.name === name).map(({ pid }) => pid);
        const readings = processChange(name, known.get(name), pids);
        known.set(name, pids);
        return readings;
      });
    };
    return [read];
  },
});
