import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { MAX_LINE_BYTES } from '../../operators/internal.ts';
import { nonTextFormat } from '../../operators/internal-files.ts';
import { MillraceError } from '../sdk/errors.ts';

const LF = 0x0a;
const NUL = 0;
const NOTHING = Buffer.alloc(0);
const ONE_NUL = Buffer.of(NUL);
/** So many NULs in a row are a hole rather than content. */
const LEAST_HOLE = 64;
/** Bytes at the start of a file that say whether it is text. */
const HEAD_BYTES = 8192;

/** A file that has no lines of text. The message says what it is. */
export class NoText extends MillraceError {
  constructor(message: string) {
    super('MILLRACE_NO_TEXT', message);
    this.name = 'NoText';
  }
}

/** The lines of a file, or of standard input (`-`), without the holes that a truncation or a crash leaves in it. */
export class TextInput {
  readonly #file: string;
  #holeBytes = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** NULs that were left out so far. */
  get holeBytes(): number {
    return this.#holeBytes;
  }

  /** Whole lines, as they come, with their terminators. The last one may have none. @throws NoText */
  async *blocks(): AsyncGenerator<Buffer> {
    let pending: Buffer[] = [];
    let length = 0;
    for await (const chunk of this.#chunks()) {
      const end = chunk.lastIndexOf(LF) + 1;
      if (end > 0) {
        // Of a line that is too long no more is kept than says so.
        const rest = length > MAX_LINE_BYTES ? chunk.subarray(chunk.indexOf(LF)) : chunk;
        yield Buffer.concat([...pending, rest.subarray(0, rest.lastIndexOf(LF) + 1)]);
        pending = [];
        length = 0;
      }
      if (length > MAX_LINE_BYTES) continue;
      pending.push(chunk.subarray(end));
      length += chunk.length - end;
    }
    const rest = Buffer.concat(pending);
    if (rest.length > 0) yield rest;
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    const holes = new HoleFilter();
    const start = new Head();
    const text = new Head();
    const checked = (bytes: Buffer) => {
      this.#holeBytes = holes.skipped;
      if (text.add(bytes)) assertText(text.bytes, holes.hasNuls);
      return bytes;
    };
    for await (const chunk of open(this.#file) as AsyncIterable<Buffer>) {
      if (start.add(chunk)) assertFormat(start.bytes);
      yield checked(holes.without(chunk));
    }
    yield checked(holes.end());
  }
}

function open(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file);
}

/** The first bytes of a stream. */
class Head {
  bytes = Buffer.alloc(0);

  /** False if they were there already. */
  add(chunk: Buffer): boolean {
    if (this.bytes.length >= HEAD_BYTES) return false;
    this.bytes = Buffer.concat([this.bytes, chunk.subarray(0, HEAD_BYTES - this.bytes.length)]);
    return true;
  }
}

/** @throws NoText for compressed files, UTF-16 and UTF-32 */
function assertFormat(head: Buffer): void {
  const format = nonTextFormat(head);
  if (format?.name.startsWith('UTF-') === true) {
    throw new NoText(
      `it is ${format.name}, which is not searched; convert it to UTF-8 first, for example with iconv`,
    );
  }
  if (format !== undefined) {
    throw new NoText(
      `it is compressed (${format.name}), and what is in it is not searched; decompress it first`,
    );
  }
  if (TAR.equals(head.subarray(TAR_AT, TAR_AT + TAR.length))) {
    throw new NoText('it is an archive (tar), and its files are not searched; unpack it first');
  }
}

const TAR = Buffer.from('ustar');
const TAR_AT = 257;
/** Control characters that no log has. */
const isBinary = (byte: number): boolean =>
  byte === DELETE || (byte < SPACE && byte !== NUL && byte !== ESCAPE && (byte < BELL || byte > CR));
const BELL = 0x07;
const CR = 0x0d;
const ESCAPE = 0x1b;
const SPACE = 0x20;
const DELETE = 0x7f;

/** @throws NoText for binary files: they have NULs and other control characters */
function assertText(head: Buffer, hasNuls: boolean): void {
  assertFormat(head);
  if (hasNuls && head.some(isBinary)) {
    throw new NoText('it has NUL bytes and other control characters, so it is not text, and is not searched');
  }
}

/**
 * Leaves out holes: NULs at the start of a file, which a truncation leaves under a writer that does not append, and many
 * NULs in a row, which a crash leaves where data was not written yet. In a line, one NUL stays between what was not
 * together.
 */
class HoleFilter {
  /** NULs that came last, and were not passed on. */
  #run = 0;
  #isStart = true;
  #isInLine = false;
  #hasNuls = false;
  skipped = 0;

  /** Whether there were NULs apart from holes. */
  get hasNuls(): boolean {
    return this.#hasNuls || this.#isContent(this.#run);
  }

  without(chunk: Buffer): Buffer {
    if (this.#run === 0 && !chunk.includes(NUL)) return this.#passed(chunk);
    const parts: Buffer[] = [];
    for (let at = 0; at < chunk.length; ) {
      const from = at;
      while (chunk[at] === NUL) at++;
      this.#run += at - from;
      if (at === chunk.length) break;
      parts.push(this.#endRun(this.#isInLine));
      const next = chunk.indexOf(NUL, at);
      const end = next === -1 ? chunk.length : next;
      parts.push(this.#passed(chunk.subarray(at, end)));
      at = end;
    }
    return Buffer.concat(parts);
  }

  end(): Buffer {
    return this.#endRun(false);
  }

  #passed(text: Buffer): Buffer {
    if (text.length === 0) return text;
    this.#isStart = false;
    this.#isInLine = text.at(-1) !== LF;
    return text;
  }

  /** What stays of the NULs that came last. */
  #endRun(isInLine: boolean): Buffer {
    const run = this.#run;
    this.#run = 0;
    if (this.#isContent(run)) {
      this.#hasNuls = true;
      return Buffer.alloc(run);
    }
    if (run === 0) return NOTHING;
    const kept = isInLine ? ONE_NUL : NOTHING;
    this.skipped += run - kept.length;
    return kept;
  }

  #isContent(run: number): boolean {
    return run > 0 && run < LEAST_HOLE && !this.#isStart;
  }
}
