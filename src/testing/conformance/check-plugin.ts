import type { PluginOf } from '../../config/registry.ts';
import type { Plugin, PluginKind } from '../../sdk/plugin.ts';
import { type Check, CheckFailure, reasonOf } from './check.ts';
import { BATCH_CHECKS } from './checks/batches.ts';
import { CANCELLATION_CHECKS } from './checks/cancellation.ts';
import { DEMAND_CHECKS } from './checks/demand.ts';
import { ERROR_CHECKS } from './checks/errors.ts';
import { EVENT_CHECKS } from './checks/events.ts';
import { EXAMPLE_CHECKS } from './checks/examples.ts';
import { FORWARD_CHECKS } from './checks/forward.ts';
import { LINE_CHECKS } from './checks/lines.ts';
import { MASK_CHECKS } from './checks/masks.ts';
import { ONCE_CHECKS } from './checks/once.ts';
import { PURE_CHECKS } from './checks/pure.ts';
import { ROW_CHECKS } from './checks/rows.ts';
import { SCHEMA_CHECKS } from './checks/schema.ts';
import { STATE_CHECKS } from './checks/state.ts';
import { TIME_CHECKS } from './checks/time.ts';
import { type CheckResult, ConformanceError, type ConformanceReport } from './report.ts';
import { type ConformanceOptions, type Subject, subjectOf } from './subject.ts';

const CHECKS: readonly Check[] = [
  ...SCHEMA_CHECKS,
  ...EXAMPLE_CHECKS,
  ...EVENT_CHECKS,
  ...LINE_CHECKS,
  ...ROW_CHECKS,
  ...PURE_CHECKS,
  ...FORWARD_CHECKS,
  ...BATCH_CHECKS,
  ...DEMAND_CHECKS,
  ...ONCE_CHECKS,
  ...STATE_CHECKS,
  ...TIME_CHECKS,
  ...CANCELLATION_CHECKS,
  ...ERROR_CHECKS,
  ...MASK_CHECKS,
];

/** The checks that a plugin of a kind has to pass, in their order. */
export function checksFor(kind: PluginKind, plugin: Plugin): readonly Check[] {
  return CHECKS.filter(({ kinds, applies }) => kinds.includes(kind) && (applies?.(plugin) ?? true));
}

/** Runs one check. */
export async function runCheck({ name, run }: Check, subject: Subject): Promise<CheckResult> {
  try {
    const note = await run(subject);
    return note === undefined ? { name, outcome: 'passed' } : { name, outcome: 'skipped', note };
  } catch (error) {
    const note =
      error instanceof CheckFailure ? error.message : `it could not be checked: ${reasonOf(error)}`;
    return { name, outcome: 'failed', note };
  } finally {
    subject.endRuns();
  }
}

/**
 * Checks a plugin against the contract: its schema, events, lines, batches, state and acknowledgement, demand, time,
 * cancellation and errors.
 *
 * @throws ConformanceError that says of every failed check what to change
 * @example
 * const plugin = { get_config_schema: () => ProcessConfigBase, process: ({ event }) => [event] };
 * const { checks } = await checkPlugin('process', plugin);
 * checks.every(({ outcome }) => outcome === 'passed'); // true
 */
export async function checkPlugin<K extends PluginKind>(
  kind: K,
  plugin: PluginOf[K],
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const subject = subjectOf(kind, plugin, options);
  const checks: CheckResult[] = [];
  for (const check of checksFor(kind, plugin)) {
    const result = await runCheck(check, subject);
    checks.push(result);
    // Without these two there is nothing to run the others on.
    if (result.outcome === 'failed' && checks.length <= 2) break;
  }
  const report: ConformanceReport = { kind, checks };
  if (checks.some(({ outcome }) => outcome === 'failed')) throw new ConformanceError(report);
  return report;
}
