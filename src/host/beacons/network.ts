import * as z from 'zod';
import { MillraceError } from '../../sdk/errors.ts';
import { type NetworkCounters, readNetworkCounters } from '../functions/network.ts';
import { defineBeacon, interval, type Reader, type Reading } from './beacon.ts';

const sample = (counters: NetworkCounters): Reading => ({
  tail: [counters.interface, 'sample'],
  data: { ...counters },
});

/** Reads one interface, so that one that does not exist takes none of the others with it. */
function readerOf(name: string): Reader {
  return async () => {
    const all = await readNetworkCounters();
    const counters = all.find((candidate) => candidate.interface === name);
    if (counters !== undefined) return [sample(counters)];
    const known = all.map((candidate) => candidate.interface).join(', ');
    const message = `there is no network interface ${name}; there are ${known}`;
    throw new MillraceError('MILLRACE_HOST_READING', message);
  };
}

/** `network/<interface>/sample`: the counters of each of `interfaces` or, without them, of all. */
export const network = defineBeacon({
  name: 'network',
  schema: z.strictObject({
    interval: interval(5),
    interfaces: z.array(z.string().min(1)).min(1).optional(),
  }),
  readers: ({ interfaces }) =>
    interfaces === undefined
      ? [async () => (await readNetworkCounters()).map(sample)]
      : interfaces.map(readerOf),
});
