import type { Subscriber } from 'rxjs';
import type { Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineEnvelope, LineEvents } from '../sdk/line-events.ts';
import type { LineJoining } from '../sdk/plugin.ts';
import { EventRows, type Rows } from '../sdk/rows.ts';
import type { Batch } from './batches.ts';
import { Delivery } from './delivery.ts';
import { decoded, joinedText, type Line, LinesPart, linesOf } from './join-part.ts';
import type { Observers, StagePlace } from './observer.ts';

interface JoinOutputOptions {
  readonly joining: LineJoining;
  readonly place: StagePlace;
  readonly observer: Observers;
  /** Takes an event that the processor failed on, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/** How many events of each delivery something is made of. They are acknowledged when it is. */
type Parts = readonly (readonly [delivery: Delivery, events: number])[];

/** Makes events of lines that leave, in their order. */
export class JoinOutput {
  readonly #options: JoinOutputOptions;
  readonly #subscriber: Subscriber<Batch>;
  readonly #onAcknowledged: () => void;
  /** What is being taken: its lines leave together, as far as no others come between. */
  #part: LinesPart | undefined;
  #open = 0;

  constructor(options: JoinOutputOptions, subscriber: Subscriber<Batch>, onAcknowledged: () => void) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#onAcknowledged = onAcknowledged;
  }

  /** Batches that have left and are not acknowledged. */
  get open(): number {
    return this.#open;
  }

  /** Passes each of the lines to `take`. */
  take(events: LineEvents, delivery: Delivery, take: (line: Line) => void): void {
    const part = new LinesPart(events, delivery, this.#options.joining);
    this.#part = part;
    for (const line of part.lines()) take(line);
    this.#leavePart();
    this.#part = undefined;
  }

  /** Lines leave as one event, or a single line as it is. */
  leave(lines: readonly Line[]): void {
    const { joining, observer, place } = this.#options;
    const { from } = lines[0] as Line;
    const isJoined = lines.length > 1;
    let text: string;
    let event: CollectedEvent | undefined;
    try {
      text = joinedText(joining, lines);
      if ('data' in from) event = isJoined ? joining.withLine(from, decoded(joining, text)) : from;
    } catch (error) {
      for (const line of lines) this.fail(line, error);
      return;
    }
    if (isJoined) observer.joined(place, lines.length - 1, event && { event, parts: eventsOf(lines) });
    const part = this.#part;
    if (part !== undefined && lines.every((line) => line.part === part)) part.add(lines, text);
    else if (event !== undefined) this.pass(new EventRows([event]), partsOf(lines));
    else this.pass(linesOf(joining, [text], from as LineEnvelope), partsOf(lines));
  }

  /** The processor failed on a line, of which an event is made for the dead letter. */
  fail({ line, from, delivery }: Line, error: unknown): void {
    const { joining, onFailure } = this.#options;
    const event = 'data' in from ? from : linesOf(joining, [line], from).events[0];
    onFailure(event as CollectedEvent, delivery, error);
  }

  /** These rows leave now, after all that left before. */
  pass(rows: Rows, parts: Parts): void {
    this.#leavePart();
    this.#emit(rows, parts);
  }

  #leavePart(): void {
    const part = this.#part;
    if (part === undefined) return;
    for (const [lines, taken] of part.taken()) this.#emit(lines, [[part.delivery, taken]]);
  }

  #emit(rows: Rows, parts: Parts): void {
    this.#open++;
    const acknowledged = (outcome: Outcome) => {
      this.#open--;
      for (const [delivery, events] of parts) delivery.acknowledge(events, outcome);
      this.#onAcknowledged();
    };
    const [[first]] = parts as readonly [Parts[number]];
    this.#subscriber.next({ rows, delivery: new Delivery(rows.size, acknowledged, first.root) });
  }
}

function eventsOf(lines: readonly Line[]): readonly CollectedEvent[] {
  return lines.flatMap(({ from }) => ('data' in from ? [from] : []));
}

/** Consecutive lines of one delivery are one part. */
function partsOf(lines: readonly Line[]): Parts {
  const parts: [Delivery, number][] = [];
  for (const { delivery } of lines) {
    const last = parts.at(-1);
    if (last?.[0] === delivery) last[1]++;
    else parts.push([delivery, 1]);
  }
  return parts;
}
