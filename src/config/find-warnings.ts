import type { Mistake } from '../checks/mistake.ts';
import { isMapping } from '../checks/path.ts';
import type { PluginKind } from '../sdk/plugin.ts';
import type { MergedConfig } from './merged-config.ts';
import { PLUGIN_SECTIONS } from './sections.ts';

/** What is right in a valid configuration, and hardly meant: no pipelines, and entries that none of them names. */
export function findWarnings({ sections }: MergedConfig): Mistake[] {
  const pipelines = Object.values(sections.get('pipelines') ?? {}).filter(isMapping);
  if (pipelines.length === 0)
    return [{ path: ['pipelines'], message: 'there are none, so nothing will run' }];
  return (Object.keys(PLUGIN_SECTIONS) as PluginKind[]).flatMap((kind) => {
    const section = PLUGIN_SECTIONS[kind];
    const used = new Set(pipelines.flatMap((pipeline) => namesIn(pipeline, kind)));
    return Object.keys(sections.get(section) ?? {})
      .filter((name) => !used.has(name))
      .map((name) => ({ path: [section, name], at: 'key' as const, message: 'no pipeline uses it' }));
  });
}

function namesIn(pipeline: Readonly<Record<string, unknown>>, kind: PluginKind): unknown[] {
  const names = [pipeline[kind]].flat();
  const isDeadLetter = kind === 'forward' && isMapping(pipeline.delivery);
  return isDeadLetter ? [...names, (pipeline.delivery as Record<string, unknown>).dead_letter] : names;
}
