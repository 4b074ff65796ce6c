import { CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { MillraceError } from '../errors.ts';
import { ExitCode } from './exit-code.ts';
import { counted, printable } from './format.ts';
import { internalErrorText, UNSETTLED_TEXT } from './internal-error.ts';
import { buildProgram, type GlobalOptions } from './program.ts';

/** Runs one command line and leaves its result in `process.exitCode`. */
export async function main(args: readonly string[]): Promise<void> {
  const program = buildProgram((code) => {
    process.exitCode = code;
  });
  const crash = (error: unknown) => {
    process.stderr.write(internalErrorText(error, program.opts<GlobalOptions>().logLevel === 'debug'));
    process.exit(ExitCode.internal);
  };
  const unsettled = () => {
    process.stderr.write(UNSETTLED_TEXT);
    process.exit(ExitCode.internal);
  };
  process.on('uncaughtException', crash);
  process.on('beforeExit', unsettled);
  surviveClosedOutput();
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    } else if (error instanceof MillraceError) {
      process.stderr.write(mistakeReport(error));
      process.exitCode = ExitCode.usage;
    } else {
      crash(error);
    }
  }
  process.off('beforeExit', unsettled);
  // A plugin's open socket, or one that never returned, must not keep the process.
  // An error of writing is told one turn after the write.
  process.stdout.write('', () => setImmediate(() => process.exit()));
}

/** A configuration's mistakes begin with their place, so that editors and terminals can jump there. */
function mistakeReport(error: MillraceError): string {
  const message = printable(error.message);
  if (!(error instanceof ConfigError)) return `millrace: ${message}\n`;
  return `${message}\n\n${counted(error.mistakes.length, 'mistake')}. Nothing was started.\n`;
}

/** A reader that has had enough (`| head`) is no error. Anything else that keeps results from being written is. */
function surviveClosedOutput(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.stderr.write(`millrace: cannot write to standard output: ${error.message}\n`);
    process.exitCode = ExitCode.failed;
  });
}
