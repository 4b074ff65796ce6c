import type * as z from 'zod';
import type { compileCondition } from '../../plugins/expressions/compile-condition.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import { type PipelineConfig, Route, type RouteCondition } from '../sdk/config.ts';
import type { MergedConfig } from './merged-config.ts';

export type CompileCondition = typeof compileCondition;

/** A pipeline whose routes have been checked for their form. */
export type ParsedPipeline = z.output<typeof PipelineConfig>;

/**
 * Compiles the conditions of a pipeline's routes, by their positions. Those that are not valid go to the log, also if
 * something else of the pipeline is wrong.
 */
export function conditionsIn(
  pipeline: unknown,
  path: Path,
  config: MergedConfig,
  compileCondition: CompileCondition | undefined,
): ReadonlyMap<number, RouteCondition> {
  const routes: unknown[] = isMapping(pipeline) && Array.isArray(pipeline.forward) ? pipeline.forward : [];
  const conditions = new Map<number, RouteCondition>();
  for (const [index, route] of routes.entries()) {
    const here = [...path, 'forward', index, 'when'];
    if (!isMapping(route) || typeof route.when !== 'string' || config.isBroken(here)) continue;
    const compiled = compileCondition?.(route.when);
    if (compiled === undefined) continue;
    if (!('problem' in compiled)) {
      conditions.set(index, compiled);
      continue;
    }
    const message = `found ${config.describe(here)}; expected a valid condition (${compiled.problem})`;
    config.add({ path: here, message, foreign: true });
  }
  return conditions;
}

/** The forwarders of a pipeline, with the conditions of those that have a valid one. */
export function routesOf(
  forward: ParsedPipeline['forward'],
  conditions: ReadonlyMap<number, RouteCondition>,
): PipelineConfig['forward'] {
  const items: readonly ParsedPipeline['forward'][number][] = forward;
  return items.flatMap((item, index): (string | Route)[] => {
    if (typeof item === 'string') return [item];
    const condition = conditions.get(index);
    return condition === undefined ? [] : [new Route(item, condition)];
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
  return hasConditions(config) ? loadConditionCompiler() : undefined;
}

/** What compiles conditions, such as those of tests. */
export async function loadConditionCompiler(): Promise<CompileCondition> {
  return (await import('../../plugins/expressions/compile-condition.ts')).compileCondition;
}
