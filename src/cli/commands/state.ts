import type { Command } from 'commander';
import { examples, hinted } from '../command-help.ts';
import { folder } from '../folder-option.ts';
import type { Ended, GlobalOptions } from '../program.ts';
import type { StateOptions } from '../state-folder.ts';
import { didYouMean } from './help.ts';

export interface ForgetOptions extends GlobalOptions, StateOptions {
  readonly pipeline?: string;
  readonly collector?: string;
}

export function addState(program: Command, ended: Ended): void {
  const state = hinted(program.command('state'), 'state')
    .usage('[options]')
    .summary('list how far files were read')
    .description(
      'Lists the checkpoints of a state folder: how far each collector of each pipeline has come in each file, and ' +
        'how much is left. A run that is using the folder is not disturbed.',
    )
    .option(
      '--state-dir <folder>',
      'the state folder (default: $XDG_STATE_HOME/millrace, or ~/.local/state/millrace)',
      folder,
    )
    .addHelpText('after', examples('millrace state', 'millrace state forget /var/log/nginx/access.log'))
    .allowExcessArguments(true)
    .action(async (_options: unknown, command: Command) => {
      const [name] = command.args;
      const known = command.commands.map((each) => each.name());
      if (name !== undefined) command.error(`error: unknown command '${name}'${didYouMean(name, known)}`);
      const { listState } = await import('../actions/state.ts');
      ended(await listState(command.optsWithGlobals<GlobalOptions & StateOptions>()));
    });

  hinted(state.command('forget <path-or-key>'), 'state forget')
    .usage('[options] PATH|KEY')
    .summary('forget a file, so that it is read from its beginning')
    .description(
      'Forgets how far a file was read: the next run reads it from its beginning. PATH is where the file was seen ' +
        'last, KEY what `millrace state` shows. No run may be using the state folder.',
    )
    .option('--pipeline <name>', 'what this pipeline remembers only')
    .option('--collector <name>', 'what this collector remembers only')
    .addHelpText(
      'after',
      examples(
        'millrace state forget /var/log/nginx/access.log',
        'millrace state forget 2049:131 --pipeline web',
      ),
    )
    .action(async (wanted: string, _options: unknown, command: Command) => {
      const { forgetState } = await import('../actions/state.ts');
      ended(await forgetState(wanted, command.optsWithGlobals<ForgetOptions>()));
    });
}
