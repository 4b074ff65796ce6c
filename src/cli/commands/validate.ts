import type { Command } from 'commander';
import { examples, FILE_HELP, hinted } from '../command-help.ts';
import type { Ended, GlobalOptions } from '../program.ts';
import { requireFiles } from '../require-files.ts';

export function addValidate(program: Command, ended: Ended): void {
  hinted(program.command('validate [file...]'), 'validate')
    .usage('FILE...')
    .summary('check configuration files')
    .description('Checks configuration files and reports every problem with its line. Starts nothing.')
    .addHelpText('after', FILE_HELP)
    .addHelpText(
      'after',
      examples('millrace validate pipelines.yaml', 'millrace validate base.yaml site.yaml'),
    )
    .action(async (files: string[], _options: unknown, command: Command) => {
      requireFiles('validate', files);
      const { validate } = await import('../actions/validate.ts');
      ended(await validate(files, command.optsWithGlobals<GlobalOptions>()));
    });
}
