import { type Command, InvalidArgumentError } from 'commander';
import { examples, hinted } from '../command-help.ts';
import type { Ended, GlobalOptions } from '../program.ts';
import { requireFiles } from '../require-files.ts';

export interface RunOptions extends GlobalOptions {
  readonly once?: boolean;
  readonly pipeline?: readonly string[];
  /** Seconds. */
  readonly drainTimeout: number;
}

export function addRun(program: Command, ended: Ended): void {
  hinted(program.command('run [file...]'), 'run')
    .usage('[options] FILE...')
    .summary('run the pipelines of configuration files')
    .description(
      'Runs every enabled pipeline until it ends, or until SIGTERM or SIGINT (Ctrl-C): then what is in flight ' +
        'drains, and a second signal exits at once. The exit code is 0, or 1 if a pipeline failed, or 2 if the ' +
        'configuration or the command line is wrong.',
    )
    .option('--once', 'end when every collector has reached the end of what there is')
    .option('--pipeline <name>', 'run only this pipeline; may be given several times', append)
    .option('--drain-timeout <seconds>', 'how long in-flight events may drain on stop', seconds, 10)
    .addHelpText(
      'after',
      examples(
        'millrace run pipelines.yaml',
        'millrace run base.yaml site.yaml --pipeline web --once',
        'millrace run pipelines.yaml --log-format json 2>run.log',
      ),
    )
    .action(async (files: string[], _options: unknown, command: Command) => {
      requireFiles('run', files);
      const { run } = await import('../actions/run.ts');
      ended(await run(files, command.optsWithGlobals<RunOptions>()));
    });
}

function append(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('It must be a number of seconds, 0 or more.');
  }
  return value;
}
