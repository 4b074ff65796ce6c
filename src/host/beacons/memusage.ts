import * as z from 'zod';
import { readMemoryInfo } from '../functions/status.ts';
import { defineBeacon, interval } from './beacon.ts';

/** `memusage/sample`: what `status.meminfo` returns. */
export const memusage = defineBeacon({
  name: 'memusage',
  schema: z.strictObject({ interval: interval(5) }),
  readers: () => [async () => [{ tail: ['sample'], data: { ...(await readMemoryInfo()) } }]],
});
