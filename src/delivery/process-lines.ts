import { JoinedLines } from '../../operators/file-lines/joined-lines.ts';
import type { LineMapping, ManyLines } from '../models/index.ts';
import { type LineEvents, type LineTexts, textsOf } from '../models/line-events.ts';
import type { Turn } from './turns.ts';

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
    const { many } = this.#mapping;
    const { text } = this.#lines.texts;
    const isJoined = many !== undefined && text !== undefined;
    const done = isJoined ? this.#runMany(text, many, turn) : this.#runEach(turn);
    const dropped = this.#dropped;
    if (dropped.length > 0) {
      this.#dropped = [];
      this.#outcomes.dropped(dropped);
    }
    return this.#lines.with(done);
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
    const index = this.#index++;
    try {
      const mapped = this.#mapping.map(line);
      if (mapped === undefined) {
        this.#dropped.push(index);
        return 'dropped';
      }
      done.push(mapped);
      return 'mapped';
    } catch (error) {
      this.#outcomes.failed(index, error);
      return 'failed';
    }
  }
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
