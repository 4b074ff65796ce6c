import { compileCondition } from '../../plugins/expressions/compile-condition.ts';
import { ProblemLog } from '../../src/config/config-error.ts';
import { MergedConfig } from '../../src/config/merged-config.ts';
import { lookupKnown } from '../../src/config/plugin-lookup.ts';
import { ObjectSource } from '../../src/config/source.ts';
import { validateConfig } from '../../src/config/validate.ts';
import type { AnalyticsConfig } from '../../src/sdk/config.ts';
import { allBuiltinPlugins } from './built-in-plugins.ts';

await allBuiltinPlugins();

/** `parseConfig` without its promise, for tests in virtual time: the built-in plugins are loaded before. */
export function parseNow(input: object): AnalyticsConfig {
  const log = new ProblemLog();
  const source = new ObjectSource('configuration', input as Readonly<Record<string, unknown>>);
  const result = validateConfig(new MergedConfig([source], log), {
    lookup: lookupKnown,
    host: undefined,
    compileCondition,
  });
  log.throwIfAny(['configuration']);
  return result;
}
