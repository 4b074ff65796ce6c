import { createStandaloneHost } from '../host/standalone-host.ts';
import type { AnalyticsConfig } from '../models/analytics-config.ts';
import type { Host } from '../models/host.ts';
import { type Logger, silentLogger } from '../models/logger.ts';
import type { Environment } from './environment.ts';
import { MergedConfig } from './merged-config.ts';
import { MistakeLog } from './mistake-log.ts';
import { loadModules } from './plugin-lookup.ts';
import { readConfigFile } from './read-file.ts';
import { validateConfig } from './validate.ts';

/** Options of {@link loadConfig}. */
export interface LoadConfigOptions {
  /** What `${NAME}` stands for; the environment of the process if not given. */
  readonly env?: Environment;
  /** The standalone host ends its event bus when there is nothing more to come. */
  readonly once?: boolean;
  /** Takes the place of the standalone host. */
  readonly host?: Host;
  /** What the standalone host logs to. Default: silent. */
  readonly logger?: Logger;
}

/** A configuration with the host that it is for. */
export interface LoadedConfig {
  readonly config: AnalyticsConfig;
  readonly host: Host;
  readonly files: readonly string[];
}

/**
 * Loads a configuration from YAML files, whose sections are merged, with the modules that it names as plugins.
 * Starts nothing.
 *
 * @throws ConfigError with all mistakes of all files at once
 *
 * @example
 * const { config } = await loadConfig(['examples/quickstart.yaml']);
 * Object.keys(config.pipelines); // ['quickstart']
 */
export async function loadConfig(
  files: readonly string[],
  options: LoadConfigOptions = {},
): Promise<LoadedConfig> {
  const { env = process.env } = options;
  const log = new MistakeLog();
  if (files.length === 0) log.addAt('configuration', undefined, [], 'no file is given; wanted at least one');
  const read = await Promise.all(files.map((file) => readConfigFile(file, env, log)));
  const sources = read.filter((source) => source !== undefined);
  // A file that cannot be read may hold anything: what would be missing without it is no mistake of its own.
  const isComplete = sources.length === files.length;
  if (sources.length === 0) log.throwIfAny(files);

  const merged = new MergedConfig(sources, log, { isComplete });
  const host = options.host ?? (await standaloneHost(merged, options));
  const config = validateConfig(merged, { lookup: await loadModules(merged), host });
  log.throwIfAny(files);
  if (host === undefined) throw new Error('a configuration without mistakes has a host');
  return { config, host, files: [...files] };
}

/** The host that `host_config` describes; undefined if that is missing or wrong. */
async function standaloneHost(
  merged: MergedConfig,
  { once = false, logger = silentLogger }: LoadConfigOptions,
): Promise<Host | undefined> {
  const path = ['host_config'];
  const hostConfig = merged.sections.get('host_config');
  const { baseDir } = merged.sourceOf(path);
  if (hostConfig === undefined || baseDir === undefined || merged.isBroken(path)) return undefined;
  const { host, mistakes } = await createStandaloneHost(hostConfig, { baseDir, once, logger });
  for (const mistake of mistakes) {
    merged.add({ ...mistake, path: [...path, ...mistake.path], foreign: true });
  }
  // Without a module's functions, names of functions cannot be judged.
  return mistakes.some(({ path: [key] }) => key === 'functions') ? undefined : host;
}
