import { nameListing } from '../checks/wording.ts';
import type { PipelineConfig } from '../models/pipeline-config.ts';
import type { CollectPlugin, ConfigMistake, ForwardPlugin, PluginKind } from '../models/plugin.ts';
import type { ValidEntry } from './build-config.ts';

type ValidEntries = Readonly<Record<PluginKind, ReadonlyMap<string, ValidEntry>>>;

/** Refuses pipelines that read what they write: each event would become another one, without end. */
export function validateOwnOutput(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  entries: ValidEntries,
): ConfigMistake[] {
  return [...pipelines].flatMap(([name, { collect, forward, delivery }]) => {
    const sinks = delivery.dead_letter === undefined ? forward : [...forward, delivery.dead_letter];
    return collect.flatMap((collector, index) => {
      const own = sinks.filter((sink) => isReading(entries, collector, sink));
      if (own.length === 0) return [];
      const message =
        `\`${collector}\` reads what ${nameListing(own)} of the same pipeline writes, and each event would become ` +
        'another one, without end; write to a folder that no path of the collector names';
      return [{ path: ['pipelines', name, 'collect', index], message }];
    });
  });
}

function isReading(entries: ValidEntries, collector: string, forwarder: string): boolean {
  const from = entries.collect.get(collector);
  const to = entries.forward.get(forwarder);
  if (from === undefined || to === undefined) return false;
  const path = (to.plugin as ForwardPlugin).writes?.({ config: to.data as never });
  return (
    path !== undefined &&
    (from.plugin as CollectPlugin).reads?.({ config: from.data as never, path }) === true
  );
}
