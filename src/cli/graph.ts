import { loadConfig } from '../config/load-config.ts';
import { readAsWritten } from '../config/read-files.ts';
import { buildGraph } from '../graph/build-graph.ts';
import { renderDot } from '../graph/dot.ts';
import type { PipelineGraph } from '../graph/graph.ts';
import { renderMermaid } from '../graph/mermaid.ts';
import { renderSvg } from '../graph/svg/svg.ts';
import { renderText } from '../graph/text.ts';
import type { GraphOptions } from './commands.ts';
import { configFiles } from './config-files.ts';
import { ExitCode } from './errors.ts';
import { coloursFor } from './terminal.ts';

const RENDERERS: Readonly<Record<GraphOptions['format'], (graph: PipelineGraph) => string>> = {
  text: (graph) =>
    renderText(graph, { columns: process.stdout.columns ?? 100, ...coloursFor(process.stdout) }),
  mermaid: renderMermaid,
  dot: renderDot,
  svg: renderSvg,
};

/** `millrace graph FILE…`: the pipelines of a configuration on standard output, or a ConfigError. */
export async function graph(args: readonly string[], { format }: GraphOptions): Promise<number> {
  const files = await configFiles(args);
  const { config } = await loadConfig(files, { ignoreTests: true });
  const pipelines = buildGraph(config, await readAsWritten(files));
  process.stdout.write(RENDERERS[format](pipelines));
  return ExitCode.ok;
}
