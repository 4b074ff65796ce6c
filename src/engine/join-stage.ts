import { Observable, type OperatorFunction, pipe, type Subscriber, type Subscription } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { Fifo, steadyClock, subscribeFor, unescapeBytes } from '../../operators/internal.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { type LineEnvelope, LineEvents } from '../sdk/line-events.ts';
import type { LineJoining } from '../sdk/plugin.ts';
import { type Batch, batchOf } from './batches.ts';
import { Delivery } from './delivery.ts';
import { type Observers, type StagePlace, tellLeft } from './observer.ts';

export interface JoinStageOptions {
  readonly joining: LineJoining;
  /** Whether as many events are in flight as may be: then no more come until some are acknowledged. */
  readonly isWindowFull: () => boolean;
  readonly place: StagePlace;
  readonly observer: Observers;
  /** Takes an event that the processor failed on, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/** Events that a joined one is made of, and that are acknowledged when it is. */
type Parts = readonly (readonly [delivery: Delivery, events: number])[];

/** A line, and where it came from. */
interface Line {
  readonly line: string;
  /** The event of the line, or what it has in common with the other lines of its batch. */
  readonly from: LineEnvelope | CollectedEvent;
  readonly delivery: Delivery;
  /** The part of a batch that it came in; undefined if it came as an event. */
  readonly runs: Runs | undefined;
  /** When it came, in milliseconds, if it had to wait. */
  since?: number;
}

/** Lines that will leave as one event. */
interface Group {
  /** What the event has in common with the first line. */
  readonly first: LineEnvelope | CollectedEvent;
  readonly lines: string[];
  /** Where each of the lines came from. */
  readonly origins: Line['from'][];
  /** Lines that came after those, and belong to them only if a later line says so. */
  readonly pending: Line[];
  bytes: number;
  state: unknown;
  /** When its time limit started to run, in milliseconds. */
  since: number;
  readonly parts: [Delivery, number][];
  /** The part of a batch that its last lines came in, and how many of them did; undefined if they came as events. */
  runs: Runs | undefined;
  linesOfRuns: number;
}

/** A batch with more alternations between single and joined lines is not kept in bytes. */
const MOST_RUNS = 8;

/**
 * Joins consecutive lines of one source into one event, as the processor says. Lines of other sources, and of other
 * streams of this one, may lie between them. An event leaves when it is complete, when a line does not belong to it, when
 * it reaches a limit, or when the source has completed, and its lines are acknowledged when it is.
 *
 * The time limit does not run while the window is full of events that have passed this stage: the next line may wait for
 * room. If the window is full and none has passed, the oldest lines that wait here leave, because they hold back the
 * acknowledgement of all others.
 */
export function joinStage(options: JoinStageOptions): OperatorFunction<Batch, Batch> {
  const { place, observer, joining } = options;
  observer.holds(place, joining.seconds);
  return pipe(
    (source) => new Observable<Batch>((subscriber) => new Joiner(options, subscriber).start(source)),
    tellLeft(place, observer),
  );
}

class Joiner {
  readonly #options: JoinStageOptions;
  readonly #subscriber: Subscriber<Batch>;
  /** By source and stream. */
  readonly #groups = new Map<string, Group>();
  readonly #waiting = new Fifo<Batch>();
  readonly #now = steadyClock();
  #isWorking = false;
  #hasEnded = false;
  /** Batches that have left and are not acknowledged yet. */
  #leftBatches = 0;
  #timer: Subscription | undefined;

  constructor(options: JoinStageOptions, subscriber: Subscriber<Batch>) {
    this.#options = options;
    this.#subscriber = subscriber;
  }

  start(source: Observable<Batch>): void {
    subscribeFor(this.#subscriber, source, {
      next: (batch) => {
        this.#waiting.push(batch);
        this.#work();
      },
      error: (error) => this.#subscriber.error(error),
      complete: () => {
        this.#hasEnded = true;
        this.#work();
      },
    });
  }

  /** A loop: what leaves may be acknowledged during that, and let further batches come. They have to wait their turn. */
  #work(): void {
    if (this.#isWorking) return;
    this.#failing(() => {
      while (this.#waiting.size > 0) this.#take(this.#waiting.shift() as Batch);
      if (this.#hasEnded) this.#completeAll();
    });
    if (this.#waiting.size > 0) this.#work();
    else if (this.#hasEnded) this.#subscriber.complete();
    else this.#completeIfStuck();
    this.#setTimer();
  }

  /** An error of the processor fails the run, and nothing is done after it: lines that are held would never leave. */
  #failing(work: () => void): void {
    this.#isWorking = true;
    try {
      work();
      this.#isWorking = false;
    } catch (error) {
      this.#subscriber.error(error);
    }
  }

  #take({ rows, delivery }: Batch): void {
    const { observer, place, joining } = this.#options;
    observer.received(place, rows.size);
    const { lines } = rows;
    if (lines !== undefined && !lines.envelope.isTruncated && joining.readsLines)
      this.#takeLines(lines, delivery);
    else for (const event of rows.events) this.#takeEvent(event, delivery);
  }

  #takeEvent(event: CollectedEvent, delivery: Delivery): void {
    const { joining } = this.#options;
    const source = sourceOf(event);
    const isWhole = (event as { truncated?: unknown }).truncated !== true;
    const line = isWhole ? joining.lineOf(event) : undefined;
    const streamOfLine = line === undefined ? undefined : joining.streamOf?.(line);
    const key = keyOf(source, streamOfLine ?? event.data.stream);
    if (line === undefined) {
      while (this.#groups.has(key)) this.#complete(key);
      this.#emit([event], [[delivery, 1]]);
      return;
    }
    this.#place(key, { line, from: event, delivery, runs: undefined });
  }

  /** Takes lines. Single lines do not change, and stay bytes if they are bytes. */
  #takeLines(events: LineEvents, delivery: Delivery): void {
    const { source } = events.envelope;
    const { text } = events.texts;
    const { mayBegin, joinsBytes } = this.#options.joining;
    if (!this.#hasGroupOf(source) && text !== undefined && mayBegin?.(text) === false) {
      this.#emitLines(events, [[delivery, events.size]]);
      return;
    }
    const runs = new Runs(events, delivery, this.#options.joining);
    const lines = joinsBytes === true ? (events.texts.escapedText ?? text) : text;
    for (const line of lines?.split('\n') ?? events.texts.lines) {
      this.#place(undefined, { line, from: events.envelope, delivery, runs }, runs);
    }
    this.#emitRuns(runs);
  }

  #hasGroupOf(source: string): boolean {
    for (const { first } of this.#groups.values()) {
      if (('data' in first ? sourceOf(first) : first.source) === source) return true;
    }
    return false;
  }

  /**
   * Puts a line where it belongs: into the open group of its source and stream, into one that it begins, or out as it is.
   * `runs`: the lines of the batch that is being taken, if it has lines.
   */
  #place(key: string | undefined, entry: Line, runs?: Runs): void {
    try {
      const ofStream =
        key ?? keyOf((entry.from as LineEnvelope).source, this.#options.joining.streamOf?.(entry.line));
      // The lines that a group lets go may begin another one, to which this line may belong.
      for (let group = this.#groups.get(ofStream); group; group = this.#groups.get(ofStream)) {
        if (this.#continue(ofStream, group, entry, runs)) return;
      }
      if (!this.#begin(ofStream, entry)) this.#emitAlone(entry, runs);
    } catch (error) {
      if (entry.runs === runs) runs?.skip(entry.line);
      this.#options.onFailure(eventOf(this.#options.joining, entry), entry.delivery, error);
    }
  }

  /** Whether a line belongs to a group. If not, that group is complete. */
  #continue(key: string, group: Group, entry: Line, runs?: Runs): boolean {
    const { joining } = this.#options;
    const { line } = entry;
    const bytes = Buffer.byteLength(line) + 1;
    let state: unknown;
    try {
      state = group.bytes + bytes > joining.maxBytes ? undefined : joining.next(group.state, line);
    } finally {
      if (state === undefined) this.#complete(key, runs, line);
    }
    if (state === undefined) return false;
    group.state = state;
    group.bytes += bytes;
    group.pending.push(entry);
    if (joining.isPending?.(state)) entry.since ??= this.#now();
    else keepPending(group);
    const lines = group.lines.length + group.pending.length;
    if (lines >= joining.maxLines || joining.isComplete?.(state)) this.#complete(key, runs);
    return true;
  }

  /** Whether a line is held, because others may follow that belong to it. */
  #begin(key: string, { line, from, delivery, runs, since = this.#now() }: Line): boolean {
    const { joining } = this.#options;
    const state = joining.maxLines > 1 ? joining.begin(line) : undefined;
    if (state === undefined) return false;
    const bytes = Buffer.byteLength(line);
    const parts: Group['parts'] = [[delivery, 1]];
    this.#groups.set(key, {
      first: from,
      lines: [line],
      origins: [from],
      pending: [],
      bytes,
      state,
      since,
      parts,
      runs,
      linesOfRuns: 1,
    });
    return true;
  }

  /** `next`: the line that came after it and does not belong to it. */
  #complete(key: string, runs?: Runs, next?: string): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    this.#groups.delete(key);
    if (
      next !== undefined &&
      group.pending.length > 0 &&
      this.#options.joining.keepsPending?.(group.state, next)
    )
      keepPending(group);
    this.#emitGroup(group, runs);
    for (const entry of group.pending) this.#place(key, entry, runs);
  }

  #emitGroup(group: Group, runs?: Runs): void {
    const { first, lines, parts } = group;
    const { joining, observer, place } = this.#options;
    const joined = lines.length - 1;
    // A processor that yields in turns emits a batch in several parts, so the delivery does not say where lines came from.
    const linesOfRuns = runs !== undefined && group.runs === runs ? group.linesOfRuns : 0;
    if (runs !== undefined && linesOfRuns === lines.length) {
      observer.joined(place, joined);
      if (lines.length === 1) runs.addSingle(lines[0] as string);
      else runs.addJoined(lines);
      return;
    }
    this.#emitRuns(runs);
    runs?.skip(...lines.slice(lines.length - linesOfRuns));
    const line = joinedBy(joining, lines);
    if ('data' in first) {
      const event = joined === 0 ? first : joining.withLine(first, decoded(joining, line));
      observer.joined(place, joined, { event, parts: group.origins.filter((origin) => 'data' in origin) });
      this.#emit([event], parts);
    } else {
      observer.joined(place, joined);
      this.#emitLines(linesOf(joining, [line], first), parts);
    }
  }

  #emitAlone({ line, from, delivery, runs: ofLine }: Line, runs?: Runs): void {
    if (ofLine !== undefined && ofLine === runs) {
      runs.addSingle(line);
      return;
    }
    this.#emitRuns(runs);
    if ('data' in from) this.#emit([from], [[delivery, 1]]);
    else this.#emitLines(linesOf(this.#options.joining, [line], from), [[delivery, 1]]);
  }

  /** What came of this batch before has to leave before what comes now. */
  #emitRuns(runs: Runs | undefined): void {
    for (const [part, parts] of runs?.taken() ?? []) this.#emitLines(part, parts);
  }

  #completeAll(): void {
    while (this.#groups.size > 0) this.#complete(this.#groups.keys().next().value as string);
  }

  #emit(events: readonly CollectedEvent[], parts: Parts): void {
    this.#subscriber.next(batchOf(events, this.#deliveryOf(events.length, parts)));
  }

  #emitLines(lines: LineEvents, parts: Parts): void {
    this.#subscriber.next({ rows: lines, delivery: this.#deliveryOf(lines.size, parts) });
  }

  #deliveryOf(size: number, parts: Parts): Delivery {
    this.#leftBatches++;
    const [first] = parts as readonly [Parts[number]];
    const acknowledged = (outcome: Parameters<Delivery['acknowledge']>[1]) => {
      this.#leftBatches--;
      for (const [delivery, events] of parts) delivery.acknowledge(events, outcome);
      this.#completeIfStuck();
    };
    return new Delivery(size, acknowledged, first[0].root);
  }

  /** Whether nothing will come before some of what is held here has left. */
  get #isStuck(): boolean {
    return this.#leftBatches === 0 && this.#groups.size > 0 && this.#options.isWindowFull();
  }

  #completeIfStuck(): void {
    if (this.#isWorking || !this.#isStuck) return;
    // The oldest holds back the acknowledgement of all that came after it.
    this.#failing(() => this.#complete(this.#groups.keys().next().value as string));
    this.#work();
  }

  /** One timer, for the group that is the first to reach its time. */
  #setTimer(): void {
    if (this.#timer !== undefined || this.#groups.size === 0) return;
    const { seconds } = this.#options.joining;
    const oldest = Math.min(...Array.from(this.#groups.values(), ({ since }) => since));
    const wait = Math.max(0, oldest + seconds * 1000 - this.#now());
    this.#timer = longTimer(wait).subscribe(() => {
      this.#timer = undefined;
      // A timer can fire early by a rounding error, and would then be set again and again.
      this.#completeOld(Math.max(oldest, this.#now() - seconds * 1000));
      this.#work();
    });
    this.#subscriber.add(this.#timer);
  }

  #completeOld(until: number): void {
    const now = this.#now();
    const isWaitingForRoom = this.#options.isWindowFull() && this.#leftBatches > 0;
    this.#failing(() => {
      for (const [key, group] of [...this.#groups]) {
        if (group.since > until) continue;
        if (isWaitingForRoom) group.since = now;
        else this.#complete(key);
      }
    });
  }
}

/** What becomes of the lines of one batch, or of one part of it, in their order: runs of lines as they are, and joined lines. */
class Runs {
  readonly #events: LineEvents;
  readonly #delivery: Delivery;
  readonly #joining: LineJoining;
  #runs: {
    readonly isJoined: boolean;
    readonly lines: string[];
    taken: number;
    start: number;
    end: number;
  }[] = [];
  /** Where the next line starts in the bytes of the batch, if it has plain bytes. */
  #offset = 0;

  constructor(events: LineEvents, delivery: Delivery, joining: LineJoining) {
    this.#events = events;
    this.#delivery = delivery;
    this.#joining = joining;
  }

  addSingle(line: string): void {
    this.#add(false, [line], line);
  }

  addJoined(lines: readonly string[]): void {
    this.#add(true, lines, joinedBy(this.#joining, lines));
  }

  /** These lines do not leave with the others of the batch. */
  skip(...lines: readonly string[]): void {
    for (const line of lines) this.#offset += line.length + 1;
  }

  #add(isJoined: boolean, lines: readonly string[], line: string): void {
    const start = this.#offset;
    this.skip(...lines);
    const last = this.#runs.at(-1);
    if (last !== undefined && last.isJoined === isJoined && last.end === start) {
      last.lines.push(line);
      last.taken += lines.length;
      last.end = this.#offset;
    } else {
      this.#runs.push({ isJoined, lines: [line], taken: lines.length, start, end: this.#offset });
    }
  }

  /** What has been added since the last call, and how many lines of the batch are in it. */
  *taken(): Generator<readonly [LineEvents, Parts]> {
    const runs = this.#runs;
    this.#runs = [];
    const { envelope, texts } = this.#events;
    if (runs.length > MOST_RUNS) {
      const lines = runs.flatMap((run) => run.lines);
      const taken = runs.reduce((sum, run) => sum + run.taken, 0);
      yield [linesOf(this.#joining, lines, envelope), [[this.#delivery, taken]]];
      return;
    }
    for (const { isJoined, lines, taken, start, end } of runs) {
      const parts: Parts = [[this.#delivery, taken]];
      const { plain } = texts;
      if (!isJoined && taken === texts.size) yield [this.#events, parts];
      // Lines of several streams do not leave in the order of the bytes.
      else if (isJoined || plain === undefined || this.#joining.streamOf !== undefined)
        yield [linesOf(this.#joining, lines, envelope), parts];
      else yield [this.#events.with(plain.withPlain(plain.bytes.subarray(start, end), taken)), parts];
    }
  }
}

/** The lines that waited for a later one belong to the group. */
function keepPending(group: Group): void {
  for (const { line, from, delivery, runs } of group.pending.splice(0)) {
    group.lines.push(line);
    group.origins.push(from);
    const last = group.parts.at(-1) as [Delivery, number];
    if (last[0] === delivery) last[1]++;
    else group.parts.push([delivery, 1]);
    if (group.runs !== runs) {
      group.runs = runs;
      group.linesOfRuns = 0;
    }
    group.linesOfRuns++;
  }
}

const eventOf = (joining: LineJoining, { line, from }: Line) =>
  'data' in from ? from : (linesOf(joining, [line], from).events[0] as CollectedEvent);

const linesOf = (joining: LineJoining, lines: readonly string[], envelope: LineEnvelope) =>
  LineEvents.of(
    lines.map((line) => decoded(joining, line)),
    envelope,
  );

/** Only where lines were escaped: elsewhere, half of a character came as such, and stays. */
const decoded = ({ joinsBytes }: LineJoining, line: string) =>
  joinsBytes === true ? unescapeBytes(line) : line;

function joinedBy({ join }: LineJoining, lines: readonly string[]): string {
  return join === undefined ? lines.join('\n') : join(lines);
}

const keyOf = (source: string, stream: unknown) =>
  typeof stream === 'string' ? `${source}\0${stream}` : source;

/** Lines are joined only with others of the same source: a file, or the tag of an event of the host. */
function sourceOf(event: CollectedEvent): string {
  const { source } = event.data;
  const { tag } = event as { tag?: unknown };
  return typeof source === 'string' ? source : typeof tag === 'string' ? tag : '';
}
