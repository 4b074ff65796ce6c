import { isMapping, type Path } from '../checks/path.ts';
import { moduleUrlOf } from '../modules/module-url.ts';
import type { CollectPlugin, ConfigMistake, ProcessPlugin } from '../sdk/plugin.ts';
import type { ValidEntry } from './build-config.ts';
import { namesIn, type ValidEntries } from './pipeline-entries.ts';
import { builtinPlugins } from './registry.ts';

/**
 * Checks what `workers` requires: lines to hand on, and processors that can run in worker threads. Values of a wrong type
 * are left to the schemas.
 */
export function validateWorkers(
  pipelines: Readonly<Record<string, unknown>>,
  entries: ValidEntries,
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

function checkCollectors(collect: unknown, entries: ValidEntries, path: Path): ConfigMistake[] {
  const collectors = namesIn(collect).map(({ name }) => entries.collect.get(name));
  const mayEmitLines = (entry: ValidEntry | undefined) =>
    entry === undefined || (entry.plugin as CollectPlugin).emitsLines === true;
  if (collectors.length === 0 || collectors.some(mayEmitLines)) return [];
  const message =
    'no collector here emits lines; `workers` requires one that does, such as `file`: other events stay in the main thread';
  return [{ path: [...path, 'workers'], message }];
}

function checkProcessors(process: unknown, entries: ValidEntries, path: Path): ConfigMistake[] {
  const processors = namesIn(process);
  if (processors.length === 0 && (process === undefined || Array.isArray(process))) {
    const message =
      'there is no processor here; `workers` requires one: otherwise workers have nothing to do';
    return [{ path: [...path, 'workers'], message }];
  }
  return processors.flatMap(({ name, at }) => {
    const entry = entries.process.get(name);
    if (entry === undefined) return [];
    const mistake = mistakeOf(entry.plugin as ProcessPlugin);
    if (mistake === undefined) return [];
    const message = `\`${name}\`, a \`${entry.data.plugin}\` processor, ${mistake}`;
    return [{ path: [...path, 'process', ...at], message }];
  });
}

function mistakeOf(plugin: ProcessPlugin): string | undefined {
  if (plugin.runsInWorkers !== true) {
    return 'cannot run in a worker, which `workers` requires: it does not declare `runsInWorkers`';
  }
  const isBuiltIn = [...builtinPlugins('process').values()].includes(plugin);
  if (isBuiltIn || moduleUrlOf(plugin) !== undefined) return undefined;
  return 'was registered by the program, and a worker cannot load it; `workers` requires a module of its own';
}
