import { countLines } from '../../operators/internal.ts';
import { type CollectedEvent, serialise, toJson } from '../../src/sdk/index.ts';

const [LF, COMMA] = [0x0a, 0x2c];

/** Consecutive events of a call, in the form of a protocol. */
export interface Documents {
  readonly count: number;
  /** The position of the first one among the events of the call. */
  readonly first: number;
  /** How many of the first ones are sent before the others, if they cannot go in one request. */
  readonly boundary?: number | undefined;
  /** The body of a request with these events, without compression. */
  body(): Buffer;
  /** The first `middle` events, of which there are more, and the others. */
  split(middle: number): readonly [Documents, Documents];
}

/** Two halves of at least one event each, of two or more. */
export function halves(documents: Documents): readonly [Documents, Documents] {
  return documents.split(Math.ceil(documents.count / 2));
}

/** Documents of one line each, or of more where a protocol puts a line in front of each. */
export class LineDocuments implements Documents {
  readonly count: number;
  readonly first: number;
  /** Each line has an LF after it, and none in it. */
  readonly #bytes: Buffer;
  readonly #form: LineForm;

  constructor(bytes: Buffer, count: number, form: LineForm = {}, first = 0) {
    this.#bytes = bytes;
    this.count = count;
    this.#form = form;
    this.first = first;
  }

  /** Counts the documents. */
  static in(bytes: Buffer, form: LineForm = {}): LineDocuments {
    return new LineDocuments(bytes, countLines(bytes) / (form.linesEach ?? 1), form);
  }

  body(): Buffer {
    const { list } = this.#form;
    return list === undefined ? this.#bytes : jsonList(this.#bytes, list);
  }

  split(middle: number): readonly [Documents, Documents] {
    const lines = middle * (this.#form.linesEach ?? 1);
    let end = 0;
    for (let n = 0; n < lines; n++) end = this.#bytes.indexOf(LF, end) + 1;
    return [
      new LineDocuments(this.#bytes.subarray(0, end), middle, this.#form, this.first),
      new LineDocuments(this.#bytes.subarray(end), this.count - middle, this.#form, this.first + middle),
    ];
  }
}

export interface LineForm {
  /** Lines of a document. Default: 1. */
  readonly linesEach?: number;
  /** What is in front of the documents and after them, if they are the items of a JSON array. */
  readonly list?: readonly [before: string, after: string];
}

/** The form of documents that are a JSON array. */
export const JSON_ARRAY: LineForm = { list: ['[', ']'] };

/** A copy: the memory of the documents may be used for another attempt. */
function jsonList(bytes: Buffer, [before, after]: readonly [string, string]): Buffer {
  const list = Buffer.concat([Buffer.from(before), bytes.subarray(0, -1), Buffer.from(after)]);
  for (let at = list.indexOf(LF); at !== -1; at = list.indexOf(LF, at + 1)) list[at] = COMMA;
  return list;
}

/** Documents that are made of events when a request needs them, because the body is more than its parts in a row. */
export class EventDocuments<E> implements Documents {
  readonly first: number;
  readonly #events: readonly E[];
  readonly #encode: (events: readonly E[]) => Buffer;
  readonly #kindOf: (event: E) => unknown;
  #body: Buffer | undefined;

  /** `kindOf`: events of several kinds do not go in one request. */
  constructor(
    events: readonly E[],
    encode: (events: readonly E[]) => Buffer,
    kindOf: (event: E) => unknown = () => undefined,
    first = 0,
  ) {
    this.#events = events;
    this.#encode = encode;
    this.#kindOf = kindOf;
    this.first = first;
  }

  get boundary(): number | undefined {
    const kind = this.#events[0] === undefined ? undefined : this.#kindOf(this.#events[0]);
    const boundary = this.#events.findIndex((event) => this.#kindOf(event) !== kind);
    return boundary === -1 ? undefined : boundary;
  }

  get count(): number {
    return this.#events.length;
  }

  body(): Buffer {
    this.#body ??= this.#encode(this.#events);
    return this.#body;
  }

  split(middle: number): readonly [Documents, Documents] {
    const part = (start: number, end?: number) =>
      new EventDocuments(this.#events.slice(start, end), this.#encode, this.#kindOf, this.first + start);
    return [part(0, middle), part(middle)];
  }
}

/**
 * The fields of `data` in one line of JSON, beside the timestamp, whose field in `data` wins.
 *
 * @throws PluginError, which names the event to the engine, if JSON cannot represent it.
 */
export function flatLine(event: CollectedEvent, timestamp: string): string {
  try {
    return `${toJson({ [timestamp]: event.timestamp, ...event.data })}\n`;
  } catch {
    // The error of `serialise` tells the engine which event it is.
    return `${serialise(event)}\n`;
  }
}
