import { of } from 'rxjs';
import * as z from 'zod';
import { readLoadAverage } from '../functions/status.ts';
import { defineBeacon, interval } from './beacon.ts';

/** `loadavg/sample`: what `status.loadavg` returns. */
export const loadavg = defineBeacon({
  name: 'loadavg',
  schema: z.strictObject({ interval: interval(5) }),
  readers: () => [() => of([{ tail: ['sample'], data: { ...readLoadAverage() } }])],
});
