import type { Command } from 'commander';
import { examples, hinted } from '../command-help.ts';
import type { Ended } from '../program.ts';

export function addPlugins(program: Command, ended: Ended): void {
  hinted(program.command('plugins [kind] [name]'), 'plugins')
    .usage('[KIND [NAME]]')
    .summary('list the built-in plugins, or describe one')
    .description('Lists the built-in plugins; with KIND (collect, process, forward) and NAME, describes one.')
    .addHelpText('after', examples('millrace plugins', 'millrace plugins process regex_mask'))
    .action(async (kind: string | undefined, name: string | undefined) => {
      const { plugins } = await import('../actions/plugins.ts');
      ended(plugins(kind, name));
    });
}
