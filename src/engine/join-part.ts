import { unescapeBytes } from '../../operators/internal.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { type LineEnvelope, LineEvents } from '../sdk/line-events.ts';
import type { LineJoining } from '../sdk/plugin.ts';
import type { Delivery } from './delivery.ts';

/** A line that may be joined with others, and where it came from. */
export interface Line {
  readonly line: string;
  /** The event of the line, or what it has in common with the other lines of its part. */
  readonly from: LineEnvelope | CollectedEvent;
  readonly delivery: Delivery;
  /** What it came in with other lines; undefined if it came as an event. */
  readonly part?: LinesPart;
  /** Where it starts in the text of its part. */
  readonly start: number;
  /** When it came, in milliseconds, if it had to wait. */
  since?: number;
}

/** Lines that leave one after the other, all single or all joined. */
interface Run {
  readonly isJoined: boolean;
  readonly lines: string[];
  /** How many of the lines that came are in it. */
  taken: number;
  /** Where it is in the text of the part. */
  readonly start: number;
  end: number;
}

/** A part with more alternations between single and joined lines is not kept in bytes. */
const MOST_RUNS = 8;

/**
 * Lines that came together: a batch, or a part of one. What becomes of them is noted in its order and leaves together, so
 * that single lines stay bytes if they came as bytes.
 */
export class LinesPart {
  readonly #events: LineEvents;
  readonly delivery: Delivery;
  readonly #joining: LineJoining;
  #runs: Run[] = [];

  constructor(events: LineEvents, delivery: Delivery, joining: LineJoining) {
    this.#events = events;
    this.delivery = delivery;
    this.#joining = joining;
  }

  /** The lines that may be joined. */
  *lines(): Generator<Line> {
    const { texts, envelope: from } = this.#events;
    // A line may end with half of a character, of which the next one has the other half.
    const text = this.#joining.joinsBytes === true ? (texts.escapedText ?? texts.text) : texts.text;
    let start = 0;
    for (const line of text?.split('\n') ?? texts.lines) {
      yield { line, from, delivery: this.delivery, part: this, start };
      start += line.length + 1;
    }
  }

  /** Lines leave as one, with this text, or a single line as it is. */
  add(lines: readonly Line[], text: string): void {
    const isJoined = lines.length > 1;
    const [{ start }, last] = [lines[0] as Line, lines.at(-1) as Line];
    const end = last.start + last.line.length + 1;
    const run = this.#runs.at(-1);
    if (run?.isJoined === isJoined && run.end === start) {
      run.lines.push(text);
      run.taken += lines.length;
      run.end = end;
    } else {
      this.#runs.push({ isJoined, lines: [text], taken: lines.length, start, end });
    }
  }

  /** What was added since the last call, and how many of the lines that came are in it. */
  *taken(): Generator<readonly [lines: LineEvents, taken: number]> {
    const runs = this.#runs;
    this.#runs = [];
    const { envelope, texts } = this.#events;
    if (runs.length > MOST_RUNS) {
      const lines = runs.flatMap((run) => run.lines);
      yield [linesOf(this.#joining, lines, envelope), runs.reduce((sum, run) => sum + run.taken, 0)];
      return;
    }
    for (const { isJoined, lines, taken, start, end } of runs) {
      const plain = isJoined ? undefined : texts.plain;
      if (!isJoined && taken === texts.size) yield [this.#events, taken];
      else if (plain === undefined) yield [linesOf(this.#joining, lines, envelope), taken];
      // An offset in a text of ASCII is one in its bytes.
      else yield [this.#events.with(plain.withPlain(plain.bytes.subarray(start, end), taken)), taken];
    }
  }
}

/** The text of lines that leave as one. */
export function joinedText({ join }: LineJoining, lines: readonly Line[]): string {
  if (lines.length === 1) return (lines[0] as Line).line;
  const texts = lines.map(({ line }) => line);
  return join === undefined ? texts.join('\n') : join(texts);
}

export function linesOf(joining: LineJoining, lines: readonly string[], envelope: LineEnvelope): LineEvents {
  return LineEvents.of(
    lines.map((line) => decoded(joining, line)),
    envelope,
  );
}

/** Only where lines were escaped: elsewhere, half of a character came as such, and stays. */
export function decoded({ joinsBytes }: LineJoining, line: string): string {
  return joinsBytes === true ? unescapeBytes(line) : line;
}
