import { EMPTY, merge, Observable, of, Subject } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import { Fifo, Pump } from '../../operators/internal.ts';
import type { BufferStatus, EventBuffer, EventBufferOptions, Reserved } from '../buffer/event-buffer.ts';
import { Room } from '../buffer/room.ts';
import { EventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { toJsonLine } from '../sdk/serialise.ts';

interface Stored {
  readonly events: readonly CollectedEvent[];
  /** As many as the files of a buffer would take, without their headers. */
  readonly bytes: number;
}

/** Stands in for a buffer on disk in virtual time: it has the same limits, writes at once, and survives nothing. */
export function standInBuffer(options: EventBufferOptions): Observable<EventBuffer> {
  return of(new StandInBuffer(options));
}

class StandInBuffer implements EventBuffer {
  readonly #options: EventBufferOptions;
  readonly #unread = new Fifo<Stored>();
  /** Of what is not acknowledged. */
  #bytes = 0;
  #events = 0;
  readonly #room: Room;
  readonly #changed$ = new Subject<void>();
  readonly room$ = this.#changed$.asObservable();
  #isEnded = false;

  constructor(options: EventBufferOptions) {
    this.#options = options;
    this.#room = new Room({ ...options, used: () => this.#bytes, onEnded: () => this.#roomMayBeBack() });
  }

  get isFull(): boolean {
    return this.#room.isFull;
  }

  get status(): BufferStatus {
    return { bytes: this.#bytes, events: this.#events, oldest: undefined };
  }

  readonly functions: EventBuffer['functions'] = {
    forward: (event) => this.#write([event]),
    forwardBatch: (events) => this.#write(events),
    forwardJsonLines: undefined,
  };

  #write(events: readonly CollectedEvent[]): Observable<never> | undefined {
    const stored = { events, bytes: Buffer.byteLength(events.map((event) => toJsonLine(event)).join('')) };
    const { whenFull } = this.#options;
    if (whenFull === 'drop_oldest') this.#dropFor(stored);
    if (whenFull === 'reject' || this.#fits(stored)) {
      this.#store(stored);
      return undefined;
    }
    this.#room.setFull(true);
    return new Observable((subscriber) =>
      this.#changed$.subscribe(() => {
        if (!this.#fits(stored) || subscriber.closed) return;
        this.#room.setFull(false);
        this.#store(stored);
        subscriber.complete();
      }),
    );
  }

  reserve(bytes: number): Reserved {
    return this.#room.reserve(bytes);
  }

  #roomMayBeBack(): void {
    if (this.#options.whenFull === 'reject') this.#room.check();
    this.#changed$.next();
  }

  #fits({ bytes }: Stored): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#options.maxBytes;
  }

  #dropFor(stored: Stored): void {
    while (!this.#fits(stored)) {
      const oldest = this.#unread.shift();
      if (oldest === undefined) return;
      this.#release(oldest);
      this.#options.onDropped(oldest.events.length);
    }
  }

  #store(stored: Stored): void {
    this.#unread.push(stored);
    this.#bytes += stored.bytes;
    this.#events += stored.events.length;
    this.#room.stored(stored.bytes);
    this.#changed$.next();
  }

  #release({ events, bytes }: Stored): void {
    this.#bytes -= bytes;
    this.#events -= events.length;
  }

  read(demand: Demand): Observable<EventBatch> {
    return new Observable((subscriber) => {
      const pump = new Pump(() => {
        const stored = demand.room > 0 ? this.#unread.shift() : undefined;
        if (stored !== undefined) {
          const acknowledge = () => {
            this.#release(stored);
            this.#roomMayBeBack();
          };
          subscriber.next(new EventBatch(stored.events, acknowledge));
        } else if (this.#isEnded && this.#unread.size === 0) subscriber.complete();
        return stored !== undefined;
      }, subscriber);
      subscriber.add(merge(demand.room$, this.#changed$).subscribe(() => pump.run()));
      pump.run();
    });
  }

  end(): void {
    this.#isEnded = true;
    this.#changed$.next();
  }

  close(): Observable<never> {
    return EMPTY;
  }
}
