import { isMapping, type Path } from '../checks/path.ts';
import type { CollectPlugin, ConfigMistake, ForwardPlugin } from '../sdk/plugin.ts';
import type { ValidEntry } from './build-config.ts';
import { namesIn, type ValidEntries } from './pipeline-entries.ts';

type Mapping = Readonly<Record<string, unknown>>;

/**
 * Checks what `exactly_once` requires: collectors that resume exactly, and one output file that can be cut back and that
 * nothing else writes to, in the order of collection. Values of a wrong type are left to the schemas.
 */
export function validateExactlyOnce(pipelines: Mapping, entries: ValidEntries): ConfigMistake[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || pipeline.exactly_once !== true) return [];
    const path: Path = ['pipelines', name];
    return [
      ...checkCollectors(pipeline, entries, path),
      ...checkForwarder(pipeline, entries, path),
      ...checkOrder(pipeline, path),
      ...checkSharing(name, pipelines, entries),
    ];
  });
}

function checkCollectors(pipeline: Mapping, entries: ValidEntries, path: Path): ConfigMistake[] {
  return namesIn(pipeline.collect).flatMap(({ name, at }) => {
    const entry = entries.collect.get(name);
    if (entry === undefined || (entry.plugin as CollectPlugin).resumes === true) return [];
    const message = `\`${name}\` is a \`${entry.data.plugin}\` collector, which cannot resume where a crash cut the output; \`exactly_once\` requires one that can, such as \`file\``;
    return [{ path: [...path, 'collect', ...at], message }];
  });
}

function checkForwarder(pipeline: Mapping, entries: ValidEntries, path: Path): ConfigMistake[] {
  const forwarders = namesIn(pipeline.forward);
  if (forwarders.length > 1) {
    const message = `found ${forwarders.length} forwarders; \`exactly_once\` requires one: what is delivered is cut in one place`;
    return [{ path: [...path, 'forward'], message }];
  }
  return forwarders.flatMap(({ name, at }) => {
    const entry = entries.forward.get(name);
    if (entry === undefined || exactFileOf(entry) !== undefined) return [];
    const message = `the output of \`${name}\`, a \`${entry.data.plugin}\` forwarder, cannot be cut back after a crash; \`exactly_once\` requires one that can, such as \`disk\` with \`filename\``;
    return [{ path: [...path, 'forward', ...at], message }];
  });
}

function checkOrder(pipeline: Mapping, path: Path): ConfigMistake[] {
  if (pipeline.ordered !== false) return [];
  const message =
    'found false; `exactly_once` requires true: in another order the output cannot be cut in one place';
  return [{ path: [...path, 'ordered'], message }];
}

/** Lines of others behind the last commit would be cut off after a crash. */
function checkSharing(own: string, pipelines: Mapping, entries: ValidEntries): ConfigMistake[] {
  const output = forwardersOf(pipelines[own])
    .map((name) => exactFileOf(entries.forward.get(name)))
    .find((found) => found !== undefined);
  if (output === undefined) return [];
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    const others =
      name === own ? deadLettersOf(pipeline) : [...forwardersOf(pipeline), ...deadLettersOf(pipeline)];
    if (!others.some((other) => exactFileOf(entries.forward.get(other)) === output)) return [];
    const who = name === own ? 'its own dead letter' : `pipeline \`${name}\``;
    const message = `${output} is also written to by ${who}; \`exactly_once\` requires a file of its own: what others write would be cut off after a crash`;
    return [{ path: ['pipelines', own, 'forward'], message }];
  });
}

function forwardersOf(pipeline: unknown): string[] {
  return isMapping(pipeline) ? namesIn(pipeline.forward).map(({ name }) => name) : [];
}

function deadLettersOf(pipeline: unknown): string[] {
  const delivery = isMapping(pipeline) ? pipeline.delivery : undefined;
  return isMapping(delivery) ? namesIn(delivery.dead_letter).map(({ name }) => name) : [];
}

function exactFileOf(entry: ValidEntry | undefined): string | undefined {
  const plugin = entry?.plugin as ForwardPlugin | undefined;
  return plugin?.exactFile?.({ config: entry?.data as never });
}
