import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { asyncScheduler, firstValueFrom, type Observable, Subject } from 'rxjs';
import { counted } from '../../operators/internal.ts';
import { fileSystem, writeError } from '../../operators/internal-files.ts';
import type { Logger } from '../sdk/context.ts';
import { BACKOFF, PluginError } from '../sdk/errors.ts';
import { replaceFlushed } from '../state/replace-file.ts';
import type { BufferStatus, EventBufferOptions, Reserved } from './event-buffer.ts';
import { encodeRecord, HEADER_BYTES, type RecordHeader } from './record.ts';
import { ReleasedPosition } from './released-position.ts';
import { Room, segmentBytesOf } from './room.ts';
import {
  cutTail,
  type FoundSegment,
  findSegments,
  type LogPosition,
  removeSegment,
  type Segment,
  SegmentReader,
  SegmentWriter,
} from './segment.ts';

export interface LogRecord {
  /** The events as JSON Lines. */
  readonly documents: Buffer;
  readonly events: number;
  /** The file that it is in. */
  readonly path: string;
  readonly start: number;
  /**
   * A name for it that no other record with other events has, of this or of another log. It is the same after a crash. The
   * folders of cloned machines have the same id and the same numbers of segments, so the checksum of the events tells their
   * records apart.
   */
  readonly id: string;
  /** Where the next record starts. */
  readonly end: LogPosition;
}

/** Milliseconds to the next attempt while the disk cannot be written to: room may come back at any time. */
const RETRY_AFTER = 1000;
const LOG_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * An append-only log of events in a folder, in segments. `write` resolves when the disk has the events, `read` gives them
 * in the same order, and `release` says that what was read up to a position is no longer needed. A segment is removed when
 * all of its events are released. After a crash, everything is read again that was not released.
 */
export class DiskLog {
  readonly #options: EventBufferOptions;
  readonly #id: string;
  readonly #segmentBytes: number;
  /** Oldest first. The writer's is the last. */
  #segments: Segment[];
  #writer: SegmentWriter | undefined;
  #lastWrite: Promise<unknown> | undefined;
  #nextNumber: number;
  #reader: SegmentReader | undefined;
  /** Where the next record to read starts. */
  #next: LogPosition;
  /** What was read and is not released, oldest first. */
  readonly #unreleased: ReadRecord[] = [];
  readonly #released: ReleasedPosition;
  /** Something that a write, a read or a reservation waits for may have happened. */
  readonly #changed$ = new Subject<void>();
  readonly #room: Room;
  #isEnded = false;
  #isClosed = false;

  private constructor(
    options: EventBufferOptions,
    id: string,
    segments: Segment[],
    released: ReleasedPosition,
  ) {
    this.#options = options;
    this.#id = id;
    this.#segmentBytes = segmentBytesOf(options.maxBytes);
    this.#room = new Room({ ...options, used: () => this.#needed, onEnded: () => this.#roomMayBeBack() });
    this.#segments = segments;
    this.#released = released;
    this.#next = released.position;
    this.#nextNumber = Math.max(released.position.segment, segments.at(-1)?.number ?? 0) + 1;
  }

  /** The folder is there, and nobody else uses it. */
  static async open(options: EventBufferOptions): Promise<DiskLog> {
    const released = ReleasedPosition.open(options.folder);
    const segments = await findSegments(options.folder, released.position);
    await repairTails(segments, options.logger);
    const log = new DiskLog(options, await logId(options), segments, released);
    await log.#removeReleased();
    return log;
  }

  get status(): BufferStatus {
    const unread = this.#segments.reduce((sum, segment) => sum + segment.unread, 0);
    return {
      bytes: this.#bytes,
      events: this.#unreleased.reduce((sum, { events }) => sum + events, unread),
      oldest: this.#unreleased[0]?.writtenAt ?? this.#segments.find(({ unread }) => unread > 0)?.oldest,
    };
  }

  get changed$(): Observable<void> {
    return this.#changed$.asObservable();
  }

  get isFull(): boolean {
    return this.#room.isFull;
  }

  /** See `EventBuffer.reserve`. Events of a reservation find room, whatever they take in the end. */
  reserve(eventBytes: number): Reserved {
    return this.#room.reserve(eventBytes, HEADER_BYTES);
  }

  /** Without what is released: it is removed when it is in the way. */
  get #needed(): number {
    const { segment, offset } = this.#released.position;
    return this.#segments.reduce(
      (sum, one) =>
        one.number > segment || (one.number === segment && one.bytes > offset) ? sum + one.bytes : sum,
      0,
    );
  }

  /** For reservations: a write looks by itself. */
  #roomMayBeBack(): void {
    if (this.#options.whenFull !== 'reject') return;
    this.#room.check();
    this.#changed$.next();
  }

  /**
   * Writes one record of events that are JSON Lines. Resolves when the disk has it. One write at a time. Rejects with an error
   * that names the folder if the disk cannot be written to.
   */
  write(documents: Buffer, events: number): Promise<void> {
    const written = this.#write(documents, events);
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  async #write(documents: Buffer, events: number): Promise<void> {
    const record = encodeRecord(documents, events, asyncScheduler.now());
    await this.#makeRoom(record.length);
    try {
      const writer = await this.#writerFor(record.length);
      await writer.append(record, events);
      this.#room.stored(record.length);
    } catch (cause) {
      await this.#abandonWriter();
      const { message } = writeError(this.#options.folder, cause as NodeJS.ErrnoException);
      throw Object.assign(new PluginError(message, { cause }), { [BACKOFF]: RETRY_AFTER });
    }
    this.#changed$.next();
  }

  /** The records in order, from the first that is not released. Waits for those that are still to be written. */
  async *read(): AsyncGenerator<LogRecord> {
    while (!this.#isClosed) {
      const segment = this.#segmentAtNext();
      if (segment !== undefined) {
        const record = await this.#readFrom(segment);
        if (record !== undefined) yield record;
      } else if (this.#isEnded) return;
      else await this.#change();
    }
  }

  /** What was read up to `end` is no longer needed. To be called in the order of reading. */
  release(end: LogPosition): void {
    this.#unreleased.shift();
    this.#releaseTo(end);
  }

  #releaseTo(end: LogPosition): void {
    this.#released.move(end);
    void this.#removeReleased();
    this.#roomMayBeBack();
  }

  async #closeReader(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }

  /** Nothing more will be written: `read` ends after the last record. */
  end(): void {
    this.#isEnded = true;
    this.#changed$.next();
  }

  /** Waits for what is being written to the disk. What is not released is kept for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#changed$.next();
    await this.#lastWrite;
    await this.#retireWriter();
    await this.#removeReleased();
    await this.#closeReader();
    await this.#released.close();
  }

  get #bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #change(): Promise<void> {
    return firstValueFrom(this.#changed$);
  }

  /**
   * Resolves when there is room. A record that is larger than the whole log gets it once the log is empty, and one for which
   * room was reserved at once.
   */
  async #makeRoom(bytes: number): Promise<void> {
    const { maxBytes, whenFull } = this.#options;
    const fits = () => this.#segments.length === 0 || this.#bytes + bytes <= maxBytes;
    while (!fits() && !this.#isClosed) {
      // Its segment may be removable, or the only one that can be dropped.
      await this.#retireWriter();
      await this.#removeReleased();
      if (fits() || whenFull === 'reject') break;
      if (whenFull === 'drop_oldest') await this.#dropOldest();
      else {
        this.#room.setFull(true);
        await this.#change();
      }
    }
    if (this.#isClosed) throw new PluginError('the buffer is closed');
    if (whenFull === 'wait') this.#room.setFull(false);
  }

  async #writerFor(bytes: number): Promise<SegmentWriter> {
    const used = this.#writer?.segment.bytes ?? 0;
    if (used > 0 && used + bytes > this.#segmentBytes) await this.#retireWriter();
    if (this.#writer === undefined) {
      this.#writer = await SegmentWriter.create(this.#options.folder, this.#nextNumber++);
      this.#segments.push(this.#writer.segment);
    }
    return this.#writer;
  }

  async #retireWriter(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.close();
  }

  /** After a failure, a new segment is begun. */
  async #abandonWriter(): Promise<void> {
    await this.#writer?.cut();
    await this.#retireWriter();
  }

  async #dropOldest(): Promise<void> {
    const oldest = this.#segments.shift() as Segment;
    if (oldest.unread > 0) this.#options.onDropped(oldest.unread);
    await removeSegment(oldest);
  }

  /** The writer's segment stays, unless it is retired. */
  async #removeReleased(): Promise<void> {
    const { segment, offset } = this.#released.position;
    const isNeeded = (one: Segment) =>
      one === this.#writer?.segment ||
      (one.number > segment && one.bytes > 0) ||
      (one.number === segment && one.bytes > offset);
    const removable = this.#segments.filter((one) => !isNeeded(one));
    if (removable.length === 0) return;
    this.#segments = this.#segments.filter(isNeeded);
    await Promise.all(removable.map(removeSegment));
    this.#changed$.next();
  }

  /** The segment with the next record; undefined if that is not written yet. */
  #segmentAtNext(): Segment | undefined {
    const { segment: number, offset } = this.#next;
    return this.#segments.find((one) =>
      one.number === number ? one.bytes > offset : one.number > number && one.bytes > 0,
    );
  }

  async #readerOf(segment: Segment): Promise<SegmentReader> {
    if (this.#reader?.segment !== segment) {
      await this.#closeReader();
      const { segment: number, offset } = this.#next;
      this.#reader = await SegmentReader.open(segment, segment.number === number ? offset : 0);
    }
    return this.#reader;
  }

  /** Also with the time: if the newest segments are lost, their numbers come again. */
  #idOf({ number }: Segment, start: number, { writtenAt, checksum }: RecordHeader): string {
    const time = new Date(writtenAt).toISOString().replaceAll(/[-:]/g, '');
    return `${time}-${this.#id}-${checksum.toString(16)}-${number}-${start}`;
  }

  async #readFrom(segment: Segment): Promise<LogRecord | undefined> {
    const reader = await this.#readerOf(segment);
    const start = reader.offset;
    const found = await reader.next();
    // It may have been dropped meanwhile, with this record.
    if (!this.#segments.includes(segment)) return undefined;
    const end = { segment: segment.number, offset: found?.end ?? segment.bytes };
    this.#next = end;
    const events = found?.events ?? segment.unread;
    segment.unread -= events;
    segment.oldest = undefined;
    if (found?.documents !== undefined) {
      this.#unreleased.push({ end, events, writtenAt: found.writtenAt });
      const id = this.#idOf(segment, start, found);
      return { documents: found.documents, events, path: segment.path, start, id, end };
    }
    this.#options.logger.error(`${segment.path}: ${counted(events, 'event')} ${damageAt(end.offset)}`);
    this.#options.onDropped(events);
    // A reader that has lost its way starts over at the next record.
    if (found === undefined) await this.#closeReader();
    // With nothing in flight that would release it, it would take room for ever.
    if (this.#unreleased.length === 0) this.#releaseTo(end);
    return undefined;
  }
}

/** A part of the names of all records in a folder: the same for ever, and another one in each folder that is not a copy. */
async function logId({ folder, logger }: EventBufferOptions): Promise<string> {
  const path = join(folder, 'id');
  const id = randomUUID();
  try {
    const known = fileSystem.existsSync(path) ? fileSystem.readFileSync(path, 'latin1') : '';
    if (LOG_ID.test(known)) return known;
    await replaceFlushed(path, id);
  } catch (cause) {
    // What is in the buffer can be delivered all the same, which may be what makes room on the disk.
    const { message } = writeError(path, cause as NodeJS.ErrnoException);
    logger.warn(
      `${message}. The ids of events of this buffer change at the next start, so a sink that tells events apart by their ` +
        'ids stores those again that are delivered again',
    );
  }
  return id;
}

interface ReadRecord {
  readonly end: LogPosition;
  readonly events: number;
  readonly writtenAt: number;
}

/** A crash tears the end of the last segment, of which nothing was acknowledged. Nothing but damage does so elsewhere. */
async function repairTails(segments: readonly FoundSegment[], logger: Logger): Promise<void> {
  for (const segment of segments) {
    const { path, bytes, unreadable } = segment;
    if (unreadable === 0) continue;
    if (segment === segments.at(-1)) await cutTail(segment);
    else logger.error(`${path}: ${counted(unreadable, 'byte')} ${damageAt(bytes)}`);
  }
}

function damageAt(offset: number): string {
  return (
    `at byte ${offset} cannot be read, because a checksum does not match. If the machine has lost power, they were not ` +
    'acknowledged to their source; otherwise the disk is damaged, and they are lost'
  );
}
