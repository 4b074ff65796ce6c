import { Command, Option } from 'commander';
import { version } from '../version.ts';
import { addHelp, withExamples } from './command-help.ts';
import * as commands from './commands.ts';
import type { WriteNotice } from './notices.ts';

/** The command line as commander knows it. */
export function buildProgram(ended: commands.Ended, notify: WriteNotice): Command {
  const program = new Command('millrace')
    .description('Reactive event pipelines: collect events, mask the secrets in them, forward them.')
    .version(version(), '-V, --version', 'print the version')
    .addOption(
      new Option('--log-level <level>', 'what is logged; warn and error also leave out the summary of a run')
        .choices(['error', 'warn', 'info', 'debug'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'for people, or one JSON object per line')
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

  commands.addRun(program, ended);
  commands.addValidate(program, ended);
  commands.addGraph(program, ended);
  commands.addTest(program, ended);
  commands.addRecord(program, ended);
  commands.addReplay(program, ended);
  commands.addState(program, ended);
  commands.addRedact(program, ended);
  commands.addScan(program, ended);
  commands.addReport(program, ended);
  commands.addHash(program, ended);
  commands.addPacks(program, ended);
  commands.addPlugins(program, ended);
  commands.addSchema(program, ended);
  addHelp(program);
  return withExamples(program, [
    'millrace validate pipelines.yaml',
    'millrace run pipelines.yaml',
    'millrace run pipelines.yaml --once --pipeline web',
    'millrace plugins collect file',
  ])
    .addHelpText('after', '\nResults go to standard output, everything else to standard error.')
    .showHelpAfterError('Try: millrace --help');
}
