import { silentStats } from '../../sdk/metrics.ts';
import { demand } from './check.ts';
import type { Subject } from './subject.ts';

export function demandCounts(found: Counts, wanted: Counts, when: string, by = 'process'): void {
  const text = (counts: Counts) => JSON.stringify(Object.entries(counts).toSorted());
  demand(
    text(found) === text(wanted),
    `${when} it counted ${text(found)} as masked, where ${by} counted ${text(wanted)}; call ctx.stats.masked for what is masked, and for nothing else`,
  );
}

export type Counts = Record<string, number>;

/** A context that counts what is masked, by rule. */
export function counting(subject: Subject) {
  const counts: Counts = {};
  const masked = (rule: string, count: number) => {
    counts[rule] = (counts[rule] ?? 0) + count;
  };
  const ctx = subject.context({ stats: { ...silentStats, masked } });
  return { ctx, counts };
}
