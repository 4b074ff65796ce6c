import type { Plugin, PluginKind } from './plugin.ts';

const KINDS: readonly PluginKind[] = ['collect', 'process', 'forward'];

/** Says in words what keeps a value from being a plugin of a kind; undefined if nothing does. */
export function contractMistake(kind: PluginKind, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return `it is no object with get_config_schema and ${kind}`;
  const isFunction = (name: string) => typeof (value as Record<string, unknown>)[name] === 'function';
  if (isFunction('get_config_schema') && isFunction(kind)) return undefined;
  const other = KINDS.find(isFunction);
  if (other !== undefined && !isFunction(kind)) return `it is a ${other} plugin; wanted a ${kind} plugin`;
  const missing = ['get_config_schema', kind].filter((name) => !isFunction(name));
  return `it lacks the function${missing.length === 1 ? '' : 's'} ${missing.join(' and ')}`;
}

/** Whether a value has what a plugin of the kind must have. */
export function isPlugin(kind: PluginKind, value: unknown): value is Plugin {
  return contractMistake(kind, value) === undefined;
}
