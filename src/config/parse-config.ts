import { checkOptions } from '../sdk/checks/arguments.ts';
import { describeValue } from '../sdk/checks/describe.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { ProblemLog } from './config-error.ts';
import { MergedConfig } from './merged-config.ts';
import { loadPlugins } from './plugin-lookup.ts';
import { conditionCompiler } from './routes.ts';
import { ObjectSource } from './source.ts';
import { validateConfig } from './validate.ts';
import { validateTests } from './validate-tests.ts';

export interface ParseConfigOptions {
  /** Lets plugins check what they say of the host, such as names of its functions. */
  readonly host?: Host;
  /** Names the configuration in messages; `configuration` if not given. */
  readonly name?: string;
}

/**
 * Makes a configuration of a plain object, for programs that embed millrace. Plugins are the built-in ones, of which it
 * loads those that are named, and those of `registerPlugin`; environment variables are not looked at. The object is
 * copied, never frozen.
 *
 * @throws ConfigError with all problems at once; MillraceError `MILLRACE_ARGUMENT` for wrong options
 * @example
 * const config = await parseConfig({
 *   collectors: { ticks: { plugin: 'test', count: 3 } },
 *   forwarders: { out: { plugin: 'stdout' } },
 *   pipelines: { main: { collect: 'ticks', forward: 'out' } },
 *   host_config: {},
 * });
 * config.collectors.ticks.name; // 'ticks'
 */
export async function parseConfig(
  input: unknown,
  options: ParseConfigOptions = {},
): Promise<AnalyticsConfig> {
  checkOptions('parseConfig', options, ['host', 'name']);
  const { host, name = 'configuration' } = options;
  const log = new ProblemLog();
  if (!isMapping(input)) {
    const message = `found ${describeValue(input)}; expected an object with collectors, forwarders …`;
    log.addAt(name, undefined, [], message);
  }
  log.throwIfAny([name]);
  const config = new MergedConfig([new ObjectSource(name, isMapping(input) ? input : {})], log);
  const lookup = await loadPlugins(config);
  const compileCondition = await conditionCompiler(config);
  const result = validateConfig(config, { lookup, host, compileCondition });
  validateTests(config);
  log.throwIfAny([name]);
  return result;
}
