import type { CollectedEvent } from '../sdk/events.ts';
import type { LineJoining } from '../sdk/plugin.ts';
import type { Line } from './join-part.ts';

/** Takes what leaves the groups. */
interface GroupOutput {
  /** One event for all these lines. */
  leave(lines: readonly Line[]): void;
  /** The processor failed on a line. */
  fail(line: Line, error: unknown): void;
}

/** Lines that will leave as one event. */
interface Group {
  readonly lines: Line[];
  /** Lines that came after those, and belong to them only if a later line says so. */
  readonly pending: Line[];
  bytes: number;
  /** What the processor remembers of the last line. */
  state: unknown;
  /** When its time limit started to run, in milliseconds. */
  since: number;
}

/** Decides which lines belong together, as the processor says. Each source, or stream of one, has one open group at most. */
export class JoinGroups {
  readonly #joining: LineJoining;
  readonly #output: GroupOutput;
  readonly #now: () => number;
  /** By source and stream. */
  readonly #groups = new Map<string, Group>();

  constructor(joining: LineJoining, output: GroupOutput, now: () => number) {
    this.#joining = joining;
    this.#output = output;
    this.#now = now;
  }

  get size(): number {
    return this.#groups.size;
  }

  /** When the time limit of the first group to reach it started to run. */
  get earliest(): number {
    return Math.min(...Array.from(this.#groups.values(), ({ since }) => since));
  }

  /** Whether lines of a source, of any of its streams, are held. */
  holds(source: string): boolean {
    for (const { lines } of this.#groups.values()) {
      if (sourceOf((lines[0] as Line).from) === source) return true;
    }
    return false;
  }

  /** A line continues what is held of its source, begins something, or leaves alone. */
  add(line: Line): void {
    let stream: unknown;
    try {
      stream = this.#joining.streamOf?.(line.line);
    } catch (error) {
      this.#output.fail(line, error);
      return;
    }
    this.#add(keyOf(line.from, stream), line);
  }

  /** An event without a line ends what is held of its source. */
  endFor(event: CollectedEvent): void {
    const key = keyOf(event, undefined);
    while (this.#groups.has(key)) this.#complete(key);
  }

  #add(key: string, line: Line): void {
    try {
      // The lines that a group lets go may begin another one, to which this line may belong.
      for (let group = this.#groups.get(key); group !== undefined; group = this.#groups.get(key)) {
        if (this.#continue(key, group, line)) return;
      }
      if (this.#begin(key, line)) return;
    } catch (error) {
      this.#output.fail(line, error);
      return;
    }
    this.#output.leave([line]);
  }

  /** Whether a line belongs to a group. If not, that group is complete. */
  #continue(key: string, group: Group, line: Line): boolean {
    const bytes = group.bytes + Buffer.byteLength(line.line) + 1;
    const joining = this.#joining;
    let state: unknown;
    let isConfirmed: boolean;
    let isComplete = false;
    try {
      state = bytes > joining.maxBytes ? undefined : joining.next(group.state, line.line);
      if (state === undefined) {
        isConfirmed = group.pending.length > 0 && joining.keepsPending?.(group.state, line.line) === true;
      } else {
        isConfirmed = joining.isPending?.(state) !== true;
        isComplete = joining.isComplete?.(state) === true;
      }
    } catch (error) {
      // Without the line that the processor failed on.
      this.#complete(key);
      throw error;
    }
    if (state !== undefined) {
      group.pending.push(line);
      group.state = state;
      group.bytes = bytes;
    }
    if (isConfirmed) group.lines.push(...group.pending.splice(0));
    else line.since ??= this.#now();
    const isFull = group.lines.length + group.pending.length >= joining.maxLines;
    if (state === undefined || isComplete || isFull) this.#complete(key);
    return state !== undefined;
  }

  /** Whether a line is held, because others may follow that belong to it. */
  #begin(key: string, line: Line): boolean {
    const { maxLines } = this.#joining;
    const state = maxLines > 1 ? this.#joining.begin(line.line) : undefined;
    if (state === undefined) return false;
    const bytes = Buffer.byteLength(line.line);
    this.#groups.set(key, { lines: [line], pending: [], bytes, state, since: line.since ?? this.#now() });
    return true;
  }

  /** A group leaves. Lines that no later one has confirmed are looked at again, as if they came now. */
  #complete(key: string): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    this.#groups.delete(key);
    this.#output.leave(group.lines);
    for (const line of group.pending) this.#add(key, line);
  }

  completeAll(): void {
    while (this.#groups.size > 0) this.completeFirst();
  }

  /** The oldest group leaves: it holds back the acknowledgement of all that came after it. */
  completeFirst(): void {
    const [key] = this.#groups.keys();
    if (key !== undefined) this.#complete(key);
  }

  /** The groups leave whose time limit started to run at `time` or before. */
  completeSince(time: number): void {
    for (const [key, { since }] of [...this.#groups]) if (since <= time) this.#complete(key);
  }

  /** The same groups stay: their time limit starts again. */
  renewSince(time: number): void {
    for (const group of this.#groups.values()) if (group.since <= time) group.since = this.#now();
  }
}

/** Lines are joined only with others of the same source: a file, or the tag of an event of the host. */
function sourceOf(from: Line['from']): string {
  if (!('data' in from)) return from.source;
  const { source } = from.data;
  const { tag } = from as { tag?: unknown };
  return typeof source === 'string' ? source : typeof tag === 'string' ? tag : '';
}

function keyOf(from: Line['from'], streamOfLine: unknown): string {
  const { stream: streamOfEvent } = ('data' in from ? from.data : from.fields) ?? {};
  const stream = streamOfLine ?? streamOfEvent;
  return typeof stream === 'string' ? `${sourceOf(from)}\0${stream}` : sourceOf(from);
}
