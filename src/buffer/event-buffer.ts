import type { Observable } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import type { Logger } from '../sdk/context.ts';
import type { EventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';

/** What a buffer on disk is opened with. */
export interface EventBufferOptions {
  readonly folder: string;
  /** It takes no more than this of the disk, unless a single record does. */
  readonly maxBytes: number;
  /**
   * What happens to events for which there is no room: their write waits, the oldest events are dropped for them, or no
   * room can be reserved for them.
   */
  readonly whenFull: 'wait' | 'drop_oldest' | 'reject';
  readonly logger: Logger;
  /** Told of events that leave the buffer and are not read. */
  readonly onDropped: (events: number) => void;
  /** Told when {@link EventBuffer.isFull} changes. */
  readonly onFull: (isFull: boolean) => void;
}

/** How full a buffer is. */
export interface BufferStatus {
  readonly bytes: number;
  /** Events that are not acknowledged. */
  readonly events: number;
  /** When the oldest of them was written, in milliseconds since 1970; undefined if there is none, or if that is not known. */
  readonly oldest: number | undefined;
}

/** A store between the processors of a pipeline and its forwarders. What is in it survives the process. */
export interface EventBuffer {
  readonly status: BufferStatus;
  /**
   * Whether events wait for room. With `whenFull: reject`: whether events have found none, and there is none for a segment
   * now. A request that is larger than a segment can find no room in a buffer that is not full.
   */
  readonly isFull: boolean;
  /**
   * With `whenFull: reject`: room for events that take so many bytes as JSON Lines, which is to be reserved before they are
   * written, and kept until they are or {@link Reservation.end}. `none` if there is no room now, `never` if they are larger
   * than the whole buffer.
   */
  reserve(bytes: number): Reserved;
  /** With `whenFull: reject`: emits when there may be room again. */
  readonly room$: Observable<unknown>;
  /** How events get in, with the functions that a forwarder has. A call ends when the events are durable. */
  readonly functions: {
    readonly forward: (event: CollectedEvent) => unknown;
    readonly forwardBatch: ((events: readonly CollectedEvent[]) => unknown) | undefined;
    readonly forwardJsonLines: ((documents: Buffer) => unknown) | undefined;
  };
  /**
   * The events in order, from the first that is not acknowledged. Waits for those that are still to come, and completes when
   * `end` was called and all are read. An event leaves the buffer when its batch is acknowledged.
   */
  read(demand: Demand): Observable<EventBatch>;
  /** Nothing more will be written. */
  end(): void;
  /** Completes when it is closed. What is not acknowledged is kept for the next start. */
  close(): Observable<unknown>;
}

/** Room in a buffer, or that there is none. */
export type Reserved = Reservation | 'none' | 'never';

/** Room in a buffer. */
export interface Reservation {
  /** The events are written, or will not be. */
  end(): void;
}
