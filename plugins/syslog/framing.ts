import { ByteQueue } from './byte-queue.ts';

const LF = 0x0a;
const CR = 0x0d;
const NUL = 0x00;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const LESS_THAN = 0x3c;

/** Of the count before a message: 9,999,999 bytes. */
const MOST_DIGITS = 7;
/** More digits than this are no count at all, but text. */
const MOST_READ_DIGITS = 9;

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= NINE;
const isPadding = (byte: number | undefined) => byte === LF || byte === CR || byte === NUL;

/** What of a stream was not read as messages. */
export interface FramingReports {
  /** A message is longer than the limit. It is skipped. */
  tooLong(): void;
}

/**
 * Cuts a stream into messages as RFC 6587 describes. A message has its length in front of it (octet counting) or a newline
 * after it; the first bytes of each message tell which: digits, a space and `<`, or anything else. A NUL ends a message as
 * well, because some libraries send one instead of a newline. Once a stream has counted messages, what is neither a count
 * nor a `<` is malformed: a wrong count would otherwise go unnoticed.
 */
export class MessageFramer {
  readonly #maxBytes: number;
  readonly #reports: FramingReports;
  readonly #queue = new ByteQueue();
  #hasNul = false;
  #isCounted = false;
  /** Bytes that were searched for the end of a line. */
  #searched = 0;
  /** Bytes to skip of a counted message that is too long. */
  #skippedBytes = 0;
  /** A line that is too long is skipped up to its end. */
  #isSkippingLine = false;
  #malformed: string | undefined;

  constructor(maxBytes: number, reports: FramingReports) {
    this.#maxBytes = maxBytes;
    this.#reports = reports;
  }

  /** Why the stream cannot be read any further. It quotes nothing of the stream. */
  get malformed(): string | undefined {
    return this.#malformed;
  }

  /** Bytes in memory. */
  get memory(): number {
    return this.#queue.buffer.length;
  }

  /** Bytes that are not taken yet. */
  get unread(): number {
    return this.#queue.length;
  }

  /** Whether a message has started and is not complete, once `take` has returned fewer messages than it might. */
  get isInsideMessage(): boolean {
    return this.#queue.length > 0 || this.#skippedBytes > 0 || this.#isSkippingLine;
  }

  push(chunk: Buffer): void {
    this.#hasNul = (this.#hasNul && this.#queue.length > 0) || chunk.includes(NUL);
    this.#queue.push(chunk);
  }

  /** The next messages, `most` at most. If there are fewer, all that is complete was read. */
  take(most: number): string[] {
    const messages: string[] = [];
    while (messages.length < most && this.#malformed === undefined) {
      const message = this.#next();
      if (message === undefined) break;
      if (message !== '') messages.push(message);
    }
    return messages;
  }

  /** The stream has ended, and all complete messages were taken: the last line, if it has no newline after it. */
  end(): string | undefined {
    if (!this.isInsideMessage || this.#isSkippingLine) return undefined;
    if (this.#skippedBytes > 0 || this.#countAtStart() !== 'none') {
      this.#malformed = 'the connection ended inside of a message';
      return undefined;
    }
    return this.#textOf(this.#queue.length, this.#queue.length);
  }

  /** An empty string is no message; undefined if more bytes are needed, or the stream is malformed. */
  #next(): string | undefined {
    const queue = this.#queue;
    if (this.#skippedBytes > 0) {
      const skipped = Math.min(this.#skippedBytes, queue.length);
      queue.skip(skipped);
      this.#skippedBytes -= skipped;
    }
    if (this.#searched === 0 && !this.#isSkippingLine) {
      while (queue.length > 0 && isPadding(queue.buffer[queue.start])) queue.skip(1);
    }
    if (queue.length === 0) return undefined;
    if (this.#searched > 0 || this.#isSkippingLine) return this.#nextLine();
    const count = this.#countAtStart();
    if (count === 'incomplete' || count === 'malformed') return undefined;
    return count === 'none' ? this.#nextLine() : this.#nextCounted(count);
  }

  #countAtStart(): Count | 'none' | 'incomplete' | 'malformed' {
    const { buffer, start, end } = this.#queue;
    if (buffer[start] === LESS_THAN) return 'none';
    let at = start;
    while (at < end && isDigit(buffer[at]) && at - start <= MOST_READ_DIGITS) at++;
    const digits = at - start;
    const isCount = digits > 0 && digits <= MOST_READ_DIGITS && buffer[start] !== ZERO;
    if (isCount && at === end) return 'incomplete';
    if (isCount && buffer[at] === SPACE) {
      if (at + 1 === end) return 'incomplete';
      if (buffer[at + 1] === LESS_THAN) {
        if (digits <= MOST_DIGITS)
          return { headBytes: digits + 1, bytes: Number(buffer.toString('latin1', start, at)) };
        return this.#refuse('the length in front of a message is larger than 9,999,999 bytes');
      }
    }
    return this.#isCounted
      ? this.#refuse('expected the length of the next message, followed by a space and `<`')
      : 'none';
  }

  #refuse(why: string): 'malformed' {
    this.#malformed = why;
    return 'malformed';
  }

  #nextCounted({ headBytes, bytes }: Count): string | undefined {
    const queue = this.#queue;
    this.#isCounted = true;
    if (bytes > this.#maxBytes) {
      this.#reports.tooLong();
      queue.skip(headBytes);
      this.#skippedBytes = bytes;
      return '';
    }
    if (queue.length < headBytes + bytes) return undefined;
    queue.skip(headBytes);
    return this.#textOf(bytes, bytes);
  }

  #nextLine(): string | undefined {
    const queue = this.#queue;
    const from = queue.start + this.#searched;
    const newline = queue.indexOf(LF, from);
    const nul = this.#hasNul ? queue.indexOf(NUL, from) : -1;
    const end = newline < 0 || (nul >= 0 && nul < newline) ? nul : newline;
    const length = (end < 0 ? queue.end : end) - queue.start;
    if (length > this.#maxBytes && !this.#isSkippingLine) {
      this.#isSkippingLine = true;
      this.#reports.tooLong();
    }
    if (this.#isSkippingLine) {
      this.#isSkippingLine = end < 0;
      this.#searched = 0;
      queue.skip(end < 0 ? length : length + 1);
      return end < 0 ? undefined : '';
    }
    this.#searched = end < 0 ? length : 0;
    return end < 0 ? undefined : this.#textOf(length, length + 1);
  }

  /** The text of so many bytes, of which so many are taken. */
  #textOf(bytes: number, taken: number): string {
    const { buffer, start } = this.#queue;
    const text = messageText(buffer, start, start + bytes);
    this.#queue.skip(taken);
    return text;
  }
}

/** A message as text, without newlines and NULs at its end. Bytes that are not UTF-8 become U+FFFD. */
export function messageText(buffer: Buffer, start = 0, end = buffer.length): string {
  let last = end;
  while (last > start && isPadding(buffer[last - 1])) last--;
  return buffer.toString('utf8', start, last);
}

/** What is in front of a counted message, and how long that is. */
interface Count {
  readonly headBytes: number;
  readonly bytes: number;
}
