import type { ConfigProblem } from '../plugin.ts';

/** Steps from the top of a configuration to a value in it. */
export type Path = readonly (string | number)[];

const PLAIN_KEY = /^[\p{L}\p{N}_-]+$/u;

/** A path as it is shown: `pipelines.main.collect[0]`, `collectors["a.b"]`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** The value at a path, or undefined if there is none; inherited properties do not count. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

/** Whether a value is an object with keys, as a YAML mapping gives it. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface Problem extends ConfigProblem {
  /** Where the caret goes; the value unless told otherwise. */
  readonly at?: 'key' | 'value';
  /** The message is a plugin's, so it may quote the value of an environment variable. */
  readonly foreign?: boolean;
  /** Where the values are that a foreign message may quote. Default: in the entry that it is about. */
  readonly quotes?: readonly Path[];
}
