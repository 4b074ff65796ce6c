import { type Command, InvalidArgumentError, Option } from 'commander';
import { examples, FILE_HELP, hinted } from '../command-help.ts';
import { UsageError } from '../exit-code.ts';
import { folder } from '../folder-option.ts';
import type { Ended, GlobalOptions } from '../program.ts';
import { requireFiles } from '../require-files.ts';
import type { StateOptions } from '../state-folder.ts';

export interface RunOptions extends GlobalOptions, StateOptions {
  readonly once?: boolean;
  readonly pipeline?: readonly string[];
  /** Seconds. */
  readonly drainTimeout: number;
  /** Seconds. */
  readonly giveUpAfter: number;
  readonly watch?: boolean;
  /** MiB. */
  readonly readMemory: number;
}

export function addRun(program: Command, ended: Ended): void {
  hinted(program.command('run [file...]'), 'run')
    .usage('[options] FILE...')
    .summary('run the pipelines of configuration files')
    .description(
      'Runs every enabled pipeline until it ends, or until SIGTERM or SIGINT (Ctrl-C): then what is in flight ' +
        'drains, and a second signal exits at once. SIGHUP loads the configuration again and reopens output files. ' +
        'How far files were read is kept in a state folder, so that the next run goes on there. The exit code is ' +
        '0, or 1 if a pipeline failed, or 2 if the configuration or the command line is wrong.',
    )
    .option('--once', 'end when every collector has reached the end of what there is')
    .option('--pipeline <name>', 'run only this pipeline; may be given several times', append)
    .option('--drain-timeout <seconds>', 'how long in-flight events may drain on stop', seconds, 10)
    .option(
      '--give-up-after <seconds>',
      'with --once: how long a forwarder may fail before its pipeline fails',
      seconds,
      300,
    )
    .option('--read-memory <mib>', 'how much memory files are read into, over all pipelines', mebibytes, 64)
    .option('--watch', 'load the configuration again when a FILE changes')
    .option(
      '--state-dir <folder>',
      'where to keep how far files were read (default: $XDG_STATE_HOME/millrace, or ~/.local/state/millrace)',
      folder,
    )
    .addOption(
      new Option('--no-state', 'keep no state: every run starts like the first one').conflicts('stateDir'),
    )
    .addHelpText('after', FILE_HELP)
    .addHelpText(
      'after',
      examples(
        'millrace run pipelines.yaml',
        'millrace run base.yaml site.yaml --pipeline web --once',
        'millrace run pipelines.yaml --watch --state-dir /var/lib/millrace',
        'millrace run pipelines.yaml --log-format json 2>run.log',
      ),
    )
    .action(async (files: string[], _options: unknown, command: Command) => {
      requireFiles('run', files);
      const { once = false } = command.opts<RunOptions>();
      if (!once && command.getOptionValueSource('giveUpAfter') === 'cli') {
        throw new UsageError(
          '--give-up-after is for --once: without it a forwarder is tried again without end.\nTry: millrace run --help',
        );
      }
      const { run } = await import('../actions/run.ts');
      ended(await run(files, command.optsWithGlobals<RunOptions>()));
    });
}

function append(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value];
}

function mebibytes(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new InvalidArgumentError('It must be a number of MiB, 1 or more.');
  }
  return value;
}

/** A time-out in seconds. */
export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('It must be a number of seconds, 0 or more.');
  }
  return value;
}
