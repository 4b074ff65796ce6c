import { nameListing } from '../sdk/checks/describe.ts';
import { forwardersOf, type PipelineConfig } from '../sdk/config.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import { WrittenFile } from '../sdk/written-file.ts';
import type { ValidEntries } from './build-config.ts';

type Pipelines = ReadonlyMap<string, PipelineConfig>;
/** Whether a collector reads what a forwarder writes, both by name. */
type IsReading = (collector: string, forwarder: string) => boolean;

const WITHOUT_END =
  'and each event would become another one, without end; write to a folder that no path of the collector names';
/** A path that is none of the collector's, as it seems, is what a link is for. */
const HOW = 'by its path or by a hard or symbolic link to it';

/** Refuses pipelines whose output comes back to them, be it by way of others: events would go round without end. */
export function validateOwnOutput(pipelines: Pipelines, entries: ValidEntries): ConfigProblem[] {
  const isReading = readings(entries);
  return [...ownOutputs(pipelines, isReading), ...rings(pipelines, isReading)];
}

function ownOutputs(pipelines: Pipelines, isReading: IsReading): ConfigProblem[] {
  return [...pipelines].flatMap(([name, pipeline]) =>
    pipeline.collect.flatMap((collector, index) => {
      const own = outputsOf(pipeline).filter((forwarder) => isReading(collector, forwarder));
      if (own.length === 0) return [];
      const message = `\`${collector}\` reads what ${nameListing(own)} of the same pipeline writes, ${HOW}, ${WITHOUT_END}`;
      return [{ path: ['pipelines', name, 'collect', index], message }];
    }),
  );
}

/** Of two pipelines or more, all of them enabled: one that is not may be the way back, kept for the time after. */
function rings(pipelines: Pipelines, isReading: IsReading): ConfigProblem[] {
  const enabled = [...pipelines].filter(([, { enabled }]) => enabled);
  const readers = new Map<string, string[]>();
  const readersOf = (forwarder: string) => {
    const known =
      readers.get(forwarder) ??
      enabled.flatMap(([name, { collect }]) =>
        collect.some((collector) => isReading(collector, forwarder)) ? [name] : [],
      );
    readers.set(forwarder, known);
    return known;
  };
  const next = new Map(
    enabled.map(([name, pipeline]) => [
      name,
      new Set(
        outputsOf(pipeline)
          .flatMap(readersOf)
          .filter((reader) => reader !== name),
      ),
    ]),
  );
  return findRings(next).map((ring) => {
    const [first = '', ...others] = ring;
    const last = others.at(-1) ?? first;
    const outputs = outputsOf(pipelines.get(last));
    const collect = pipelines.get(first)?.collect ?? [];
    const index = collect.findIndex((collector) => outputs.some((output) => isReading(collector, output)));
    const writing = outputs.filter((output) => isReading(collect[index] ?? '', output));
    const message =
      `\`${collect[index]}\` reads what ${nameListing(writing)} of pipeline \`${last}\` writes, ${HOW}, which comes from this ` +
      `pipeline: ${[...ring, first].map((name) => `\`${name}\``).join(' → ')}, ${WITHOUT_END}`;
    return { path: ['pipelines', first, 'collect', index], message };
  });
}

function outputsOf(pipeline: PipelineConfig | undefined): readonly string[] {
  if (pipeline === undefined) return [];
  const { dead_letter } = pipeline.delivery;
  return [...forwardersOf(pipeline), ...(dead_letter === undefined ? [] : [dead_letter])];
}

function readings(entries: ValidEntries): IsReading {
  const files = new Map<string, WrittenFile>();
  for (const [name, { plugin, data }] of entries.forward) {
    const path = plugin.traits?.writes?.({ config: data as never });
    if (path !== undefined) files.set(name, new WrittenFile(path));
  }
  return (collector, forwarder) => {
    const file = files.get(forwarder);
    const from = entries.collect.get(collector);
    if (file === undefined || from === undefined) return false;
    const { path } = file;
    return from.plugin.traits?.reads?.({ config: from.data as never, path, file }) === true;
  };
}

/**
 * Ways that lead back to where they began: `['a', 'b']` for a → b → a. At least one if there is any; of rings that
 * share a way not each is found, but another one is when those are broken.
 */
function findRings(next: ReadonlyMap<string, Iterable<string>>): string[][] {
  const rings: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (name: string) => {
    const begin = trail.indexOf(name);
    if (begin >= 0) rings.push(trail.slice(begin));
    if (begin >= 0 || done.has(name)) return;
    trail.push(name);
    for (const other of next.get(name) ?? []) visit(other);
    trail.pop();
    done.add(name);
  };
  for (const name of next.keys()) visit(name);
  return rings;
}
