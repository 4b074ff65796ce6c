import { asyncScheduler } from 'rxjs';
import type { StagePlace } from '../engine/observer.ts';
import type { TraceRow } from './trace.ts';

/** How many events were in flight from a time on: virtual milliseconds. */
export interface FlightLevel {
  readonly at: number;
  /** Collected events that were not acknowledged when all that happened at this time had happened. */
  readonly inFlight: number;
  /** The most at this time. */
  readonly most: number;
  /** Events that collectors had emitted and that waited for room. */
  readonly buffered: number;
  /** The most events that had left the last processor and that a forwarder had still to deliver. */
  readonly mostResults: number;
}

type Level = { -readonly [Key in keyof FlightLevel]: FlightLevel[Key] };

/** Counts the events that are in flight, and those that processors made and forwarders have not delivered. */
export class FlightCounter {
  readonly levels: Level[] = [];
  /** The stage whose results go to the forwarders. */
  readonly #last: string;
  /** Results that forwarders have still to deliver; only those without a condition get all of them. */
  readonly #waiting = new Map<string, number>();
  #inFlight = 0;
  #buffered = 0;

  constructor(rows: readonly Pick<TraceRow, 'place' | 'settings'>[]) {
    this.#last = rows.findLast(({ place }) => place.kind === 'process')?.place.name ?? '';
    for (const { place, settings } of rows) {
      if (place.kind === 'forward' && settings.when === undefined) this.#waiting.set(place.name, 0);
    }
  }

  /** A collector emitted an event, which may have to wait for room. */
  emitted(): void {
    this.#buffered++;
    this.#note();
  }

  left({ kind, name }: StagePlace, count: number): void {
    if (kind === 'forward') this.finished({ kind, name }, count);
    if (kind === 'collect') {
      this.#inFlight += count;
      this.#buffered = Math.max(0, this.#buffered - count);
    }
    if (kind === 'process' && name === this.#last) {
      for (const [forwarder, waiting] of this.#waiting) this.#waiting.set(forwarder, waiting + count);
    }
    this.#note();
  }

  /** Events that a forwarder has delivered or given up. */
  finished({ kind, name }: StagePlace, count: number): void {
    if (kind === 'collect') this.#buffered = Math.max(0, this.#buffered - count);
    const waiting = kind === 'forward' ? this.#waiting.get(name) : undefined;
    if (waiting === undefined) return;
    this.#waiting.set(name, Math.max(0, waiting - count));
    this.#note();
  }

  acknowledged(count: number): void {
    this.#inFlight = Math.max(0, this.#inFlight - count);
    this.#note();
  }

  emptied(): void {
    this.#inFlight = 0;
    this.#buffered = 0;
    for (const name of this.#waiting.keys()) this.#waiting.set(name, 0);
    this.#note();
  }

  #note(): void {
    const at = asyncScheduler.now();
    let level = this.levels.at(-1);
    if (level?.at !== at) {
      level = { at, inFlight: 0, most: 0, buffered: 0, mostResults: 0 };
      this.levels.push(level);
    }
    level.inFlight = this.#inFlight;
    level.most = Math.max(level.most, this.#inFlight);
    level.buffered = this.#buffered;
    for (const waiting of this.#waiting.values()) level.mostResults = Math.max(level.mostResults, waiting);
  }
}
