import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type ObservableInput, of } from 'rxjs';
import * as z from 'zod';
import { loggable, MillraceError } from '../sdk/errors.ts';
import { path, seconds } from '../sdk/schema-parts.ts';
import {
  type DiskUsage,
  type NetworkCounters,
  readAllDiskUsage,
  readDiskUsage,
  readLoadAverage,
  readMemoryInfo,
  readNetworkCounters,
  readProcesses,
} from './built-in-functions.ts';

/** What a beacon found out in one round. */
export interface Reading {
  /** The parts of the tag that follow the beacon's name. */
  readonly tail: readonly string[];
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads something once. May throw; a reader that fails does not stop the others. */
export type Reader = () => ObservableInput<readonly Reading[]>;

interface Definition<S extends BeaconSchema> {
  readonly name: string;
  readonly schema: S;
  /** The readers of one run. What they must remember of earlier rounds lives as long as the run. */
  readers(config: z.output<S>): readonly Reader[];
}

type BeaconSchema = z.ZodType<{ interval: number }>;

/** A kind of beacon, named in `host_config.beacons`. */
type Beacon = Definition<z.ZodType<never>>;

/** A beacon with its settings. */
export interface ConfiguredBeacon {
  readonly name: string;
  /** Seconds between two readings. */
  readonly interval: number;
  readers(): readonly Reader[];
}

/** Lets the settings' type follow from the schema. */
function defineBeacon<S extends BeaconSchema>(definition: Definition<S>): Beacon {
  return definition as unknown as Beacon;
}

/** The setting that every beacon has: seconds between two readings. */
const interval = (byDefault: number) => seconds().gt(0).default(byDefault);

/** `loadavg/sample`: what `status.loadavg` returns. */
const loadavg = defineBeacon({
  name: 'loadavg',
  schema: z.strictObject({ interval: interval(5) }),
  readers: () => [() => of([{ tail: ['sample'], data: { ...readLoadAverage() } }])],
});

/** `memusage/sample`: what `status.meminfo` returns. */
const memusage = defineBeacon({
  name: 'memusage',
  schema: z.strictObject({ interval: interval(5) }),
  readers: () => [async () => [{ tail: ['sample'], data: { ...(await readMemoryInfo()) } }]],
});

const diskSample = (usage: DiskUsage): Reading => ({ tail: [usage.path, 'sample'], data: { ...usage } });

/**
 * `diskusage/<path>/sample`: what `disk.usage` returns, for each of `paths` or, without them, for every mounted
 * file system.
 */
const diskusage = defineBeacon({
  name: 'diskusage',
  schema: z.strictObject({ interval: interval(60), paths: z.array(path()).min(1).optional() }),
  readers: ({ paths }) =>
    paths === undefined
      ? [async () => (await readAllDiskUsage()).map(diskSample)]
      : paths.map((place) => async () => [diskSample(await readDiskUsage(place))]),
});

const networkSample = (counters: NetworkCounters): Reading => ({
  tail: [counters.interface, 'sample'],
  data: { ...counters },
});

/** Reads one interface, so that one that does not exist takes none of the others with it. */
function interfaceReader(name: string): Reader {
  return async () => {
    const all = await readNetworkCounters();
    const counters = all.find((candidate) => candidate.interface === name);
    if (counters !== undefined) return [networkSample(counters)];
    const known = all.map((candidate) => candidate.interface).join(', ');
    const message = `there is no network interface ${name}; there are ${known}`;
    throw new MillraceError('MILLRACE_HOST_READING', message);
  };
}

/** `network/<interface>/sample`: the counters of each of `interfaces` or, without them, of all. */
const network = defineBeacon({
  name: 'network',
  schema: z.strictObject({
    interval: interval(5),
    interfaces: z.array(z.string().min(1)).min(1).optional(),
  }),
  readers: ({ interfaces }) =>
    interfaces === undefined
      ? [async () => (await readNetworkCounters()).map(networkSample)]
      : interfaces.map(interfaceReader),
});

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
const process = defineBeacon({
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

/** A file or folder as it was found; undefined if there was none. */
type Found = BigIntStats | undefined;

/** A promise, because a file may lie on a remote disk. */
async function find(place: string): Promise<Found> {
  try {
    // In nanoseconds: a file may be written twice within a millisecond.
    return await stat(place, { bigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw loggable(error as Error);
  }
}

function reading(place: string, change: string, found: Found): Reading {
  const state = found === undefined ? {} : { size: Number(found.size), modified: found.mtime.toISOString() };
  return { tail: [place, change], data: { path: place, change, ...state } };
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.mtimeNs === b.mtimeNs && a.size === b.size && a.ino === b.ino;
}

/** Compares a path with the round before; the first round only remembers. */
function watch(place: string): Reader {
  let before: { readonly found: Found } | undefined;
  return async () => {
    const found = await find(place);
    const last = before;
    before = { found };
    if (last === undefined) return [];
    if (last.found === undefined) return found === undefined ? [] : [reading(place, 'created', found)];
    if (found === undefined) return [reading(place, 'deleted', found)];
    return isSame(last.found, found) ? [] : [reading(place, 'modified', found)];
  };
}

/**
 * `file_watch/<path>/created`, `…/modified` and `…/deleted`: changes of files and folders, with `size` in bytes
 * and the time when it was `modified`. Changes between two rounds are seen as one.
 */
export const file_watch = defineBeacon({
  name: 'file_watch',
  schema: z.strictObject({ interval: interval(1), paths: z.array(path()).min(1) }),
  readers: ({ paths }) => [...new Set(paths)].map(watch),
});

/** The beacons that a standalone host has, if they are configured. */
export const builtInBeacons: ReadonlyMap<string, Beacon> = new Map(
  [loadavg, memusage, diskusage, network, process, file_watch].map((beacon) => [beacon.name, beacon]),
);
