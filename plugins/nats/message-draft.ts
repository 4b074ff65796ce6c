const LF = 0x0a;

/** A message before it is published. One that is too large is published in halves. */
export interface MessageDraft {
  readonly subject: string;
  /** Names the events in it: the server takes a message with an id that it knows for stored. */
  readonly id: string;
  /** Bytes of the payload. */
  readonly bytes: number;
  /** The positions of its events in the call. */
  readonly indexes: readonly number[];
  payload(): Uint8Array;
  /**
   * Two messages with the events of this one, or none if it has a single event. The same message always has the same
   * halves with the same ids, so that what was stored before is not stored again, however its size became known.
   */
  halves(): readonly MessageDraft[];
}

/**
 * Bytes of the headers that a message gets, which servers and streams count as part of it: see
 * https://docs.nats.io/reference/reference-protocols/nats-protocol#hpub
 */
export function headerBytes(id: string, stream: string | undefined): number {
  const expected = stream === undefined ? '' : `Nats-Expected-Stream: ${stream}\r\n`;
  return Buffer.byteLength(`NATS/1.0\r\nNats-Msg-Id: ${id}\r\n${expected}\r\n`);
}

/** Events of one subject, as the documents that the message holds. */
export class EventsDraft implements MessageDraft {
  readonly subject: string;
  readonly bytes: number;
  readonly indexes: readonly number[];
  readonly #callId: string;
  readonly #documents: readonly string[];

  constructor(subject: string, callId: string, documents: readonly string[], indexes: readonly number[]) {
    this.subject = subject;
    this.indexes = indexes;
    this.bytes = documents.reduce((sum, document) => sum + Buffer.byteLength(document), 0);
    this.#callId = callId;
    this.#documents = documents;
  }

  get id(): string {
    return `${this.#callId}.${this.indexes[0]}-${this.indexes.at(-1)}-${this.indexes.length}`;
  }

  payload(): Uint8Array {
    return Buffer.from(this.#documents.join(''));
  }

  halves(): readonly EventsDraft[] {
    const part = (from: number, to: number) =>
      new EventsDraft(
        this.subject,
        this.#callId,
        this.#documents.slice(from, to),
        this.indexes.slice(from, to),
      );
    return halvesOf(this.indexes.length, part);
  }
}

/** Lines of JSON that are in UTF-8 already. */
export class LinesDraft implements MessageDraft {
  readonly subject: string;
  readonly #callId: string;
  readonly #lines: Buffer;
  /** The position of the first line in the call, in a part of it. */
  readonly #first: number | undefined;

  constructor(subject: string, callId: string, lines: Buffer, first?: number) {
    this.subject = subject;
    this.#callId = callId;
    this.#lines = lines;
    this.#first = first;
  }

  get id(): string {
    if (this.#first === undefined) return this.#callId;
    return `${this.#callId}.${this.#first}-${this.indexes.at(-1)}`;
  }

  get bytes(): number {
    return this.#lines.length;
  }

  get indexes(): readonly number[] {
    return this.#ends().map((_, index) => (this.#first ?? 0) + index);
  }

  payload(): Uint8Array {
    return this.#lines;
  }

  halves(): readonly LinesDraft[] {
    const ends = this.#ends();
    const part = (from: number, to: number) => {
      const lines = this.#lines.subarray(ends[from - 1] ?? 0, ends[to - 1]);
      return new LinesDraft(this.subject, this.#callId, lines, (this.#first ?? 0) + from);
    };
    return halvesOf(ends.length, part);
  }

  #ends(): readonly number[] {
    const ends: number[] = [];
    for (let end = 0; end < this.#lines.length; ends.push(end)) {
      const newline = this.#lines.indexOf(LF, end);
      end = newline < 0 ? this.#lines.length : newline + 1;
    }
    return ends;
  }
}

function halvesOf<Part>(size: number, part: (from: number, to: number) => Part): readonly Part[] {
  const middle = Math.ceil(size / 2);
  return size < 2 ? [] : [part(0, middle), part(middle, size)];
}
