import { isMapping, type Path } from '../checks/path.ts';
import type { MergedConfig } from './merged-config.ts';

const RESERVED = '__proto__';
const MESSAGE = 'the name `__proto__` is reserved by JavaScript; choose another';

/** Refuses the key at a path if it is `__proto__`. */
export function isReserved(path: Path, config: MergedConfig): boolean {
  if (path.at(-1) !== RESERVED) return false;
  config.add({ path, at: 'key', message: MESSAGE });
  return true;
}

/**
 * Refuses the key `__proto__` at any depth of a model and returns the model without it. Schemas would drop it
 * in silence, and with it a rule of that name.
 */
export function removeReservedKeys(
  value: Readonly<Record<string, unknown>>,
  path: Path,
  config: MergedConfig,
): Record<string, unknown> {
  const kept = Object.entries(value).filter(([key]) => !isReserved([...path, key], config));
  return Object.fromEntries(kept.map(([key, item]) => [key, removeBelow(item, [...path, key], config)]));
}

function removeBelow(value: unknown, path: Path, config: MergedConfig): unknown {
  if (Array.isArray(value)) return value.map((item, index) => removeBelow(item, [...path, index], config));
  return isMapping(value) ? removeReservedKeys(value, path, config) : value;
}
