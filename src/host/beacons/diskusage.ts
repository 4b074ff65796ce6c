import * as z from 'zod';
import { path } from '../../sdk/schema-parts.ts';
import { type DiskUsage, readAllDiskUsage, readDiskUsage } from '../functions/disk.ts';
import { defineBeacon, interval, type Reading } from './beacon.ts';

const sample = (usage: DiskUsage): Reading => ({ tail: [usage.path, 'sample'], data: { ...usage } });

/**
 * `diskusage/<path>/sample`: what `disk.usage` returns, for each of `paths` or, without them, for every mounted
 * file system.
 */
export const diskusage = defineBeacon({
  name: 'diskusage',
  schema: z.strictObject({ interval: interval(60), paths: z.array(path()).min(1).optional() }),
  readers: ({ paths }) =>
    paths === undefined
      ? [async () => (await readAllDiskUsage()).map(sample)]
      : paths.map((place) => async () => [sample(await readDiskUsage(place))]),
});
