import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { Logger } from '../../sdk/context.ts';
import type { FailedPlugin } from './dead-letter-entry.ts';

interface ReplayTargetOptions {
  /** The pipeline that entries are sent through. */
  readonly pipeline: string;
  /** The pipeline that they come from. */
  readonly from: string;
  readonly allForwarders: boolean;
  readonly logger: Logger;
}

/** All forwarders of the pipeline. */
export const ALL = Symbol('all forwarders');
export type ReplayTarget = string | typeof ALL;

/**
 * Tells by the plugin that failed where an entry goes: to the forwarder that did not take it, since the others did. An
 * event that a processor failed on, no forwarder has.
 */
export function replayTargets(
  config: AnalyticsConfig,
  { pipeline, from, allForwarders, logger }: ReplayTargetOptions,
): (failed: FailedPlugin) => ReplayTarget {
  const forwarders = config.pipelines[pipeline]?.forward ?? [];
  if (allForwarders || forwarders.length === 1) return () => ALL;
  const processors = [pipeline, from].flatMap((name) => config.pipelines[name]?.process ?? []);
  const told = new Set<string>();
  return ({ plugin, pluginKind }) => {
    const isProcessor = pluginKind === undefined ? processors.includes(plugin) : pluginKind === 'process';
    if (isProcessor) return ALL;
    if (forwarders.includes(plugin)) return plugin;
    if (!told.has(plugin)) {
      told.add(plugin);
      logger.info(
        `\`${plugin}\` is no forwarder of pipeline ${pipeline}: what it failed on goes to all forwarders`,
      );
    }
    return ALL;
  };
}
