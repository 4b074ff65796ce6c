import type { Command } from 'commander';
import { examples, hinted } from '../command-help.ts';
import type { Ended } from '../program.ts';

export function addSchema(program: Command, ended: Ended): void {
  hinted(program.command('schema'), 'schema')
    .summary('print the JSON Schema of configuration files')
    .description('Prints the JSON Schema of configuration files, for editors and other tools.')
    .addHelpText('after', examples('millrace schema > millrace.schema.json'))
    .action(async () => {
      const { schema } = await import('../actions/schema.ts');
      ended(schema());
    });
}
