import { loadConfig } from '../config/load-config.ts';
import { readAsWritten } from '../config/read-files.ts';
import { buildGraph, markUntested, type UntestedPart } from '../graph/build-graph.ts';
import { renderDot } from '../graph/dot.ts';
import type { PipelineGraph } from '../graph/graph.ts';
import { renderMermaid } from '../graph/mermaid.ts';
import { renderSvg } from '../graph/svg/svg.ts';
import { renderText } from '../graph/text.ts';
import type { TestResult } from '../testing/yaml/test-suite.ts';
import type { GraphOptions } from './commands.ts';
import { configFiles } from './config-files.ts';
import { ExitCode, UsageError } from './errors.ts';
import { coloursFor } from './terminal.ts';

const RENDERERS: Readonly<Record<GraphOptions['format'], (graph: PipelineGraph) => string>> = {
  text: (graph) =>
    renderText(graph, { columns: process.stdout.columns ?? 100, ...coloursFor(process.stdout) }),
  mermaid: renderMermaid,
  dot: renderDot,
  svg: renderSvg,
};

/** `millrace graph FILE…`: the pipelines of a configuration on standard output, or a ConfigError. */
export async function graph(args: readonly string[], { format, coverage }: GraphOptions): Promise<number> {
  const files = await configFiles(args);
  const { config } = await loadConfig(files, { ignoreTests: true });
  const whole = buildGraph(config, await readAsWritten(files));
  const pipelines = coverage === true ? markUntested(whole, await gapsOf(files)) : whole;
  process.stdout.write(RENDERERS[format](pipelines));
  return ExitCode.ok;
}

/** What the tests of the files do not reach; everything if there are none. */
async function gapsOf(files: readonly string[]): Promise<UntestedPart[]> {
  const { loadSuites } = await import('../testing/yaml/load-suites.ts');
  const { runTest } = await import('../testing/yaml/run-test.ts');
  const { coverageOf } = await import('../testing/gaps/coverage.ts');
  const suites = await loadSuites(files);
  const tests = suites.flatMap(({ tests }) => tests);
  if (tests.length === 0) throw new UsageError(`--coverage: ${files.join(', ')} has no tests`);
  const results: TestResult[] = [];
  for (const test of tests) results.push(await runTest(test, ''));
  const items = coverageOf(tests, results);
  return items.flatMap(({ isReached, node, mark }) => (isReached ? [] : [{ ...node, mark }]));
}
