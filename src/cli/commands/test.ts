import type { Command } from 'commander';
import { examples, FILE_HELP, hinted } from '../command-help.ts';
import type { Ended, GlobalOptions } from '../program.ts';
import { requireFiles } from '../require-files.ts';

export interface TestOptions extends GlobalOptions {
  /** The folder for pictures. */
  readonly svg?: string;
  readonly text?: boolean;
  readonly junit?: string;
  readonly filter?: string;
  readonly watch?: boolean;
}

export function addTest(program: Command, ended: Ended): void {
  hinted(program.command('test [file...]'), 'test')
    .usage('[options] FILE...')
    .summary('run the tests of configuration files, in virtual time')
    .description(
      'Runs the tests of each FILE: those of its section `tests`, and of a `*.test.yaml` beside it. Collectors ' +
        'emit what a test says, forwarders deliver nowhere, and days pass in milliseconds. The exit code is 0, or ' +
        '1 if a test failed, or 2 if a configuration or a test is wrong or there are no tests.',
    )
    .option('--filter <name>', 'only tests whose name contains this, or matches /this/')
    .option('--text', 'draw the run of every test, not only of those that failed')
    .option('--svg <folder>', 'save a picture of every test in this folder')
    .option('--junit <file>', 'save the results as JUnit XML')
    .option('--watch', 'run again when a file changes, until Ctrl-C')
    .addHelpText('after', FILE_HELP)
    .addHelpText(
      'after',
      examples(
        'millrace test pipelines.yaml',
        'millrace test examples/*.yaml --junit out/junit.xml',
        "millrace test pipelines.yaml --filter 'keys are masked' --text",
      ),
    )
    .action(async (files: string[], _options: unknown, command: Command) => {
      requireFiles('test', files);
      const { test } = await import('../actions/test.ts');
      ended(await test(files, command.optsWithGlobals<TestOptions>()));
    });
}
