import { isMapping, type Path } from '../checks/path.ts';
import type { ConfigMistake } from '../models/plugin.ts';
import { type Entries, namesIn, pluginOf } from './pipeline-entries.ts';

/** What workers can do: processors whose result depends on the event and the configuration alone, and on nothing of a context. */
const IN_WORKERS: readonly (string | undefined)[] = ['entropy_mask', 'regex_mask'];

/**
 * Checks what `workers` needs: lines to hand on, and processors that workers have. What has the wrong type is left to
 * the schemas.
 */
export function validateWorkers(
  pipelines: Readonly<Record<string, unknown>>,
  entries: Entries,
): ConfigMistake[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || typeof pipeline.workers !== 'number' || pipeline.workers <= 1) return [];
    const path: Path = ['pipelines', name];
    return [
      ...checkCollectors(pipeline.collect, entries, path),
      ...checkProcessors(pipeline.process, entries, path),
    ];
  });
}

function checkCollectors(collect: unknown, entries: Entries, path: Path): ConfigMistake[] {
  const plugins = namesIn(collect).map(({ name }) => pluginOf(entries.collect?.[name]));
  if (plugins.length === 0 || plugins.some((plugin) => plugin === undefined || plugin === 'file')) return [];
  const message =
    'no collector here is a `file`; `workers` wants one: they take lines, and other events stay in the main thread';
  return [{ path: [...path, 'workers'], message }];
}

function checkProcessors(process: unknown, entries: Entries, path: Path): ConfigMistake[] {
  const processors = namesIn(process);
  if (processors.length === 0 && (process === undefined || Array.isArray(process))) {
    const message = 'there is no processor here; `workers` wants one: without, they would have nothing to do';
    return [{ path: [...path, 'workers'], message }];
  }
  return processors.flatMap(({ name, at }) => {
    const plugin = pluginOf(entries.process?.[name]);
    if (plugin === undefined || IN_WORKERS.includes(plugin)) return [];
    const message = `\`${name}\` is a \`${plugin}\` processor; \`workers\` wants \`regex_mask\` and \`entropy_mask\` only: others may share a cache or a host with the main thread`;
    return [{ path: [...path, 'process', ...at], message }];
  });
}
