import { join } from 'node:path';
import { isMapping, type Path } from '../checks/path.ts';
import type { ConfigMistake } from '../models/plugin.ts';
import { type Entries, namesIn, pluginOf } from './pipeline-entries.ts';

type Mapping = Readonly<Record<string, unknown>>;

/**
 * Checks what `exactly_once` needs: collectors that know how far they have come (`file`), and one file that nobody
 * else writes to (`disk` with `filename`), in the order of collection. What has the wrong type is left to the schemas.
 */
export function validateExactlyOnce(pipelines: Mapping, entries: Entries): ConfigMistake[] {
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

function checkCollectors(pipeline: Mapping, entries: Entries, path: Path): ConfigMistake[] {
  return namesIn(pipeline.collect).flatMap(({ name, at }) => {
    const plugin = pluginOf(entries.collect?.[name]);
    if (plugin === undefined || plugin === 'file') return [];
    const message = `\`${name}\` is a \`${plugin}\` collector; \`exactly_once\` wants collectors \`file\` only: no other can go back to where a crash cut the output`;
    return [{ path: [...path, 'collect', ...at], message }];
  });
}

function checkForwarder(pipeline: Mapping, entries: Entries, path: Path): ConfigMistake[] {
  const forwarders = namesIn(pipeline.forward);
  if (forwarders.length > 1) {
    const message = `found ${forwarders.length} forwarders; \`exactly_once\` wants one: what is delivered is cut in one place`;
    return [{ path: [...path, 'forward'], message }];
  }
  return forwarders.flatMap(({ name, at }) => {
    const entry = entries.forward?.[name];
    const plugin = pluginOf(entry);
    if (plugin === undefined || outputOf(entry) !== undefined) return [];
    const found = plugin === 'disk' ? 'a `disk` forwarder without `filename`' : `a \`${plugin}\` forwarder`;
    const message = `\`${name}\` is ${found}; \`exactly_once\` wants a \`disk\` forwarder with \`filename\`: no other output can be cut back`;
    return [{ path: [...path, 'forward', ...at], message }];
  });
}

function checkOrder(pipeline: Mapping, path: Path): ConfigMistake[] {
  if (pipeline.ordered !== false) return [];
  const message =
    'found false; `exactly_once` wants true: in another order the output cannot be cut in one place';
  return [{ path: [...path, 'ordered'], message }];
}

/** Lines of others behind the last commit would be cut off after a crash. */
function checkSharing(own: string, pipelines: Mapping, entries: Entries): ConfigMistake[] {
  const output = forwardersOf(pipelines[own])
    .map((name) => outputOf(entries.forward?.[name]))
    .find((found) => found !== undefined);
  if (output === undefined) return [];
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    const others =
      name === own ? deadLettersOf(pipeline) : [...forwardersOf(pipeline), ...deadLettersOf(pipeline)];
    if (!others.some((other) => outputOf(entries.forward?.[other]) === output)) return [];
    const who = name === own ? 'its own dead letter' : `pipeline \`${name}\``;
    const message = `${output} is also written to by ${who}; \`exactly_once\` wants a file of its own: what others write would be cut off after a crash`;
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

/** The file that a `disk` forwarder appends to. */
function outputOf(entry: unknown): string | undefined {
  if (!isMapping(entry) || entry.plugin !== 'disk') return undefined;
  const { path, filename } = entry;
  return typeof path === 'string' && typeof filename === 'string' ? join(path, filename) : undefined;
}
