import { nameListing } from '../sdk/checks/describe.ts';
import { isMapping, type Path, type Problem } from '../sdk/checks/problem.ts';
import { nearest } from '../sdk/nearest.ts';
import type { ConfigProblem, PluginKind } from '../sdk/plugin.ts';
import { truncate } from '../sdk/printable.ts';
import type { MergedConfig } from './merged-config.ts';
import { PLUGIN_SECTIONS } from './sections.ts';

/** The names of the entries of each kind; undefined for a section that could not be read. */
export type EntryNames = Readonly<Record<PluginKind, readonly string[] | undefined>>;

export const NOUNS = { collect: 'collector', process: 'processor', forward: 'forwarder' } as const;
const TWICE = { collect: 'come', forward: 'go there' } as const;
/** In the order in which events pass them. */
export const KINDS = Object.keys(NOUNS) as PluginKind[];

/**
 * `_validate_pipelines` of docs/specification.md#21-analyticsconfig: checks what pipelines say of the rest of the configuration. The strings in `collect`,
 * `process` and `forward` name entries of their sections, a pipeline has at least one collector and one
 * forwarder, and none of them twice, and `delivery.dead_letter` names a forwarder.
 *
 * Takes the pipelines as they are written and leaves what has the wrong type to their schema. Paths of the
 * problems begin at `pipelines`.
 */
export function _validate_pipelines(
  pipelines: Readonly<Record<string, unknown>>,
  names: EntryNames,
): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([pipelineName, pipeline]) => {
    if (!isMapping(pipeline)) return [];
    const path: Path = ['pipelines', pipelineName];
    const problems = KINDS.flatMap((kind) => checkList(pipeline[kind], kind, names, [...path, kind]));
    const deadLetter = isMapping(pipeline.delivery) ? pipeline.delivery.dead_letter : undefined;
    return [...problems, ...checkName(deadLetter, 'forward', names, [...path, 'delivery', 'dead_letter'])];
  });
}

/**
 * The names in a list of a pipeline, or the only one, with their places in it. A route of `forward` names its forwarder
 * by `to`.
 */
export function namesIn(list: unknown): { readonly name: string; readonly at: Path }[] {
  if (typeof list === 'string') return [{ name: list, at: [] }];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, index) => {
    const name = isMapping(item) ? item.to : item;
    if (typeof name !== 'string') return [];
    return [{ name, at: isMapping(item) ? [index, 'to'] : [index] }];
  });
}

function checkList(list: unknown, kind: PluginKind, names: EntryNames, path: Path): ConfigProblem[] {
  if (!Array.isArray(list)) return checkName(list, kind, names, path);
  if (list.length === 0 && kind !== 'process') {
    return [{ path, message: `found an empty list; expected at least one name of a ${NOUNS[kind]}` }];
  }
  const found = namesIn(list);
  return found.flatMap(({ name, at }, index) => {
    const here = [...path, ...at];
    const first = found.findIndex((other) => other.name === name);
    // Applying a processor twice can be intended.
    if (kind === 'process' || first === index) return checkName(name, kind, names, here);
    return [
      { path: here, message: `\`${truncate(name)}\` is named twice: each event would ${TWICE[kind]} twice` },
    ];
  });
}

function checkName(name: unknown, kind: PluginKind, names: EntryNames, path: Path): ConfigProblem[] {
  const known = names[kind];
  if (typeof name !== 'string' || known === undefined || known.includes(name)) return [];
  const shown = `\`${truncate(name)}\``;
  const other = KINDS.find((otherKind) => names[otherKind]?.includes(name));
  if (other !== undefined) {
    return [{ path, message: `${shown} is a ${NOUNS[other]}; expected the name of a ${NOUNS[kind]}` }];
  }
  const suggestion = nearest(name, known);
  const choice =
    known.length === 0 ? `\`${PLUGIN_SECTIONS[kind]}\` has none` : `there are ${nameListing(known)}`;
  const hint = suggestion === undefined ? `; ${choice}` : '';
  return [{ path, message: `unknown ${NOUNS[kind]} ${shown}${hint}`, suggestion }];
}

/** What is right in a valid configuration, and hardly meant: no pipelines, and entries that none of them names. */
export function findWarnings({ sections }: MergedConfig): Problem[] {
  const pipelines = Object.values(sections.get('pipelines') ?? {}).filter(isMapping);
  if (pipelines.length === 0)
    return [{ path: ['pipelines'], message: 'there are none, so nothing will run' }];
  return (Object.keys(PLUGIN_SECTIONS) as PluginKind[]).flatMap((kind) => {
    const section = PLUGIN_SECTIONS[kind];
    const used = new Set(pipelines.flatMap((pipeline) => usedBy(pipeline, kind)));
    return Object.keys(sections.get(section) ?? {})
      .filter((name) => !used.has(name))
      .map((name) => ({ path: [section, name], at: 'key' as const, message: 'no pipeline uses it' }));
  });
}

function usedBy(pipeline: Readonly<Record<string, unknown>>, kind: PluginKind): unknown[] {
  const names = namesIn(pipeline[kind]).map(({ name }) => name);
  const isDeadLetter = kind === 'forward' && isMapping(pipeline.delivery);
  return isDeadLetter ? [...names, (pipeline.delivery as Record<string, unknown>).dead_letter] : names;
}
