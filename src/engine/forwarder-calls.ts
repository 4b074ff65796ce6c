import { createHash } from 'node:crypto';
import { BlockLease, BlockMemory } from '../../operators/internal-files.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { EventIds, PartlyFailedCall } from '../sdk/forward-call.ts';
import type { Batch, Batches } from './batches.ts';
import type { Clock } from './clock.ts';
import { type CallEnded, type CallPart, type Observers, type StagePlace, TravelForms } from './observer.ts';

/** The entry functions of a forwarder, bound to its context. `id` names the events of the call: see `CallId`. */
export interface ForwarderFunctions {
  readonly forward: (
    event: CollectedEvent,
    id: string,
    restOf?: PartlyFailedCall,
    eventIds?: EventIds,
  ) => unknown;
  readonly forwardBatch:
    | ((
        events: readonly CollectedEvent[],
        id: string,
        restOf?: PartlyFailedCall,
        eventIds?: EventIds,
      ) => unknown)
    | undefined;
  /** Takes events as JSON, in place of `forwardBatch`. */
  readonly forwardJsonLines:
    | ((documents: Buffer, id: string, restOf?: PartlyFailedCall, eventIds?: EventIds) => unknown)
    | undefined;
}

/** Room for the documents of most calls; others get memory of their own. */
const DOCUMENT_BYTES = 1536 * 1024;
/** Fewer events get memory of their own, so that a thousand pipelines with a line now and then do not hold a block each. */
const FEWEST_IN_BLOCK = 64;
const NO_MEMORY = Buffer.alloc(0);

/** The calls of one forwarder: each gets its events in the form that costs least, and observers are told of it. */
export class ForwarderCalls {
  readonly functions: ForwarderFunctions;
  readonly memory = new BlockMemory();
  readonly forms: TravelForms;
  readonly #place: StagePlace;
  readonly #observer: Observers;
  readonly #clock: Clock;
  /** Of the name of the forwarder, in the form that a name of an event has. */
  readonly #nameHash: string;

  constructor(functions: ForwarderFunctions, place: StagePlace, observer: Observers, clock: Clock) {
    this.functions = functions;
    this.forms = new TravelForms(place, observer);
    this.#place = place;
    this.#observer = observer;
    this.#clock = clock;
    this.#nameHash = createHash('sha256').update(place.name).digest('hex').slice(0, 8);
  }

  get now(): number {
    return this.#clock.read();
  }

  /** Whether one call can take several events. */
  get takesBatches(): boolean {
    return this.functions.forwardBatch !== undefined || this.functions.forwardJsonLines !== undefined;
  }

  /** Whether these are sent as a single event. Otherwise the event of a line, which can be long, is not created. */
  isSingle({ size, prefersJson }: Batches): boolean {
    return size === 1 && !(prefersJson && this.functions.forwardJsonLines !== undefined);
  }

  /**
   * The names of events at this forwarder, if they come from a buffer on disk. Another one may write the same events to the
   * same place in another form, and the sink has to store both.
   */
  eventIdsOf({ eventIds }: Batches): EventIds | undefined {
    return eventIds && ((position) => `${eventIds(position)}-${this.#nameHash}`);
  }

  /** A call starts now, which observers are told. {@link ForwarderCall.make} makes it. */
  start(batches: Batches, id: string, restOf?: PartlyFailedCall): ForwarderCall {
    return new ForwarderCall(this, batches, { id, restOf, onEnded: this.#tell(1, batches, this.now) });
  }

  /** Tells of `count` calls with one event each that have succeeded: together, because reading the clock takes as long. */
  tellSucceeded(count: number, batches: Batches, startedAt: number): void {
    if (count === 0) return;
    this.forms.tell('events');
    this.#tell(count, batches, startedAt, count)();
  }

  #tell(count: number, { list, size }: Batches, startedAt: number, events = size): CallEnded {
    return this.#observer.called(this.#place, {
      count,
      events,
      startedAt,
      parts: () => partsOf(list, events),
    });
  }
}

interface CallOptions {
  readonly id: string;
  readonly restOf: PartlyFailedCall | undefined;
  readonly onEnded: CallEnded;
}

/** One call of a forwarder. */
export class ForwarderCall {
  readonly #of: ForwarderCalls;
  readonly #batches: Batches;
  readonly #options: CallOptions;
  #lease: BlockLease | undefined;

  constructor(of: ForwarderCalls, batches: Batches, options: CallOptions) {
    this.#of = of;
    this.#batches = batches;
    this.#options = options;
  }

  /** Returns what the plugin returns. */
  make(): unknown {
    const { forward, forwardBatch, forwardJsonLines } = this.#of.functions;
    const { id, restOf } = this.#options;
    const batches = this.#batches;
    const isSingle = this.#of.isSingle(batches);
    const { forms } = this.#of;
    const eventIds = this.#of.eventIdsOf(batches);
    if (isSingle) {
      forms.tell('events');
      return forward(batches.events[0] as CollectedEvent, id, restOf, eventIds);
    }
    forms.tell(forwardJsonLines === undefined ? 'batch' : 'bytes');
    // Without both, every call has one event.
    if (forwardJsonLines === undefined)
      return (forwardBatch as NonNullable<typeof forwardBatch>)(batches.events, id, restOf, eventIds);
    const isSmall = batches.size < FEWEST_IN_BLOCK;
    const documents = isSmall ? batches.toJsonLines(NO_MEMORY) : this.#toJsonLines();
    return forwardJsonLines(documents, id, restOf, eventIds);
  }

  /** In memory that is given back when the call has succeeded, or if its events have no JSON form: then it got none. */
  #toJsonLines(): Buffer {
    const lease = new BlockLease(this.#of.memory);
    try {
      const documents = this.#batches.toJsonLines(lease.take(DOCUMENT_BYTES));
      this.#lease = lease;
      return documents;
    } catch (error) {
      lease.giveBack();
      throw error;
    }
  }

  succeeded(): void {
    this.#options.onEnded();
    this.#lease?.giveBack();
  }

  /** Its memory is never used again: a call that took too long may go on. */
  failed(cause: unknown): void {
    this.#options.onEnded({ cause });
  }
}

/** The batches of the first `count` events. */
function partsOf(list: readonly Batch[], count: number): CallPart[] {
  let left = count;
  return list.flatMap(({ rows, delivery: { root } }) => {
    const size = Math.min(left, rows.size);
    left -= size;
    return size === 0 ? [] : [{ root, size }];
  });
}
