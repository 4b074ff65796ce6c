import { dirname } from 'node:path';
import { defer, map, Observable } from 'rxjs';
import { type Demand, pullFrom } from '../../operators/index.ts';
import { countLines } from '../../operators/internal.ts';
import { makeFolder, perFileSystem, syncFolder, writeError } from '../../operators/internal-files.ts';
import { EventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { WrittenEvents } from '../sdk/rows.ts';
import { toJsonLine } from '../sdk/serialise.ts';
import { FolderLock } from '../state/folder-lock.ts';
import { DiskLog, type LogRecord } from './disk-log.ts';
import type { BufferStatus, EventBuffer, EventBufferOptions, Reserved } from './event-buffer.ts';

const USE = { what: 'the buffer', danger: 'two pipelines with the same buffer would lose events' };

interface Lock {
  release(): void;
}

/** Buffers of this process that are being closed, by folder: a run may start while the one before lets go of its own. */
const closingBuffers = perFileSystem(() => new Map<string, Promise<void>>());

/** Holds the folder of a buffer for this process. It is made if need be. */
async function lockFolder(folder: string): Promise<Lock> {
  return FolderLock.take(folder, USE);
}

/**
 * Events in files, in a folder that only the owner of the process can read.
 *
 * Errors with MillraceError if another process, or another pipeline, uses the folder, and with an error that names the
 * folder if it cannot be used.
 */
export function openDiskBuffer(options: EventBufferOptions, lock = lockFolder): Observable<EventBuffer> {
  return new Observable((subscriber) => {
    const opening = DiskBuffer.open(options, lock);
    opening.then(
      (buffer) => {
        if (subscriber.closed) buffer.close().subscribe();
        subscriber.next(buffer);
        subscriber.complete();
      },
      (error) => subscriber.error(error),
    );
  });
}

class DiskBuffer implements EventBuffer {
  readonly #log: DiskLog;
  readonly #folder: string;
  readonly #lock: Lock;
  #closed: Promise<void> | undefined;

  private constructor(log: DiskLog, folder: string, lock: Lock) {
    this.#log = log;
    this.#folder = folder;
    this.#lock = lock;
  }

  static async open(options: EventBufferOptions, takeLock: typeof lockFolder): Promise<DiskBuffer> {
    const { folder } = options;
    await closingBuffers().get(folder);
    try {
      await makeFolder(folder, 0o700);
      await syncFolder(dirname(folder));
    } catch (error) {
      throw writeError(folder, error as NodeJS.ErrnoException);
    }
    const lock = await takeLock(folder);
    try {
      return new DiskBuffer(await DiskLog.open(options), folder, lock);
    } catch (error) {
      lock.release();
      throw writeError(folder, error as NodeJS.ErrnoException);
    }
  }

  get status(): BufferStatus {
    return this.#log.status;
  }

  get isFull(): boolean {
    return this.#log.isFull;
  }

  get room$(): Observable<unknown> {
    return this.#log.changed$;
  }

  reserve(bytes: number): Reserved {
    return this.#log.reserve(bytes);
  }

  readonly functions: EventBuffer['functions'] = {
    forward: (event) => this.#log.write(Buffer.from(toJsonLine(event)), 1),
    forwardBatch: undefined,
    forwardJsonLines: (documents) => this.#log.write(documents, countLines(documents)),
  };

  read(demand: Demand): Observable<EventBatch> {
    return pullFrom(this.#log.read(), demand).pipe(map((record) => this.#batchOf(record)));
  }

  #batchOf({ documents, events, path, start, id, end }: LogRecord): EventBatch {
    const origin = { path, startOffset: start, endOffset: end.offset };
    return new EventBatch(new BufferedEvents(documents, events, id), () => this.#log.release(end), origin);
  }

  end(): void {
    this.#log.end();
  }

  close(): Observable<unknown> {
    return defer(() => {
      this.#closed ??= this.#close();
      return this.#closed;
    });
  }

  async #close(): Promise<void> {
    const closed = this.#log.close();
    const closing = closingBuffers();
    closing.set(this.#folder, closed);
    await closed;
    this.#lock.release();
    closing.delete(this.#folder);
  }
}

/** Events of a record. Its checksum shows that they are those that the engine wrote. */
class BufferedEvents extends WrittenEvents {
  readonly #record: string;
  /** Where in the record each event is, if these are not all of it. */
  readonly #places: Uint32Array | undefined;

  constructor(
    documents: Buffer,
    size: number,
    record: string,
    places?: Uint32Array,
    events?: readonly CollectedEvent[],
  ) {
    super(documents, size, events);
    this.#record = record;
    this.#places = places;
  }

  override get areEvents(): boolean {
    return true;
  }

  idAt(position: number): string {
    return `${this.#record}-${this.#placeOf(position)}`;
  }

  override slice(start: number, end: number): WrittenEvents {
    const places = Uint32Array.from({ length: end - start }, (_, position) =>
      this.#placeOf(start + position),
    );
    return this.#part(super.slice(start, end), places, this.created?.slice(start, end));
  }

  override select(keep: (position: number) => boolean): WrittenEvents {
    const kept: number[] = [];
    const selected = super.select((position) => {
      const isKept = keep(position);
      if (isKept) kept.push(position);
      return isKept;
    });
    if (kept.length === this.size) return this;
    const { created } = this;
    const events = created && kept.map((position) => created[position] as CollectedEvent);
    const places = Uint32Array.from(kept, (position) => this.#placeOf(position));
    return this.#part(selected, places, events);
  }

  #placeOf(position: number): number {
    return this.#places === undefined ? position : (this.#places[position] as number);
  }

  #part(part: WrittenEvents, places: Uint32Array, events?: readonly CollectedEvent[]): WrittenEvents {
    return new BufferedEvents(part.toJsonLines(), part.size, this.#record, places, events);
  }
}
