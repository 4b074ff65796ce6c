import type { ObservableInput } from 'rxjs';
import * as z from 'zod';

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
export type Beacon = Definition<z.ZodType<never>>;

/** A beacon with its settings. */
export interface ConfiguredBeacon {
  readonly name: string;
  /** Seconds between two readings. */
  readonly interval: number;
  readers(): readonly Reader[];
}

/** Lets the settings' type follow from the schema. */
export function defineBeacon<S extends BeaconSchema>(definition: Definition<S>): Beacon {
  return definition as unknown as Beacon;
}

/** The setting that every beacon has: seconds between two readings. */
export const interval = (seconds: number) => z.number().gt(0).default(seconds);
