import fs from 'node:fs';
import { dirname, join } from 'node:path';
import {
  closeFile,
  fileSystem,
  fsCall,
  OUTPUT_FLAGS,
  readAt,
  removeFile,
  syncFolder,
  writeAll,
} from '../../operators/internal-files.ts';
import { decodeHeader, HEADER_BYTES, isWhole, type RecordHeader } from './record.ts';

const NAME = /^(\d{12})\.records$/;
/** Read at a time. Larger records are read whole. */
const CHUNK_BYTES = 512 * 1024;
const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR } = fs.constants;

/** A place in the log: everything before it was read. */
export interface LogPosition {
  readonly segment: number;
  /** Bytes from the start of the segment. */
  readonly offset: number;
}

/** One file of the log. Records are appended to the last one only, and each file is removed as a whole. */
export interface Segment {
  /** Later segments have higher numbers. */
  readonly number: number;
  readonly path: string;
  /** The bytes of all records that are on the disk. */
  bytes: number;
  /** The number of their events that were not read. */
  unread: number;
  /** When the first record that is not released was written, in milliseconds since 1970; undefined if that is not known. */
  oldest: number | undefined;
}

/** A segment of an earlier process. */
export interface FoundSegment extends Segment {
  /** The bytes after the last header that is whole and whose record is within the file. */
  unreadable: number;
}

/** A record as it was read. */
export interface FoundRecord extends RecordHeader {
  /** Where the next record starts in its segment. */
  readonly end: number;
  /** The events as JSON Lines; undefined if they are not those that were written. */
  readonly documents: Buffer | undefined;
}

/** Finds the segments in a folder, in order. Reads the headers of the records from `released` on, and nothing else. */
export async function findSegments(folder: string, released: LogPosition): Promise<FoundSegment[]> {
  const names = await fsCall<string[]>((done) => fileSystem.readdir(folder, done));
  const segments: FoundSegment[] = [];
  for (const name of names.sort()) {
    const digits = NAME.exec(name)?.[1];
    if (digits === undefined) continue;
    const number = Number(digits);
    const bytes = number === released.segment ? released.offset : 0;
    const segment: FoundSegment = {
      number,
      path: join(folder, name),
      bytes,
      unread: 0,
      unreadable: 0,
      oldest: undefined,
    };
    if (number >= released.segment) await measure(segment);
    segments.push(segment);
  }
  return segments;
}

async function measure(segment: FoundSegment): Promise<void> {
  const fd = await open(segment.path, O_RDONLY);
  try {
    const { size } = await fsCall<fs.Stats>((done) => fileSystem.fstat(fd, done));
    for (;;) {
      segment.unreadable = size - segment.bytes;
      const header = decodeHeader(await readAt(fd, segment.bytes, Buffer.alloc(HEADER_BYTES)));
      if (header === undefined) return;
      const end = segment.bytes + HEADER_BYTES + header.bytes;
      if (end > size) return;
      segment.bytes = end;
      segment.unread += header.events;
      segment.oldest ??= header.writtenAt;
    }
  } finally {
    await closeFile(fd);
  }
}

/** Removes what cannot be read from the end of a segment. */
export async function cutTail({ path, bytes }: Segment): Promise<void> {
  const fd = await open(path, O_RDWR);
  try {
    await fsCall((done) => fileSystem.ftruncate(fd, bytes, done));
  } finally {
    await closeFile(fd);
  }
}

/** Appends records to a new segment. */
export class SegmentWriter {
  readonly segment: Segment;
  readonly #fd: number;
  #isNew = true;

  private constructor(segment: Segment, fd: number) {
    this.segment = segment;
    this.#fd = fd;
  }

  static async create(folder: string, number: number): Promise<SegmentWriter> {
    const path = join(folder, `${String(number).padStart(12, '0')}.records`);
    const fd = await open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
    return new SegmentWriter({ number, path, bytes: 0, unread: 0, oldest: undefined }, fd);
  }

  /**
   * Resolves when the disk has the record. If it rejects, the segment must not be written to again: what the system still
   * holds of a failed write may never reach the disk, even if a later sync succeeds.
   */
  async append(record: Buffer, events: number): Promise<void> {
    const { error } = await writeAll(this.#fd, record);
    if (error !== undefined) throw error;
    await fsCall((done) => fileSystem.fdatasync(this.#fd, done));
    if (this.#isNew) await syncFolder(dirname(this.segment.path));
    this.#isNew = false;
    this.segment.bytes += record.length;
    this.segment.unread += events;
  }

  /** Cuts off what a failed write has left, if that can be done. A crash would deliver it, which may repeat it. */
  async cut(): Promise<void> {
    await fsCall((done) => fileSystem.ftruncate(this.#fd, this.segment.bytes, done)).catch(() => {});
  }

  close(): Promise<void> {
    return closeFile(this.#fd);
  }
}

/** Reads the records of a segment one after the other, also while it grows. */
export class SegmentReader {
  readonly segment: Segment;
  /** Where the next record starts. */
  offset: number;
  readonly #fd: number;
  /** What was read ahead, from `offset` on. */
  #ahead: Buffer = Buffer.alloc(0);

  private constructor(segment: Segment, fd: number, offset: number) {
    this.segment = segment;
    this.#fd = fd;
    this.offset = offset;
  }

  static async open(segment: Segment, offset: number): Promise<SegmentReader> {
    return new SegmentReader(segment, await open(segment.path, O_RDONLY), offset);
  }

  /** The next record; undefined if its header is damaged, so that nothing after it can be found. Not for the end. */
  async next(): Promise<FoundRecord | undefined> {
    const header = decodeHeader((await this.#peek(HEADER_BYTES)).subarray(0, HEADER_BYTES));
    if (header === undefined) return undefined;
    const bytes = HEADER_BYTES + header.bytes;
    const record = (await this.#peek(bytes)).subarray(0, bytes);
    const documents = record.subarray(HEADER_BYTES);
    this.#ahead = this.#ahead.subarray(record.length);
    this.offset += bytes;
    return { ...header, end: this.offset, documents: isWhole(header, documents) ? documents : undefined };
  }

  close(): Promise<void> {
    return closeFile(this.#fd);
  }

  /** At least `bytes` bytes from `offset` on, or fewer if the file ends before. */
  async #peek(bytes: number): Promise<Buffer> {
    if (this.#ahead.length >= bytes) return this.#ahead;
    const length = Math.min(Math.max(bytes, CHUNK_BYTES), this.segment.bytes - this.offset);
    this.#ahead = await readAt(this.#fd, this.offset, Buffer.allocUnsafe(length));
    return this.#ahead;
  }
}

/** Never rejects: a segment that could not be removed is found again after a restart, and is delivered again. */
export function removeSegment({ path }: Segment): Promise<void> {
  return removeFile(path);
}

/** Only the owner of the process reads what is buffered. */
function open(path: string, flags: number): Promise<number> {
  return fsCall<number>((done) => fileSystem.open(path, flags | OUTPUT_FLAGS, 0o600, done));
}
