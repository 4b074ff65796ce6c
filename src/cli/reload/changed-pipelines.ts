import { isDeepStrictEqual } from 'node:util';
import type { AnalyticsConfig } from '../../sdk/config.ts';

/** What a new configuration changes of the pipelines that run. */
export interface PipelineChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Compares what each running pipeline is made of, its own settings, the entries that it uses and the host's, with what
 * `next` makes of it. `names` are the pipelines that are to run from now on.
 */
export function pipelineChanges(
  running: ReadonlyMap<string, AnalyticsConfig>,
  next: AnalyticsConfig,
  names: readonly string[],
): PipelineChanges {
  const isChanged = (name: string) => {
    const config = running.get(name);
    return config !== undefined && !isDeepStrictEqual(partsOf(config, name), partsOf(next, name));
  };
  return {
    added: names.filter((name) => !running.has(name)),
    changed: names.filter(isChanged),
    removed: [...running.keys()].filter((name) => !names.includes(name)),
  };
}

/** With each entry its plugin: the same settings may be those of another one. */
function partsOf(config: AnalyticsConfig, name: string): unknown[] {
  const { collectors, processors, forwarders, pipelines, host_config } = config;
  const pipeline = pipelines[name];
  if (pipeline === undefined) return [];
  const { collect, process = [], forward, delivery } = pipeline;
  const sinks = delivery.dead_letter === undefined ? forward : [...forward, delivery.dead_letter];
  const entries = [
    ...collect.map((entry) => collectors[entry]),
    ...process.map((entry) => processors[entry]),
    ...sinks.map((entry) => forwarders[entry]),
  ];
  return [pipeline, host_config, ...entries.flatMap((entry) => [entry, entry?.loaded_plugin])];
}
