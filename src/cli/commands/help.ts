import type { Command } from 'commander';
import { nearest } from '../../sdk/nearest.ts';
import { examples, hinted } from '../command-help.ts';

/** In place of commander's own, which answers a name that it does not know with the help of everything. */
export function addHelp(program: Command): void {
  hinted(program.helpCommand(false).command('help [command...]'))
    .usage('[command]')
    .summary('print the help of a command')
    .description('Prints the help of a command, or of millrace.')
    .addHelpText('after', examples('millrace help run', 'millrace help state forget'))
    .action((names: string[], _options: unknown, help: Command) => {
      let command = program;
      for (const name of names) {
        const known = command.commands.map((each) => each.name());
        const found = command.commands.find((each) => each.name() === name);
        if (found === undefined) help.error(`error: unknown command '${name}'${didYouMean(name, known)}`);
        else command = found;
      }
      command.help();
    });
}

export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? '' : `\n(Did you mean ${near}?)`;
}
