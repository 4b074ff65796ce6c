import type { Command } from 'commander';
import { examples, FILE_HELP, hinted } from '../command-help.ts';
import { UsageError } from '../exit-code.ts';
import type { Ended, GlobalOptions } from '../program.ts';
import { requireFiles } from '../require-files.ts';
import { seconds } from './run.ts';

export interface ReplayOptions extends GlobalOptions {
  readonly pipeline: string;
  /** The pipeline whose entries are sent; `pipeline` if not given. */
  readonly from?: string;
  /** Not only the one that did not take an event. */
  readonly allForwarders?: boolean;
  /** Seconds. */
  readonly drainTimeout: number;
  /** Seconds. */
  readonly giveUpAfter: number;
}

const EXAMPLE = 'millrace replay dead.jsonl --pipeline web pipelines.yaml';

export function addReplay(program: Command, ended: Ended): void {
  hinted(program.command('replay [deadLetters] [file...]'), 'replay')
    .usage('[options] DEAD-LETTERS --pipeline NAME FILE...')
    .summary('send the events of a dead-letter file through their pipeline again')
    .description(
      'Sends the events in DEAD-LETTERS, a file that a dead letter wrote, through the processors of a pipeline ' +
        'again, once each, and to the forwarder that did not take them. The file stays as it is. Collectors do not run. The exit code is 0, or 1 if ' +
        'an entry could not be sent or was not delivered, or 2 if the command line or the configuration is wrong.',
    )
    .requiredOption('--pipeline <name>', 'the pipeline to send them through')
    .option('--from <name>', 'send the entries of this pipeline, if not those of the same name')
    .option('--all-forwarders', 'send every event to all forwarders of the pipeline')
    .option('--drain-timeout <seconds>', 'how long in-flight events may drain on stop', seconds, 10)
    .option(
      '--give-up-after <seconds>',
      'how long a forwarder may fail before the replay fails',
      seconds,
      300,
    )
    .addHelpText('after', FILE_HELP)
    .addHelpText(
      'after',
      examples(EXAMPLE, 'millrace replay dead.jsonl --pipeline repair --from web pipelines.yaml'),
    )
    .action(async (deadLetters: string | undefined, files: string[], _options: unknown, command: Command) => {
      if (deadLetters === undefined) {
        throw new UsageError(
          `replay needs a file of dead letters, such as: ${EXAMPLE}\nTry: millrace replay --help`,
        );
      }
      requireFiles('replay', files, EXAMPLE);
      const { replay } = await import('../actions/replay.ts');
      ended(await replay(deadLetters, files, command.optsWithGlobals<ReplayOptions>()));
    });
}
