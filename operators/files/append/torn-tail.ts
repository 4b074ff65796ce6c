import { fileSystem, fsCall, readAt } from '../../support/file-system.ts';

const LF = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const OPENING_LIST = 0x5b;
const CLOSING_LIST = 0x5d;
/** How the documents of this package start, on one line and indented. */
const STARTS = ['{"timestamp":', '{"data":'].map((text) => Buffer.from(text));
const INDENTED_STARTS = ['{\n  "timestamp":', '{\n  "data":'].map((text) => Buffer.from(text));
/** Bytes that are enough to recognise them. */
const LONGEST_START = 32;

/** Bytes that are in memory at a time. */
const CHUNK = 256 * 1024;

/** How much of a file stays when its end is repaired. */
interface Tail {
  /** Bytes of the file that stay. An unfinished document, or nothing but zeroes, follows them. */
  readonly keep: number;
  /** What stays ends with a newline, or is empty. */
  readonly isTerminated: boolean;
}

/**
 * Cuts off what a crash left of a write at the end of an open file: see {@link findTail}. Returns the bytes in the file
 * now, and whether it is empty or ends with a newline.
 */
export async function repairTail(
  fd: number,
  size: number,
): Promise<{ readonly length: number; readonly isTerminated: boolean }> {
  const { keep, isTerminated } = await findTail(fd, size);
  if (keep === size) return { length: size, isTerminated };
  try {
    await fsCall((done) => fileSystem.ftruncate(fd, keep, done));
    return { length: keep, isTerminated };
  } catch (error) {
    // A file that may only be appended to (chattr +a) keeps what it has.
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return { length: size, isTerminated: false };
    throw error;
  }
}

/**
 * Looks at the end of a file that is about to be appended to. A document that starts like ours and does not end is what a
 * crash left of a write: it was never confirmed, so it will be written again, and has to be cut off. So have zeroes, which
 * file systems leave after a power cut. Anything else belongs to another program and stays. Memory use does not depend on
 * the length of that document.
 */
export async function findTail(fd: number, size: number): Promise<Tail> {
  const content = await findContent(fd, size);
  if (content === undefined) return { keep: 0, isTerminated: true };
  const { end, lastByte } = content;
  const isTerminated = lastByte === LF;
  const stays: Tail = { keep: end, isTerminated };
  const last = await findLastLine(fd, isTerminated ? end - 1 : end);
  if (last === undefined) return stays;
  const cut: Tail = { keep: last.start, isTerminated: true };
  const head = await readAt(fd, last.start, Buffer.alloc(Math.min(LONGEST_START, end - last.start)));
  if (INDENTED_STARTS.some((start) => agree(head, start))) return cut;
  if (isTerminated || !last.isLast || !STARTS.some((start) => agree(head, start))) return stays;
  return lastByte === CLOSING && (await isWholeDocument(fd, last.start, end)) ? stays : cut;
}

/** Where the content ends: zeroes follow, or nothing. */
async function findContent(
  fd: number,
  size: number,
): Promise<{ readonly end: number; readonly lastByte: number } | undefined> {
  for await (const { bytes, position } of readBackwards(fd, size)) {
    let length = bytes.length;
    while (length > 0 && bytes[length - 1] === 0) length--;
    if (length > 0) return { end: position + length, lastByte: bytes[length - 1] as number };
  }
  return undefined;
}

interface LastLine {
  /** Where the last line starts that is not indented: a document that lacks its end cannot start before it. */
  readonly start: number;
  /** No other line follows. */
  readonly isLast: boolean;
}

/** Undefined if all lines before `end` are indented. */
async function findLastLine(fd: number, end: number): Promise<LastLine | undefined> {
  let isLast = true;
  let following: number | undefined;
  for await (const { bytes, position } of readBackwards(fd, end)) {
    for (let at = bytes.lastIndexOf(LF); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(LF, at - 1)) {
      const first = at + 1 < bytes.length ? bytes[at + 1] : following;
      if (first !== SPACE) return { start: position + at + 1, isLast };
      isLast = false;
    }
    following = bytes[0];
    if (position === 0 && following !== SPACE) return { start: 0, isLast };
  }
  return undefined;
}

/** Whether a JSON document on one line starts at `start` and ends at `end`. */
async function isWholeDocument(fd: number, start: number, end: number): Promise<boolean> {
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  for await (const { bytes, position } of readForwards(fd, start, end)) {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      // Zeroes of a power cut, among others.
      if (byte < SPACE) return false;
      if (isString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isString = false;
      } else if (byte === QUOTE) isString = true;
      else if (byte === OPENING || byte === OPENING_LIST) depth++;
      else if ((byte === CLOSING || byte === CLOSING_LIST) && --depth <= 0) return position + i + 1 === end;
    }
  }
  return false;
}

/** A part of a file. Its memory is used again for the next one. */
interface Chunk {
  readonly bytes: Buffer;
  readonly position: number;
}

async function* readForwards(fd: number, start: number, end: number): AsyncGenerator<Chunk> {
  const memory = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK, end - start)));
  for (let position = start; position < end; position += CHUNK) {
    const chunk = memory.subarray(0, end - position);
    const bytes = await readAt(fd, position, chunk);
    // Another program has truncated the file meanwhile.
    if (bytes.length < chunk.length) return;
    yield { bytes, position };
  }
}

async function* readBackwards(fd: number, end: number): AsyncGenerator<Chunk> {
  const memory = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK, end)));
  for (let rest = end; rest > 0; ) {
    const chunk = memory.subarray(0, rest);
    rest -= chunk.length;
    const bytes = await readAt(fd, rest, chunk);
    if (bytes.length < chunk.length) return;
    yield { bytes, position: rest };
  }
}

/** Whether one is the start of the other. */
function agree(text: Buffer, start: Buffer): boolean {
  const length = Math.min(text.length, start.length);
  return text.compare(start, 0, length, 0, length) === 0;
}
