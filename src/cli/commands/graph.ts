import { type Command, Option } from 'commander';
import { examples, FILE_HELP, hinted } from '../command-help.ts';
import type { Ended } from '../program.ts';
import { requireFiles } from '../require-files.ts';

export const GRAPH_FORMATS = ['text', 'mermaid', 'dot', 'svg'] as const;

export interface GraphOptions {
  readonly format: (typeof GRAPH_FORMATS)[number];
}

export function addGraph(program: Command, ended: Ended): void {
  hinted(program.command('graph [file...]'), 'graph')
    .usage('[options] FILE...')
    .summary('draw the pipelines of configuration files')
    .description(
      'Draws the pipelines of configuration files, from collectors to forwarders, with the settings that matter. ' +
        'Starts nothing. Values of environment variables, expressions and arguments are never shown.',
    )
    .addOption(
      new Option('--format <format>', 'for the terminal, for Markdown, for Graphviz, or a picture')
        .choices(GRAPH_FORMATS)
        .default('text'),
    )
    .addHelpText('after', FILE_HELP)
    .addHelpText(
      'after',
      examples(
        'millrace graph pipelines.yaml',
        'millrace graph pipelines.yaml --format svg > pipelines.svg',
        'millrace graph pipelines.yaml --format mermaid >> README.md',
      ),
    )
    .action(async (files: string[], options: GraphOptions) => {
      requireFiles('graph', files);
      const { graph } = await import('../actions/graph.ts');
      ended(await graph(files, options));
    });
}
