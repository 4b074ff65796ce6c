import type { Observable } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import type { Logger } from '../sdk/context.ts';
import { PluginError } from '../sdk/errors.ts';
import type { EventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';

/** What a buffer on disk is opened with. */
export interface EventBufferOptions {
  readonly folder: string;
  /** It takes no more than this of the disk, unless a single record does. */
  readonly maxBytes: number;
  /** What a write does for which there is no room: it waits, makes room by dropping the oldest events, or is refused. */
  readonly whenFull: 'wait' | 'drop_oldest' | 'reject';
  readonly logger: Logger;
  /** Told of events that leave the buffer and are not read. */
  readonly onDropped: (events: number) => void;
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
   * How events get in, with the functions that a forwarder has. A call ends when the events are durable. It fails with
   * {@link BufferFull} for events that are refused.
   */
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

/** Says that a buffer has no room, so that the source is to send the events again later. */
export class BufferFull extends PluginError {
  constructor() {
    super('the buffer of the pipeline is full', { permanent: true });
  }
}
