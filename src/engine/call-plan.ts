import { createHash, randomUUID } from 'node:crypto';
import type { CollectorState, StateValue } from '../sdk/context.ts';
import { PluginError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { toJson } from '../sdk/serialise.ts';
import { AckQueue, type Delivery } from './delivery.ts';

/** A call that was made, or may have been, and whose events are not all acknowledged. */
interface PlannedCall {
  readonly id: string;
  /** Those that are not acknowledged. */
  events: number;
  /** Digest of its events. */
  readonly check: string;
  /** It was delivered, and some of its events are acknowledged. */
  isDelivered: boolean;
  /** Whether it was made in this run. */
  isBegun: boolean;
  /** Whether nothing of it will be sent again in this run. */
  hasEnded: boolean;
}

/** What a call of the last run held, which has to be made again. */
export type RepeatedCall = Readonly<Pick<PlannedCall, 'id' | 'events' | 'isDelivered'>>;

/** Where the state has the calls of a source. */
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
  /** The batches of collectors that are not acknowledged: where they come from, and the events that came here of them. */
  readonly #open = new Map<Delivery, { readonly collector: string; events: number }>();

  constructor(state: CollectorState) {
    this.#state = state;
    for (const [key, calls] of state.entries()) {
      if (!key.startsWith(KEY) || !Array.isArray(calls)) continue;
      const planned = calls.map((call: StateValue) => ({
        ...(call as object as PlannedCall),
        isBegun: false,
        hasEnded: false,
      }));
      this.#calls.set(key.slice(KEY.length), planned);
    }
  }

  /** Forgets the calls of a pipeline that does not deliver exactly once any more. */
  static forget(state: CollectorState): void {
    for (const [key] of [...state.entries()]) if (key.startsWith(KEY)) state.delete(key);
  }

  /** The queue in which the deliveries of a collector are opened. */
  queueFor(collector: string, release: (events: number) => void): Pick<AckQueue, 'open'> {
    const queue = new AckQueue(release);
    return {
      open: (events, onAcknowledged) => {
        const delivery: Delivery = queue.open(events, (outcome) => {
          // First: what the collector does may commit, and both have to be in that commit.
          this.#acknowledged(delivery);
          onAcknowledged?.(outcome);
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
    return this.#calls.get(source)?.find(({ isBegun }) => !isBegun);
  }

  /** Whether these are the events of the call. Then it counts as made. */
  repeat(source: string, events: readonly CollectedEvent[], path: string | undefined): boolean {
    const call = this.#calls.get(source)?.find(({ isBegun }) => !isBegun);
    // Of a call in which some events are acknowledged, the first one does not come again.
    if (call === undefined || (!call.isDelivered && call.check !== digest(events, path))) return false;
    call.isBegun = true;
    return true;
  }

  /** The calls of the last run cannot be repeated: the events of the source are not the same. */
  abandon(source: string): void {
    this.#keep(source, this.#calls.get(source)?.filter(({ isBegun }) => isBegun) ?? []);
  }

  /** A new call is about to be made. Returns its id. */
  begin(source: string, events: readonly CollectedEvent[], path: string | undefined): string {
    const check = digest(events, path);
    const call = {
      id: randomUUID(),
      events: events.length,
      check,
      isDelivered: false,
      isBegun: true,
      hasEnded: false,
    };
    this.#keep(source, [...(this.#calls.get(source) ?? []), call]);
    return call.id;
  }

  /**
   * All events of a call are delivered or given up. To be called before they are acknowledged: only then may a later run
   * take the rest of the call for delivered.
   */
  ended(id: string): void {
    for (const calls of this.#calls.values()) {
      const call = calls.find((other) => other.id === id);
      if (call !== undefined) call.hasEnded = true;
    }
  }

  /** Before each attempt. @throws PluginError if the state cannot be written to: a crash would lead to duplicates. */
  commit(): void {
    this.#state.commit();
    if (!this.#state.isPending) return;
    throw new PluginError('nothing is sent while the state folder cannot be written to');
  }

  #acknowledged(delivery: Delivery): void {
    const { collector, events } = this.#open.get(delivery) as { collector: string; events: number };
    this.#open.delete(delivery);
    const source = sourceOf(collector, delivery);
    const calls = [...(this.#calls.get(source) ?? [])];
    let left = events;
    for (let first = calls[0]; first !== undefined && left > 0; first = calls[0]) {
      const taken = Math.min(left, first.events);
      left -= taken;
      first.events -= taken;
      first.isDelivered ||= first.hasEnded;
      if (first.events === 0) calls.shift();
    }
    if (events > 0) this.#keep(source, calls);
  }

  #keep(source: string, calls: PlannedCall[]): void {
    if (calls.length === 0) {
      this.#calls.delete(source);
      this.#state.delete(KEY + source);
      return;
    }
    this.#calls.set(source, calls);
    const kept = calls.map(({ id, events, check, isDelivered }) => ({ id, events, check, isDelivered }));
    this.#state.set(KEY + source, kept);
  }
}

function sourceOf(collector: string, { origin }: Delivery): string {
  return `${collector} ${origin?.id ?? origin?.path ?? ''}`;
}

/** Without timestamps, which are those of the collection, and without the path, which a rotation changes. */
function digest(events: readonly CollectedEvent[], path: string | undefined): string {
  const text = toJson(events.map(({ data }) => data));
  const shown = path === undefined ? text : text.replaceAll(JSON.stringify(path), '');
  return createHash('sha256').update(shown).digest('base64url').slice(0, 16);
}
