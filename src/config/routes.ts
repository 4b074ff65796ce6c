import type * as z from 'zod';
import type { compileCondition } from '../../plugins/expressions/compile-condition.ts';
import { isMapping, type Path } from '../checks/problem.ts';
import { type PipelineConfig, Route } from '../sdk/config.ts';
import type { MergedConfig } from './merged-config.ts';

export type CompileCondition = typeof compileCondition;

/** A pipeline whose routes have been checked for their form. */
export type ParsedPipeline = z.output<typeof PipelineConfig>;

/** The forwarders of a pipeline, with compiled conditions for those that have one. */
export function routesOf(
  forward: ParsedPipeline['forward'],
  path: Path,
  config: MergedConfig,
  compileCondition: CompileCondition | undefined,
): PipelineConfig['forward'] {
  const items: readonly ParsedPipeline['forward'][number][] = forward;
  return items.flatMap((item, index): (string | Route)[] => {
    if (typeof item === 'string') return [item];
    const here = [...path, index, 'when'];
    const compiled = compileCondition?.(item.when);
    if (compiled === undefined || config.isBroken(here)) return [];
    if (!('problem' in compiled)) return [new Route(item, compiled)];
    const message = `found ${config.describe(here)}; expected a valid condition (${compiled.problem})`;
    config.add({ path: here, message, foreign: true });
    return [];
  });
}

/** Whether a pipeline has a route with a condition, which needs a compiler. */
function hasConditions({ sections }: MergedConfig): boolean {
  return Object.values(sections.get('pipelines') ?? {}).some(
    (pipeline) => isMapping(pipeline) && Array.isArray(pipeline.forward) && pipeline.forward.some(isMapping),
  );
}

/** What compiles the conditions of a configuration, if it has any. It is loaded on demand: the language takes 40 ms. */
export async function conditionCompiler(config: MergedConfig): Promise<CompileCondition | undefined> {
  if (!hasConditions(config)) return undefined;
  return (await import('../../plugins/expressions/compile-condition.ts')).compileCondition;
}
