import type { Plugin } from '../sdk/plugin.ts';

const SECRETIVE = /pass|secret|token|key|credential|auth|pin/i;
const REFERENCE = /^\$\{\w+\}$/;

/**
 * The settings of an entry that may be shown, each with the unit of its number. A plugin that does not declare them may
 * have secrets among its settings: only numbers, switches and references to environment variables are shown.
 */
export function shownSettings(
  plugin: Plugin,
  values: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string> {
  if (plugin.shownSettings !== undefined) return new Map(Object.entries(plugin.shownSettings));
  const harmless = Object.entries(values).filter(
    ([key, value]) => key !== 'plugin' && isHarmless(key, value),
  );
  return new Map(harmless.map(([key]) => [key, '']));
}

function isHarmless(key: string, value: unknown): boolean {
  if (typeof value === 'string') return REFERENCE.test(value);
  return (typeof value === 'number' || typeof value === 'boolean') && !SECRETIVE.test(key);
}
