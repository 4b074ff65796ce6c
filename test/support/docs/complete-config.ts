import { dump, load } from 'js-yaml';
import { PLUGIN_SECTIONS } from '../../../src/config/sections.ts';
import type { PluginKind } from '../../../src/sdk/plugin.ts';

type Mapping = Record<string, unknown>;

/** What an entry is that a fragment speaks of and does not show. */
const STAND_INS: Readonly<Record<PluginKind, string>> = { collect: 'test', process: 'test', forward: 'noop' };

/**
 * Makes a complete configuration of a part of one. `path` says where the part belongs, such as `processors` or
 * `pipelines.main.delivery`; an empty one means the top. Sections, entries and fields that are missing are added.
 */
export function completeConfig(fragment: string, path = ''): string {
  let config = load(fragment);
  for (const key of path
    .split('.')
    .filter((part) => part !== '')
    .reverse())
    config = { [key]: config };
  const complete: Mapping = {
    collectors: {},
    processors: {},
    forwarders: {},
    pipelines: {},
    host_config: {},
    ...(config as Mapping),
  };
  for (const pipeline of Object.values(complete.pipelines as Record<string, Mapping>)) {
    pipeline.collect ??= 'some_collector';
    pipeline.forward ??= 'some_forwarder';
    for (const kind of Object.keys(STAND_INS) as PluginKind[]) addEntries(complete, kind, pipeline[kind]);
    const { dead_letter } = (pipeline.delivery ?? {}) as Mapping;
    addEntries(complete, 'forward', dead_letter);
  }
  return dump(complete);
}

function addEntries(config: Mapping, kind: PluginKind, names: unknown): void {
  const section = config[PLUGIN_SECTIONS[kind]] as Mapping;
  for (const name of [names ?? []].flat()) section[name as string] ??= { plugin: STAND_INS[kind] };
}
