import { JoinedLines } from '../../operators/files/follow/joined-lines.ts';
import { type LineEvents, type LineTexts, type PlainLines, textsOf } from '../sdk/line-events.ts';
import type { LineMapping, ManyLines } from '../sdk/plugin.ts';
import type { Turn } from './time-slice.ts';

/** Told of the lines that do not come out, by their index. */
export interface LineOutcomes {
  failed(index: number, error: unknown): void;
  /** Called at most once per run, with at least one line. */
  dropped(indexes: readonly number[]): void;
}

/** Runs a processor over lines without creating events for them. */
export function processLines(lines: LineEvents, mapping: LineMapping, outcomes: LineOutcomes): LineEvents {
  return new LineProcessing(lines, mapping, outcomes).run();
}

/** {@link processLines} in as many turns as it takes. */
export class LineProcessing {
  readonly #lines: LineEvents;
  readonly #mapping: LineMapping;
  readonly #outcomes: LineOutcomes;
  /** Lines that this run has dropped. */
  #dropped: number[] = [];
  /** Lines that are done. */
  #index = 0;
  /** Where the next one begins in the text of all; only where that is used. */
  #offset = 0;
  /** Up to here lines are mapped one by one: `many` has failed on them. */
  #singleUntil = 0;

  constructor(lines: LineEvents, mapping: LineMapping, outcomes: LineOutcomes) {
    this.#lines = lines;
    this.#mapping = mapping;
    this.#outcomes = outcomes;
  }

  get isDone(): boolean {
    return this.#index === this.#lines.size;
  }

  /** What comes of the next lines, until the turn is used up: of one at least. Without a turn, of all that are left. */
  run(turn?: Turn): LineEvents {
    const done = this.#runNext(turn);
    const dropped = this.#dropped;
    if (dropped.length > 0) {
      this.#dropped = [];
      this.#outcomes.dropped(dropped);
    }
    return this.#lines.with(done);
  }

  #runNext(turn: Turn | undefined): LineTexts {
    const { many, keeps } = this.#mapping;
    const asBytes = keeps === undefined ? undefined : this.#lines.texts.plain;
    if (keeps !== undefined && asBytes !== undefined) return this.#runKept(asBytes, keeps, turn);
    const plain = many === undefined ? undefined : this.#plainFor(many);
    if (many === undefined) return this.#runEach(turn);
    const mapped = plain === undefined ? undefined : this.#runPlain(plain, many, turn);
    if (mapped !== undefined) return mapped;
    const { text } = this.#lines.texts;
    return text === undefined ? this.#runEach(turn) : this.#runMany(text, many, turn);
  }

  /** The lines, if they can be mapped as bytes: then an offset in the text is one in the bytes. */
  #plainFor({ mapBytes, maxLength, maxLineLength }: ManyLines): PlainLines | undefined {
    if (mapBytes === undefined || this.#offset < this.#singleUntil) return undefined;
    const { plain } = this.#lines.texts;
    if (plain === undefined || plain.longest > Math.min(maxLength, maxLineLength)) return undefined;
    return plain;
  }

  /** Undefined if nothing could be mapped so. */
  #runPlain(
    plain: PlainLines,
    { mapBytes, maxLength }: ManyLines,
    turn: Turn | undefined,
  ): LineTexts | undefined {
    const { bytes } = plain;
    const start = this.#offset;
    const left = bytes.length - start;
    const into = plain.room(left + (left >> 2) + SPARE_BYTES);
    let written = 0;
    for (let isSpent = false; !isSpent && this.#offset < bytes.length; ) {
      const at = this.#offset;
      const isLast = bytes.length - at <= maxLength;
      const end = isLast ? bytes.length - 1 : bytes.lastIndexOf(LF, at + maxLength);
      const length = mapBytes?.(bytes.subarray(at, end), into.subarray(written, -1)) ?? -1;
      if (length === -1) break;
      written += length;
      into[written++] = LF;
      this.#offset = end + 1;
      isSpent = turn?.isSpent(Number.POSITIVE_INFINITY) ?? false;
    }
    if (this.#offset === start) return undefined;
    const isAll = start === 0 && this.#offset === bytes.length;
    const size = isAll ? this.#lines.size : countLines(bytes.subarray(start, this.#offset));
    this.#index += size;
    const mapped = plain.withPlain(into.subarray(0, written), size);
    if (this.isDone || turn !== undefined) return mapped;
    return joined(mapped, this.#runNext(undefined));
  }

  /** The bytes of the lines that are kept. */
  #runKept(plain: PlainLines, keeps: (line: string) => boolean, turn: Turn | undefined): LineTexts {
    const { text = '' } = plain;
    const { bytes } = plain;
    const first = this.#offset;
    let into: Uint8Array | undefined;
    let written = 0;
    let size = 0;
    /** Where the lines begin that are kept and not written yet. */
    let start = first;
    const writeTo = (end: number) => {
      into ??= plain.room(bytes.length - first);
      into.set(bytes.subarray(start, end), written);
      written += end - start;
    };
    for (let isSpent = false; !isSpent && !this.isDone; ) {
      const end = endOfLine(text, this.#offset);
      const line = text.slice(this.#offset, end);
      const outcome = this.#outcomeOf(() => keeps(line));
      if (outcome === 'mapped') size++;
      else {
        writeTo(this.#offset);
        start = end + 1;
      }
      this.#offset = end + 1;
      isSpent = turn?.isSpent(outcome === 'failed' ? Number.POSITIVE_INFINITY : line.length) ?? false;
    }
    if (into === undefined) return plain.withPlain(bytes.subarray(first, this.#offset), size);
    writeTo(this.#offset);
    return plain.withPlain(into.subarray(0, written), size);
  }

  #runEach(turn: Turn | undefined): LineTexts {
    const { lines } = this.#lines.texts;
    const done: string[] = [];
    for (let isSpent = false; !isSpent && !this.isDone; ) {
      const line = lines[this.#index] as string;
      const outcome = this.#mapOne(line, done);
      isSpent = turn?.isSpent(outcome === 'failed' ? Number.POSITIVE_INFINITY : line.length) ?? false;
    }
    return textsOf(done);
  }

  #runMany(text: string, many: ManyLines, turn: Turn | undefined): LineTexts {
    const done: string[] = [];
    let size = 0;
    for (let isSpent = false; !isSpent && !this.isDone; ) {
      const next =
        this.#offset < this.#singleUntil ? oneLine(text, this.#offset) : nextLines(text, this.#offset, many);
      size += next.areMany
        ? this.#mapMany(text.slice(this.#offset, next.end), next, many, done)
        : this.#mapOneOf(text, next, done);
      isSpent = turn?.isSpent(Number.POSITIVE_INFINITY) ?? false;
    }
    return new JoinedLines(done.join('\n'), size);
  }

  /** Returns how many lines came of it. */
  #mapMany(lines: string, { size, end }: Lines, many: ManyLines, done: string[]): number {
    const mapped = mapOrFail(many, lines, size);
    if (mapped === undefined) {
      this.#singleUntil = end;
      return 0;
    }
    done.push(mapped);
    this.#index += size;
    this.#offset = end + 1;
    return size;
  }

  #mapOneOf(text: string, { end }: Lines, done: string[]): number {
    const line = text.slice(this.#offset, end);
    this.#offset = end + 1;
    return this.#mapOne(line, done) === 'mapped' ? 1 : 0;
  }

  #mapOne(line: string, done: string[]): 'mapped' | 'dropped' | 'failed' {
    return this.#outcomeOf(() => {
      const mapped = this.#mapping.map(line);
      if (mapped !== undefined) done.push(mapped);
      return mapped !== undefined;
    });
  }

  /** Of the next line: `pass` says whether it goes on. */
  #outcomeOf(pass: () => boolean): 'mapped' | 'dropped' | 'failed' {
    const index = this.#index++;
    try {
      if (pass()) return 'mapped';
      this.#dropped.push(index);
      return 'dropped';
    } catch (error) {
      this.#outcomes.failed(index, error);
      return 'failed';
    }
  }
}

const LF = 0x0a;
/** For what masks add to few lines. */
const SPARE_BYTES = 4096;

function countLines(bytes: Uint8Array): number {
  let size = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) size++;
  return size;
}

function joined(one: LineTexts, other: LineTexts): LineTexts {
  return other.text === undefined
    ? textsOf([...one.lines, ...other.lines])
    : new JoinedLines(
        other.size === 0 ? (one.text ?? '') : `${one.text}\n${other.text}`,
        one.size + other.size,
      );
}

interface Lines {
  readonly size: number;
  /** Where the last one ends. */
  readonly end: number;
  /** They may be mapped together. */
  readonly areMany: boolean;
}

/** As many of the next lines as may be mapped together, or one that is too long for it. */
function nextLines(text: string, start: number, { maxLength, maxLineLength }: ManyLines): Lines {
  let size = 0;
  let end = start - 1;
  while (end < text.length) {
    const next = endOfLine(text, end + 1);
    if (next - end - 1 > maxLineLength || next - start > maxLength) break;
    size++;
    end = next;
  }
  return size === 0 ? oneLine(text, start) : { size, end, areMany: true };
}

const oneLine = (text: string, start: number): Lines => ({
  size: 1,
  end: endOfLine(text, start),
  areMany: false,
});

/** Undefined if it fails, or gives more or fewer lines: which event was which could not be said. */
function mapOrFail({ map }: ManyLines, lines: string, size: number): string | undefined {
  try {
    const mapped = map(lines);
    let found = 1;
    for (let at = mapped.indexOf('\n'); at !== -1; at = mapped.indexOf('\n', at + 1)) found++;
    return found === size ? mapped : undefined;
  } catch {
    return undefined;
  }
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}
