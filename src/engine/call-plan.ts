import { createHash, randomUUID } from 'node:crypto';
import type { CollectorState } from '../sdk/context.ts';
import { PluginError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { toJson } from '../sdk/serialise.ts';
import { type AckOwner, AckQueue, type CollectorQueue } from './ack-queue.ts';
import type { Batches } from './batches.ts';
import { callTime } from './call-time.ts';
import type { Delivery } from './delivery.ts';

/** A call that was made, or may have been, and whose events are not all acknowledged. */
interface PlannedCall {
  readonly id: string;
  /** Its events that are not acknowledged: those of each batch of the collector, which are acknowledged together. */
  parts: readonly CallPart[];
  /** It was delivered. The state has that before the next call is made. */
  isDelivered: boolean;
  /** Whether it was made in this run. */
  isMade: boolean;
  /** Whether nothing of it will be sent again in this run. */
  hasEnded: boolean;
}

/** An alias, because values of the state must have an index signature. */
type CallPart = { readonly events: number; readonly digest: string };

/** What a call of the last run held, which has to be made again. */
interface RepeatedCall {
  readonly id: string;
  /** How many of its events are not acknowledged. */
  readonly events: number;
  readonly isDelivered: boolean;
}

/** The start of the keys under which the state has the calls of each source. */
const KEY = 'calls ';

/**
 * Which events went into which call, for a pipeline that delivers exactly once to a forwarder that stores nothing twice
 * under one id. Each call is noted in the state before it is made. After a crash, collectors emit again what was not
 * acknowledged; the events then go into the same calls with the same ids.
 *
 * A source is a file of a collector. Its events come in the same order after a crash, whatever batches they come in. So a
 * call has events of one source, and the number of its events says which ones they are. When a batch of a collector is
 * acknowledged, the calls of its events leave the plan in the same commit that moves the collector on.
 */
export class CallPlan {
  readonly #state: CollectorState;
  readonly #calls = new Map<string, PlannedCall[]>();
  /** Calls of this run. */
  #begun = 0;
  /** The batches of collectors that are not acknowledged: where they come from, and the events that came here of them. */
  readonly #open = new Map<Delivery, { readonly collector: string; events: number }>();

  constructor(state: CollectorState) {
    this.#state = state;
    for (const [key, calls] of state.entries()) {
      if (!key.startsWith(KEY) || !Array.isArray(calls)) continue;
      const planned = (calls as unknown as readonly PlannedCall[])
        .filter(({ parts }) => Array.isArray(parts))
        .map((call) => ({ ...call, isMade: false, hasEnded: false }));
      this.#calls.set(key.slice(KEY.length), planned);
    }
  }

  /** Forgets the calls of a pipeline that no longer delivers exactly once. */
  static forget(state: CollectorState): void {
    for (const [key] of [...state.entries()]) if (key.startsWith(KEY)) state.delete(key);
  }

  /** The queue in which the deliveries of a collector are opened. */
  queueFor(collector: string, owner: AckOwner): CollectorQueue {
    const queue = new AckQueue();
    return {
      open: (events, onAcknowledged) => {
        const delivery: Delivery = queue.open(events, owner, (outcome) => {
          // First: what the collector does may commit, and both have to be in that commit.
          const undo = this.#acknowledged(delivery);
          try {
            return onAcknowledged(outcome);
          } catch (error) {
            undo();
            throw error;
          }
        });
        this.#open.set(delivery, { collector, events: 0 });
        return delivery;
      },
    };
  }

  /** Events of a delivery have come to the forwarder. Returns their source. */
  arrived(count: number, { root }: Delivery): string {
    const open = this.#open.get(root);
    if (open === undefined) return '';
    open.events += count;
    return sourceOf(open.collector, root);
  }

  /** The call that the next events of a source went into, if it was made by the last run. */
  repeated(source: string): RepeatedCall | undefined {
    const call = this.#notMade(source);
    return call && { id: call.id, events: eventsOf(call), isDelivered: call.isDelivered };
  }

  /** Whether these are the events of the call that are not acknowledged. Then it counts as made. */
  repeat(source: string, batches: Batches, path: string | undefined): boolean {
    const call = this.#notMade(source);
    if (call === undefined) return false;
    const { events } = batches;
    let start = 0;
    for (const part of call.parts) {
      const end = start + part.events;
      if (digest(events.slice(start, end), path) !== part.digest) return false;
      start = end;
    }
    if (start !== events.length) return false;
    // The collector may have read them in other batches than in the last run, and acknowledges these.
    call.parts = partsOf(batches, path);
    call.isMade = true;
    this.#keep(source, this.#calls.get(source) ?? []);
    return true;
  }

  #notMade(source: string): PlannedCall | undefined {
    return this.#calls.get(source)?.find(({ isMade }) => !isMade);
  }

  /** The calls of the last run cannot be repeated: the events of the source are not the same. */
  abandon(source: string): void {
    this.#keep(source, this.#calls.get(source)?.filter(({ isMade }) => isMade) ?? []);
  }

  /** A new call is about to be made. Returns its id. */
  begin(source: string, batches: Batches, path: string | undefined): string {
    const call = {
      id: `${callTime()}-${randomUUID()}-${this.#begun++}`,
      parts: partsOf(batches, path),
      isDelivered: false,
      isMade: true,
      hasEnded: false,
    };
    this.#keep(source, [...(this.#calls.get(source) ?? []), call]);
    return call.id;
  }

  /**
   * All events of a call are delivered or given up. To be called before they are acknowledged: only then may a later run
   * take the rest of the call for delivered. A call of which all events are delivered is noted as such before the next
   * call is made, so that a crash leaves one such call in doubt at most: the last one.
   */
  ended(id: string, isDelivered: boolean): void {
    for (const [source, calls] of this.#calls) {
      const call = calls.find((other) => other.id === id);
      if (call === undefined) continue;
      call.hasEnded = true;
      if (!isDelivered) continue;
      call.isDelivered = true;
      this.#keep(source, calls);
    }
  }

  /** Before each attempt. @throws PluginError if the state cannot be written to: a crash would lead to duplicates. */
  commit(): void {
    this.#state.commit();
    if (!this.#state.isPending) return;
    throw new PluginError('nothing is sent while the state folder cannot be written to');
  }

  /** Returns what puts the calls back: a collector that fails as it is told emits their events again. */
  #acknowledged(delivery: Delivery): () => void {
    const { collector, events } = this.#open.get(delivery) as { collector: string; events: number };
    this.#open.delete(delivery);
    const source = sourceOf(collector, delivery);
    const before = this.#calls.get(source) ?? [];
    const calls = [...before];
    let left = events;
    for (let first = calls[0]; first !== undefined && left > 0; first = calls[0]) {
      const [part, ...rest] = first.parts;
      left -= part?.events ?? 0;
      calls.shift();
      const isDelivered = first.isDelivered || first.hasEnded;
      if (rest.length > 0) calls.unshift({ ...first, parts: rest, isDelivered });
    }
    if (events > 0) this.#keep(source, calls);
    return () => this.#keep(source, before);
  }

  #keep(source: string, calls: PlannedCall[]): void {
    if (calls.length === 0) {
      this.#calls.delete(source);
      this.#state.delete(KEY + source);
      return;
    }
    this.#calls.set(source, calls);
    const kept = calls.map(({ id, parts, isDelivered }) => ({ id, parts, isDelivered }));
    this.#state.set(KEY + source, kept);
  }
}

function sourceOf(collector: string, { origin }: Delivery): string {
  return `${collector} ${origin?.id ?? origin?.path ?? ''}`;
}

function eventsOf({ parts }: PlannedCall): number {
  return parts.reduce((sum, { events }) => sum + events, 0);
}

/** Events of one batch of a collector, which processors may have passed on in several, are one part. */
function partsOf(batches: Batches, path: string | undefined): CallPart[] {
  const parts: { readonly root: Delivery; readonly events: CollectedEvent[] }[] = [];
  for (const { rows, delivery } of batches.list) {
    const last = parts.at(-1);
    if (last?.root === delivery.root) last.events.push(...rows.events);
    else parts.push({ root: delivery.root, events: [...rows.events] });
  }
  return parts.map(({ events }) => ({ events: events.length, digest: digest(events, path) }));
}

/** Without timestamps, which are those of the collection, and without the path, which a rotation changes. */
function digest(events: readonly CollectedEvent[], path: string | undefined): string {
  const text = toJson(events.map(({ data }) => data));
  const shown = path === undefined ? text : text.replaceAll(JSON.stringify(path), '');
  return createHash('sha256').update(shown).digest('base64url').slice(0, 16);
}
