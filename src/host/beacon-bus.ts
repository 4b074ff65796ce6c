import {
  catchError,
  defer,
  EMPTY,
  filter,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  share,
  tap,
  timer,
} from 'rxjs';
import { poll } from '../../operators/index.ts';
import { counted, isNoteworthy, isoNow } from '../../operators/internal.ts';
import type { Logger } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import type { HostEvent } from '../sdk/events.ts';
import { beaconTag, mayMatchBeacon, tagMatcher } from './beacon-tags.ts';
import type { ConfiguredBeacon, Reader, Reading } from './built-in-beacons.ts';

export interface BeaconBusOptions {
  readonly id: string;
  readonly beacons: readonly ConfiguredBeacon[];
  /** Each beacon is read once, and then `events` completes. */
  readonly once: boolean;
  readonly logger: Logger;
}

/**
 * The event bus of a host. A beacon is read while it has subscribers, once for all of them. Later subscribers see
 * only later events.
 */
export class BeaconBus {
  readonly #options: BeaconBusOptions;
  readonly #sources: readonly { readonly name: string; readonly event$: Observable<HostEvent> }[];

  constructor(options: BeaconBusOptions) {
    this.#options = options;
    this.#sources = options.beacons.map((beacon) => ({
      name: beacon.name,
      event$: this.#publish(beacon).pipe(share()),
    }));
  }

  /** The events whose tag matches one of the patterns. Never errors; completes only with `once`. */
  events(patterns: readonly string[]): Observable<HostEvent> {
    const { id, once, logger } = this.#options;
    const matches = tagMatcher(patterns);
    const asked = this.#sources.filter(({ name }) =>
      patterns.some((pattern) => mayMatchBeacon(pattern, id, name)),
    );
    return defer(() => {
      if (asked.length === 0) {
        logger.warn(
          `no beacon of this host publishes ${patterns.join(', ')}; configure one in host_config.beacons`,
        );
      }
      return merge(...asked.map(({ event$ }) => event$), once ? EMPTY : NEVER);
    }).pipe(filter(({ tag }) => matches(tag)));
  }

  #publish(beacon: ConfiguredBeacon): Observable<HostEvent> {
    return defer(() => {
      const readers = beacon.readers().map((reader) => this.#guard(beacon.name, reader));
      const round = () => merge(...readers.map((read) => read()));
      return this.#options.once
        ? timer(0).pipe(mergeMap(round))
        : poll(round, { interval: beacon.interval * 1000 });
    }).pipe(map((reading) => this.#event(beacon.name, reading)));
  }

  /** A reader whose failure is logged and costs only its reading of this round. */
  #guard(beacon: string, reader: Reader): () => Observable<Reading> {
    let failures = 0;
    return () =>
      defer(reader).pipe(
        tap({
          complete: () => {
            if (failures > 0) {
              const often = counted(failures, 'failure');
              this.#options.logger.info(`the beacon ${beacon} can be read again, after ${often}`);
            }
            failures = 0;
          },
        }),
        mergeMap((readings) => readings),
        catchError((error) => {
          failures++;
          if (isNoteworthy(failures)) {
            this.#options.logger.warn(`the beacon ${beacon} could not be read: ${safeReason(error)}`);
          }
          return EMPTY;
        }),
      );
  }

  #event(beacon: string, { tail, data }: Reading): HostEvent {
    const { id } = this.#options;
    const stamp = isoNow();
    const raw_data = { id, stamp, ...data };
    return Object.freeze({ tag: beaconTag(id, beacon, tail), stamp, data, raw_data });
  }
}
