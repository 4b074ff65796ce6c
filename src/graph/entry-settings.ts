import { formatNumber } from '../checks/describe.ts';
import { isMapping } from '../checks/problem.ts';
import { shownSettings } from '../checks/shown-values.ts';
import type { PipelineConfig } from '../sdk/config.ts';
import type { Plugin } from '../sdk/plugin.ts';
import { MAX_COUNT } from '../sdk/schema-parts.ts';
import type { GraphSetting } from './graph.ts';
import { visibleText } from './visible-text.ts';

const MOST_VALUES = 12;

/**
 * The settings of an entry that may be shown, as text.
 *
 * @example
 * const plugin = { shownSettings: { fn: '', interval: ' s' } };
 * entrySettings(plugin, { fn: 'status.uptime', interval: 5, args: ['s3cret'] });
 * // [{ key: 'fn', values: ['status.uptime'] }, { key: 'interval', values: ['5 s'] }]
 */
export function entrySettings(plugin: Plugin, values: Readonly<Record<string, unknown>>): GraphSetting[] {
  return [...shownSettings(plugin, values)].flatMap(([key, unit]) => setting(key, values[key], unit));
}

/** The settings of a pipeline: those that always matter, and those that are set. */
export function pipelineSettings(config: PipelineConfig): GraphSetting[] {
  const { max_in_flight, ordered, restart, buffer, delivery } = config;
  const defaultBuffer = buffer.max_events === 10_000 && buffer.when_full === 'drop_oldest';
  return [
    ...setting('max_in_flight', max_in_flight, ''),
    { key: 'ordered', values: [String(ordered)] },
    { key: 'restart', values: [String(restart)] },
    ...setting('attempts', delivery.attempts, ''),
    ...setting('timeout', delivery.timeout, ' s'),
    ...(defaultBuffer
      ? []
      : [{ key: 'buffer', values: [`${formatNumber(buffer.max_events)} ${buffer.when_full}`] }]),
  ];
}

/** None for what is not set: a switch that is off, no limit, no text. */
function setting(key: string, value: unknown, unit: string): GraphSetting[] {
  const values = shownValues(value, unit);
  return values.length === 0 ? [] : [{ key: visibleText(key), values }];
}

function shownValues(value: unknown, unit: string): string[] {
  if (value === undefined || value === null || value === false || value === MAX_COUNT) return [];
  if (typeof value === 'number') return [`${formatNumber(value)}${unit}`];
  if (typeof value === 'boolean') return ['true'];
  if (typeof value === 'string') return [visibleText(value)];
  if (Array.isArray(value)) return firstOf(value.map(String));
  if (!isMapping(value)) return [];
  const { minimum, maximum } = value;
  const isRange = unit !== '' && minimum !== undefined && maximum !== undefined;
  return isRange ? [visibleText(`${minimum} – ${maximum}${unit}`)] : firstOf(Object.keys(value));
}

function firstOf(values: readonly string[]): string[] {
  const shown = values.slice(0, MOST_VALUES).map((value) => visibleText(value));
  const more = values.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}
