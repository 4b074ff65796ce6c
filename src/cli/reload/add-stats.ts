import type { PipelineStats } from '../../sdk/status.ts';

type Counts = Readonly<Record<string, number>>;

/** The counters of a pipeline over a reload: what it did before, and what it has done since. */
export function addStats(before: PipelineStats | undefined, since: PipelineStats): PipelineStats {
  if (before === undefined) return since;
  return {
    ...since,
    collected: before.collected + since.collected,
    forwarded: addCounts(before.forwarded, since.forwarded),
    dropped: addCounts(before.dropped, since.dropped),
    masked: addCounts(before.masked, since.masked),
    dead_lettered: before.dead_lettered + since.dead_lettered,
    retries: before.retries + since.retries,
    given_up: before.given_up + since.given_up,
    lost_bytes: before.lost_bytes + since.lost_bytes,
    truncations: before.truncations + since.truncations,
  };
}

function addCounts(before: Counts, since: Counts): Record<string, number> {
  // A Map: names of rules are free, `__proto__` is one.
  const sum = new Map(Object.entries(before));
  for (const [name, count] of Object.entries(since)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
}
