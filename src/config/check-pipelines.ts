import { isDeepStrictEqual } from 'node:util';
import type { UsedVariable } from '../sdk/checks/shown-values.ts';
import type { PipelineConfig } from '../sdk/config.ts';
import type { ConfigProblem, PipelineEntry, PipelinePlace, PipelineProblem } from '../sdk/plugin.ts';
import type { ValidEntries, ValidEntry } from './build-config.ts';
import { KINDS, namesIn } from './validate-pipelines.ts';

/** An entry at its place in a pipeline. */
interface Placed {
  readonly plugin: ValidEntry['plugin'];
  readonly entry: PipelineEntry;
  readonly path: ConfigProblem['path'];
}

/** The plugin knows the type of its own configuration. */
type Check = (place: PipelinePlace<unknown>) => readonly PipelineProblem[];

/**
 * Asks the plugins of each pipeline what does not fit around them. Warnings are left out for a pipeline that is disabled,
 * or of which an entry is wrong in itself: that may be the one that a plugin misses.
 *
 * @param written the pipelines as they are in the configuration
 */
export function askPlugins(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  written: Readonly<Record<string, unknown>>,
  entries: ValidEntries,
): ConfigProblem[] {
  return [...pipelines].flatMap(([name, pipeline]) => {
    const { placed, isComplete } = placedEntries(name, written[name], entries);
    const problems = placed.flatMap((own) => problemsOf(own, placed, pipeline));
    const isWarned = pipeline.enabled && isComplete;
    return problems.filter(({ severity }) => isWarned || severity !== 'warning');
  });
}

/**
 * The problems that a check finds, in messages that have references where they quote variables. A check that is told
 * references in place of the values cannot quote them: if its message is the same with the values put in, it is taken.
 *
 * @param again the check that is told references
 * @param used the variables that it is told of
 */
export function inReferences(
  problems: readonly ConfigProblem[],
  again: () => readonly ConfigProblem[],
  used: readonly UsedVariable[],
): readonly ConfigProblem[] {
  if (problems.length === 0 || used.length === 0) return problems;
  const values = new Map(
    used.flatMap(({ name, value, shown }) => (shown === undefined ? [[name, value]] : [])),
  );
  const filled = <T>(text: T) =>
    typeof text === 'string'
      ? text.replace(/\$\{(\w+)(?::-[^}]*)?\}/g, (whole, name) => values.get(name) ?? whole)
      : text;
  const words = ({ path, message, suggestion }: ConfigProblem) => [message, suggestion, ...path];
  const others = again();
  return problems.map((problem) => {
    const isSame = (other: ConfigProblem) =>
      isDeepStrictEqual(words(other).map(filled), words(problem)) && other.severity === problem.severity;
    return others.find(isSame) ?? problem;
  });
}

function placedEntries(pipeline: string, written: unknown, entries: ValidEntries) {
  const lists = written as Readonly<Record<string, unknown>>;
  const found = KINDS.flatMap((kind) =>
    namesIn(lists[kind]).map(({ name, at }): Placed | undefined => {
      const valid: ValidEntry | undefined = entries[kind].get(name);
      if (valid === undefined) return undefined;
      const { plugin, data } = valid;
      const entry = { name, kind, plugin: String(data.plugin), config: data, traits: plugin.traits ?? {} };
      return { plugin, entry, path: ['pipelines', pipeline, kind, ...at] };
    }),
  );
  const placed = found.filter((one) => one !== undefined);
  return { placed, isComplete: placed.length === found.length };
}

function problemsOf(own: Placed, placed: readonly Placed[], pipeline: PipelineConfig): ConfigProblem[] {
  const { plugin, entry, path } = own;
  const check = plugin.checkPipeline?.bind(plugin) as Check | undefined;
  if (check === undefined) return [];
  const others = (isBefore: boolean) =>
    placed.filter(
      (other, index) => isBefore === index < placed.indexOf(own) && other !== own && meets(entry, other),
    );
  const toEntries = (list: readonly Placed[]) => list.map((one) => one.entry);
  const place = {
    name: entry.name,
    config: entry.config,
    pipeline,
    before: toEntries(others(true)),
    after: toEntries(others(false)),
  };
  try {
    return check(place).map(({ at, message, severity = 'error' }) => ({
      path: placed.find((other) => other.entry === at)?.path ?? path,
      message,
      severity,
    }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ path, message: `checkPipeline of its plugin failed: ${reason}` }];
  }
}

/** Events go from each collector through all processors to each forwarder, and from no collector to another one. */
function meets({ kind }: PipelineEntry, { entry }: Placed): boolean {
  return kind === 'process' || kind !== entry.kind;
}
