import type { Command } from 'commander';
import { examples, hinted } from '../command-help.ts';
import type { Ended } from '../program.ts';

export interface RedactCommandOptions {
  readonly packs?: string;
  readonly config?: string;
}

export function addPacks(program: Command, ended: Ended): void {
  hinted(program.command('packs [name]'), 'packs')
    .usage('[NAME]')
    .summary('list the redaction packs, or the rules of one')
    .description(
      'Lists the redaction packs; with NAME, the rules of one, where each comes from, and examples.',
    )
    .addHelpText('after', examples('millrace packs', 'millrace packs secrets/keys'))
    .action(async (name: string | undefined) => {
      const { packs } = await import('../actions/packs.ts');
      ended(packs(name));
    });
}

export function addRedact(program: Command, ended: Ended): void {
  withRules(program.command('redact [file...]'), 'redact')
    .usage('[options] [FILE...]')
    .summary('copy lines to standard output, masked')
    .description(
      'Copies lines from files, or from standard input, to standard output, with the secrets in them masked. One line comes out for each line in.',
    )
    .addHelpText(
      'after',
      examples('kubectl logs app | millrace redact', 'millrace redact --packs secrets/keys app.log'),
    )
    .action(async (files: string[], options: RedactCommandOptions) => {
      const { redact } = await import('../actions/redact.ts');
      ended(await redact(files, options));
    });
}

export function addScan(program: Command, ended: Ended): void {
  withRules(program.command('scan [file...]'), 'scan')
    .usage('[options] FILE...')
    .summary('report what would be masked, and where')
    .description(
      'Reports the place and the rule of everything that would be masked in files, never the content. The exit code is 1 if there is anything.',
    )
    .addHelpText(
      'after',
      examples('millrace scan app.log', 'millrace scan --packs secrets/keys,pii/payment *.log'),
    )
    .action(async (files: string[], options: RedactCommandOptions) => {
      const { scan } = await import('../actions/redact.ts');
      ended(await scan(files, options));
    });
}

function withRules(command: Command, name: string): Command {
  return hinted(command, name)
    .option('--packs <names>', 'the packs to apply, with commas between them')
    .option('--config <file>', 'a configuration whose `redact` processor says what to mask');
}
