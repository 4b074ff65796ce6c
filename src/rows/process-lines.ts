import { countLines } from '../../operators/internal.ts';
import {
  JoinedLines,
  type LineEvents,
  type LineTexts,
  type PlainLines,
  textsOf,
} from '../sdk/line-events.ts';
import type { LineMapping, LinesTest, ManyLines } from '../sdk/plugin.ts';
import { kindOf, wrongReturn } from '../sdk/plugin-returns.ts';

/** Told of the lines that do not come out, by their index. */
export interface LineOutcomes {
  failed(index: number, error: unknown): void;
  /** Called at most once per run, with at least one line. `indexes` says which, and is called at once or not at all. */
  dropped(count: number, indexes: () => readonly number[]): void;
}

const LINE_MAPPING =
  'an object `{ map }` whose `map` takes a line and returns a string, or undefined to drop its event; or undefined to leave ' +
  'the lines to `process`';

/** @throws MillraceError `MILLRACE_PLUGIN_RETURN` for what `mapLines` must not return. `who` is `processor mask`, say. */
export function expectLineMapping(value: unknown, who: string): LineMapping | undefined {
  if (value === undefined) return undefined;
  const problem = lineMappingProblem(value);
  if (problem !== undefined) throw wrongReturn(who, `mapLines returned ${problem}`, LINE_MAPPING);
  return value as LineMapping;
}

/** Says in words what keeps a value from being a {@link LineMapping}; undefined if nothing does. */
function lineMappingProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return kindOf(value);
  const { map, many, keeps, keepsIn } = value as Partial<LineMapping>;
  if (typeof map !== 'function')
    return map === undefined ? `${kindOf(value)} without \`map\`` : wrong('map', map);
  if (keeps !== undefined && typeof keeps !== 'function') return wrong('keeps', keeps);
  if (keepsIn !== undefined && typeof keepsIn !== 'function') return wrong('keepsIn', keepsIn);
  if (many === undefined) return undefined;
  if (typeof many !== 'object' || many === null) return wrong('many', many);
  if (typeof many.map !== 'function') return wrong('many.map', many.map);
  if (many.mapBytes !== undefined && typeof many.mapBytes !== 'function')
    return wrong('many.mapBytes', many.mapBytes);
  if (!(many.maxLength > 0)) return wrong('many.maxLength', many.maxLength);
  return many.maxLineLength >= 0 ? undefined : wrong('many.maxLineLength', many.maxLineLength);
}

const wrong = (name: string, value: unknown) => `\`${name}\` as ${kindOf(value)}`;

/** Runs a processor over lines without creating events for them. */
export function processLines(lines: LineEvents, mapping: LineMapping, outcomes: LineOutcomes): LineEvents {
  return new LineProcessing(lines, mapping, outcomes).run();
}

/** Work in one turn of the event loop. */
export interface Turn {
  /**
   * Whether the turn is used up, after work on a text of so many characters; infinite if it may have taken long. What
   * takes long grows with the square of the length, at least.
   */
  isSpent(characters: number): boolean;
}

/** {@link processLines} in as many turns as it takes. */
export class LineProcessing {
  readonly #lines: LineEvents;
  readonly #mapping: LineMapping;
  readonly #outcomes: LineOutcomes;
  readonly #who: string;
  /** Lines that this run has dropped. */
  #dropped: number[] = [];
  /** Lines that are done. */
  #index = 0;
  /** Where the next one starts in the text of all; only where that is used. */
  #offset = 0;
  /** Up to here lines are mapped one by one: `many` has failed on them. */
  #singleUntil = 0;

  /** `who` has the mapping, for errors: `processor mask`. */
  constructor(lines: LineEvents, mapping: LineMapping, outcomes: LineOutcomes, who = 'a processor') {
    this.#who = who;
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
      this.#outcomes.dropped(dropped.length, () => dropped);
    }
    return this.#lines.with(done);
  }

  #runNext(turn: Turn | undefined): LineTexts {
    const { many, keeps, keepsIn } = this.#mapping;
    const asBytes = keeps === undefined ? undefined : this.#lines.texts.plain;
    if (keeps !== undefined && asBytes !== undefined) {
      const inText = (text: string) => (start: number) => {
        const end = endOfLine(text, start);
        return keeps(text.slice(start, end)) ? end + 1 : start;
      };
      return this.#runKept(asBytes, keepsIn ?? inText, turn);
    }
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
      let length = -1;
      try {
        length = mapBytes?.(bytes.subarray(at, end), into.subarray(written, -1)) ?? -1;
      } catch {
        this.#singleUntil = end + 1;
      }
      if (length === -1) break;
      if (!(length >= 0 && written + length < into.length))
        throw this.#violated(
          `\`mapBytes\` of mapLines returned ${typeof length === 'number' ? length : kindOf(length)}`,
          BYTES,
        );
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
  #runKept(plain: PlainLines, keepsIn: LinesTest, turn: Turn | undefined): LineTexts {
    const bytes = Buffer.from(plain.bytes.buffer, plain.bytes.byteOffset, plain.bytes.length);
    const first = this.#offset;
    const firstIndex = this.#index;
    /** Where lines start that do not come out. */
    const dropped: number[] = [];
    const failed: [offset: number, error: unknown][] = [];
    const kept = new KeptBytes(plain, first);
    const texts = new TextReader(bytes, first, keepsIn);
    for (let isSpent = false; !isSpent && this.#offset < bytes.length; ) {
      const offset = this.#offset;
      texts.readAt(offset);
      let until = offset;
      let weight: number | undefined;
      try {
        until = texts.keptUntil(offset);
        if (until === offset) dropped.push(offset);
      } catch (error) {
        failed.push([offset, error]);
        weight = Number.POSITIVE_INFINITY;
      }
      const isStart = until === offset || (until > offset && bytes[until - 1] === LF);
      if (!isStart) throw this.#violated('`keepsIn` of mapLines returned no start of a line', LINE_STARTS);
      if (until === offset) {
        until = texts.nextLine(offset);
        kept.leaveOut(offset, until);
      }
      this.#offset = until;
      isSpent = turn?.isSpent(weight ?? until - offset) ?? false;
    }
    const isAll = first === 0 && this.#offset === bytes.length;
    const done = isAll ? this.#lines.size : countLines(bytes.subarray(first, this.#offset));
    this.#index += done;
    const failures = indexesIn(bytes, first, firstIndex);
    for (const [offset, error] of failed) this.#outcomes.failed(failures(offset), error);
    if (dropped.length > 0) {
      this.#outcomes.dropped(dropped.length, () => dropped.map(indexesIn(bytes, first, firstIndex)));
    }
    const size = done - dropped.length - failed.length;
    return plain.withPlain(kept.upTo(this.#offset), size, plain.longest);
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
      this.#singleUntil = end + 1;
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

  #violated(did: string, expected: string): Error {
    return wrongReturn(this.#who, did, expected);
  }

  #mapOne(line: string, done: string[]): 'mapped' | 'dropped' | 'failed' {
    const index = this.#index++;
    let mapped: unknown;
    try {
      mapped = this.#mapping.map(line);
    } catch (error) {
      this.#outcomes.failed(index, error);
      return 'failed';
    }
    if (typeof mapped === 'string') {
      done.push(mapped);
      return 'mapped';
    }
    if (mapped !== undefined) throw this.#violated(`\`map\` of mapLines returned ${kindOf(mapped)}`, LINE);
    this.#dropped.push(index);
    return 'dropped';
  }
}

const LINE = 'a string, or undefined to drop the event';
const BYTES = 'the number of bytes that were written, or -1 to leave the lines to `map`';
const LINE_STARTS = '`start`, or where a later line starts, or the end of the text or more';
const LF = 0x0a;
/** For what masks add to few lines. */
const SPARE_BYTES = 4096;
/** Bytes that are decoded and searched together. They stay in the processor's cache, so this takes half the time. */
const TEXT_BYTES = 32 * 1024;

/** The bytes of lines without those that are left out. They are copied only if there are such lines. */
class KeptBytes {
  readonly #plain: PlainLines;
  readonly #first: number;
  #into: Uint8Array = NO_BYTES;
  #written = 0;
  /** Where the lines start that are kept and not written yet. */
  #start: number;

  constructor(plain: PlainLines, first: number) {
    this.#plain = plain;
    this.#first = first;
    this.#start = first;
  }

  leaveOut(from: number, to: number): void {
    this.#write(from);
    this.#start = to;
  }

  upTo(end: number): Uint8Array {
    if (this.#start === this.#first) return this.#plain.bytes.subarray(this.#first, end);
    this.#write(end);
    return this.#into.subarray(0, this.#written);
  }

  #write(end: number): void {
    const { bytes } = this.#plain;
    if (end === this.#start) return;
    if (this.#written === 0) this.#into = this.#plain.room(bytes.length - this.#first);
    this.#into.set(bytes.subarray(this.#start, end), this.#written);
    this.#written += end - this.#start;
  }
}

/** Decodes lines, {@link TEXT_BYTES} at a time, and tests them in their order. */
class TextReader {
  readonly #bytes: Buffer;
  readonly #keepsIn: LinesTest;
  #text = '';
  /** Where the text is in the bytes. */
  #start: number;
  #keptUntil: (start: number) => number = () => 0;

  constructor(bytes: Buffer, start: number, keepsIn: LinesTest) {
    this.#bytes = bytes;
    this.#start = start;
    this.#keepsIn = keepsIn;
  }

  /** To be called before the line at `offset` is asked for. */
  readAt(offset: number): void {
    if (offset < this.#start + this.#text.length) return;
    this.#start = offset;
    this.#text = this.#bytes.toString('latin1', offset, endOfText(this.#bytes, offset));
    this.#keptUntil = this.#keepsIn(this.#text);
  }

  /** Where the lines from `offset` on end that are kept: at `offset` if the first one is not. Throws if the test does. */
  keptUntil(offset: number): number {
    return this.#start + Math.min(this.#keptUntil(offset - this.#start), this.#text.length);
  }

  /** Where the line after the one at `offset` starts. */
  nextLine(offset: number): number {
    return this.#start + endOfLine(this.#text, offset - this.#start) + 1;
  }
}

/** Where the next lines end that are decoded together: at least one, with its LF. */
function endOfText(bytes: Buffer, start: number): number {
  if (bytes.length - start <= TEXT_BYTES) return bytes.length;
  const last = bytes.lastIndexOf(LF, start + TEXT_BYTES);
  return (last < start ? bytes.indexOf(LF, start) : last) + 1;
}

const NO_BYTES = new Uint8Array();

/** Finds the indexes of lines by where they start, in their order. At `offset` the line `index` starts. */
function indexesIn(bytes: Buffer, offset: number, index: number): (start: number) => number {
  return (start) => {
    index += countLines(bytes.subarray(offset, start));
    offset = start;
    return index;
  };
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

/** The next lines that may be mapped together, or one line that is too long for it. */
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
