import type { DropReason, PipelineStats } from '../sdk/status.ts';

/** The counters of one pipeline, written by its stages. `onDrop` hears of every drop. */
export class PipelineCounters {
  collected = 0;
  inFlight = 0;
  deadLettered = 0;
  retries = 0;
  givenUp = 0;
  readonly #forwarded = new Map<string, number>();
  readonly #dropped = new Map<DropReason, number>();
  readonly #masked = new Map<string, { count: number }>();
  readonly #backlogs = new Map<string, number>();
  #lostBytes = 0;
  #truncations = 0;
  readonly #onDrop: (reason: DropReason, count: number, total: number) => void;

  constructor(onDrop: (reason: DropReason, count: number, total: number) => void) {
    this.#onDrop = onDrop;
  }

  forward(forwarder: string, count: number): void {
    increase(this.#forwarded, forwarder, count);
  }

  drop(reason: DropReason, count: number): void {
    this.#onDrop(reason, count, increase(this.#dropped, reason, count));
  }

  mask(rule: string, count: number): void {
    // For each masked text: one look into the map where two would do.
    const known = this.#masked.get(rule);
    if (known === undefined) this.#masked.set(rule, { count });
    else known.count += count;
  }

  backlog(collector: string, bytes: number): void {
    this.#backlogs.set(collector, bytes);
  }

  lose(bytes: number): void {
    this.#lostBytes += bytes;
  }

  truncate(): void {
    this.#truncations++;
  }

  snapshot(): PipelineStats {
    return {
      collected: this.collected,
      forwarded: Object.fromEntries(this.#forwarded),
      dropped: Object.fromEntries(this.#dropped),
      dead_lettered: this.deadLettered,
      masked: Object.fromEntries(Array.from(this.#masked, ([rule, { count }]) => [rule, count])),
      retries: this.retries,
      given_up: this.givenUp,
      in_flight: this.inFlight,
      backlog_bytes: this.#backlogs.size === 0 ? undefined : sum(this.#backlogs.values()),
      lost_bytes: this.#lostBytes,
      truncations: this.#truncations,
    };
  }
}

function increase<K>(counts: Map<K, number>, key: K, count: number): number {
  const total = (counts.get(key) ?? 0) + count;
  counts.set(key, total);
  return total;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
