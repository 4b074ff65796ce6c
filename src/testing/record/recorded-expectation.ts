import type { TestDefinition } from '../../config/tests/test-definition.ts';
import { expressionIn } from '../../config/tests/values.ts';
import { type AnalyticsConfig, forwardersOf, type PipelineConfig } from '../../sdk/config.ts';
import { toJson } from '../../sdk/serialise.ts';
import type { PipelineRun } from '../pipeline-run.ts';
import { mismatch, written } from '../yaml/matcher.ts';
import { receivedBy } from '../yaml/received.ts';

/** The forwarders of a pipeline and its dead letter, each once. */
export function forwarderNames({ pipelines }: AnalyticsConfig, pipeline: string): ReadonlySet<string> {
  const settings = pipelines[pipeline] as PipelineConfig;
  const { dead_letter } = settings.delivery;
  return new Set([...forwardersOf(settings), ...(dead_letter === undefined ? [] : [dead_letter])]);
}

/**
 * What a run did, as assertions.
 *
 * @param unmasked forwarders of which only the number of their events may be shown
 */
export function expectationOf(
  config: AnalyticsConfig,
  { pipeline }: { readonly pipeline: string },
  run: PipelineRun,
  unmasked: ReadonlySet<string>,
): TestDefinition['expect'] {
  const settings = config.pipelines[pipeline] as PipelineConfig;
  const { collect, ordered, delivery } = settings;
  const { dead_letter } = delivery;
  const names = forwardersOf(settings);
  const isOrdered = ordered && collect.length === 1;
  const rows: Record<string, unknown> = {};
  for (const name of forwarderNames(config, pipeline)) {
    const isDeadLetter = !names.includes(name);
    const received = receivedBy(run, name).map(({ event }) => event);
    const matchers = received.map(({ data }) => matcherOf(isDeadLetter ? deadLetterOf(data) : data));
    // Some values, such as those that have no JSON form, are like no matcher.
    const isShown =
      !unmasked.has(name) &&
      received.every((event, index) => mismatch(written(matchers[index]), event) === undefined);
    if (!isShown) rows[name] = { count: received.length };
    else rows[name] = isDeadLetter || isOrdered || received.length === 0 ? matchers : { exactly: matchers };
  }
  const states = run.states.map(({ state }) => state).filter((state) => state !== 'idle');
  return {
    ...rows,
    dropped: dropsOf(run),
    ...(dead_letter === undefined ? {} : { dead_letters: run.stats.dead_lettered }),
    retries: run.stats.retries,
    ...(states.length > 2 ? { states } : { state: run.state }),
  } as unknown as TestDefinition['expect'];
}

function dropsOf(run: PipelineRun): unknown {
  if (run.dropped.length === 0) return 'none';
  const counts = new Map<string, { by: string; reason: string; count: number }>();
  for (const { by, reason } of run.dropped) {
    const key = `${by} ${reason}`;
    const drop = counts.get(key) ?? { by, reason, count: 0 };
    drop.count++;
    counts.set(key, drop);
  }
  return [...counts.values()];
}

/** Without its time and message. */
function deadLetterOf(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { plugin, kind, event } = entry as { plugin: unknown; kind: unknown; event?: { data: unknown } };
  return { plugin, kind, ...(event === undefined ? {} : { event: { data: event.data } }) };
}

/** An event that is like this data, and no other. */
function matcherOf(data: Readonly<Record<string, unknown>>): unknown {
  const plain = literal(JSON.parse(toJson(data))) as Record<string, unknown>;
  const { line, ...others } = plain;
  if (typeof line === 'string' && Object.keys(others).length === 0) return line;
  return typeof plain.data === 'object' && plain.data !== null ? { data: plain } : plain;
}

/** The value with expressions in the place of strings that look like expressions. */
function literal(value: unknown): unknown {
  if (typeof value === 'string') return looksLikeExpression(value) ? exactExpression(value) : value;
  if (Array.isArray(value)) return value.map(literal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, literal(item)]));
}

function looksLikeExpression(text: string): boolean {
  try {
    return expressionIn(text) !== undefined;
  } catch {
    return true;
  }
}

function exactExpression(text: string): string {
  return `/^${text
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')}$/`;
}
