import { Command, Option } from 'commander';
import { version } from '../version.ts';
import { examples, hinted } from './command-help.ts';
import { addGraph } from './commands/graph.ts';
import { addHelp } from './commands/help.ts';
import { addPlugins } from './commands/plugins.ts';
import { addPacks, addRedact, addScan } from './commands/redact.ts';
import { addReplay } from './commands/replay.ts';
import { addRun } from './commands/run.ts';
import { addSchema } from './commands/schema.ts';
import { addState } from './commands/state.ts';
import { addTest } from './commands/test.ts';
import { addValidate } from './commands/validate.ts';
import type { LogFormat, LogLevel } from './logger.ts';
import type { WriteNotice } from './notices.ts';

/** Options of every command. */
export interface GlobalOptions {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** Takes the exit code of a command that has ended. */
export type Ended = (exitCode: number) => void;

/** The command line as commander knows it. Each command loads its own code, and only when it is called. */
export function buildProgram(ended: Ended, notify: WriteNotice): Command {
  const program = new Command('millrace')
    .description('Reactive event pipelines: collect events, mask the secrets in them, forward them.')
    .version(version(), '-V, --version', 'print the version')
    .addOption(
      new Option('--log-level <level>', 'what is logged; warn and error leave out the summary of a run too')
        .choices(['error', 'warn', 'info', 'debug'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'for people, or one JSON object a line')
        .choices(['pretty', 'json'])
        .default('pretty'),
    )
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`,
    })
    .configureOutput({
      outputError: (text) => {
        const message = text.trimEnd().replace(/^error: /, '');
        notify({ level: 'error', text: `millrace: ${message}`, message, fields: { code: 'MILLRACE_USAGE' } });
      },
      writeErr: (text) => notify({ level: 'error', text: text.trimEnd() }),
    })
    .helpOption('-h, --help', 'print this help')
    .exitOverride();

  for (const add of [
    addRun,
    addValidate,
    addGraph,
    addTest,
    addReplay,
    addState,
    addRedact,
    addScan,
    addPacks,
    addPlugins,
    addSchema,
    addHelp,
  ])
    add(program, ended);
  return hinted(program)
    .addHelpText(
      'after',
      examples(
        'millrace validate pipelines.yaml',
        'millrace run pipelines.yaml',
        'millrace run pipelines.yaml --once --pipeline web',
        'millrace plugins collect file',
      ),
    )
    .addHelpText('after', '\nResults go to standard output, all else to standard error.');
}
