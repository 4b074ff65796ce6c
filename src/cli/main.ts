import { CommanderError } from 'commander';
import { allowV8Flags } from '../../operators/internal.ts';
import { ConfigError, problemLine, problemText } from '../config/config-error.ts';
import { MillraceError, safeReason } from '../sdk/errors.ts';
import type { GlobalOptions } from './commands.ts';
import {
  ExitCode,
  internalErrorText,
  isTooManyOpenFiles,
  TOO_MANY_OPEN_FILES_TEXT,
  UNSETTLED_TEXT,
} from './errors.ts';
import { counted } from './format.ts';
import { loadRxjs } from './load-rxjs.ts';
import { askedFormat, type Notice, noticesIn, type WriteNotice } from './notices.ts';
import { buildProgram } from './program.ts';
import * as v8Flags from './v8-flags.ts';

/**
 * Runs one command line, and ends the process with its exit code.
 *
 * @param releaseSignals restores the default effect of signals. Commands other than `run` call it first
 */
export async function main(args: readonly string[], releaseSignals: () => void): Promise<void> {
  const notify = await noticesIn(askedFormat(args));
  const program = buildProgram((code) => {
    process.exitCode = code;
  }, notify);
  program.hook('preAction', (_program, command) => {
    if (command.name() !== 'run') releaseSignals();
    loadRxjs();
    if (v8Flags.mayBeSet) allowV8Flags(v8Flags);
  });
  let isEnding = false;
  const endWith = (text: string, code: number = ExitCode.internal) => {
    if (isEnding) return;
    isEnding = true;
    notify({ level: 'error', text });
    process.exitCode = code;
    // Not standard output too: pipelines must not go on because their output is not read.
    void written(process.stderr).then(() => process.exit());
  };
  const crash = (error: unknown) => {
    if (isTooManyOpenFiles(error)) endWith(TOO_MANY_OPEN_FILES_TEXT, ExitCode.failed);
    else endWith(internalErrorText(error, program.opts<GlobalOptions>().logLevel === 'debug'));
  };
  const unsettled = () => endWith(UNSETTLED_TEXT);
  process.on('uncaughtException', crash);
  reportWarnings(notify);
  process.on('beforeExit', unsettled);
  surviveClosedOutput(notify);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    } else if (error instanceof MillraceError) {
      for (const notice of problemNotices(error)) notify(notice);
      process.exitCode = ExitCode.usage;
    } else {
      crash(error);
      return;
    }
  }
  process.off('beforeExit', unsettled);
  // A reader that never reads the rest must not block Ctrl-C.
  releaseSignals();
  await Promise.all([written(process.stdout), written(process.stderr)]);
  // An open socket of a plugin, or a plugin that never returns, must not keep the process alive.
  process.exit();
}

/**
 * Resolves when everything written to a stream has been read, or cannot be. `process.exit` would cut off what a slow
 * reader of a pipe has not read yet.
 */
function written(stream: NodeJS.WriteStream): Promise<void> {
  // A write error is emitted one turn after the write.
  return new Promise((resolve) => stream.write('', () => setImmediate(resolve)));
}

/** Errors of a configuration start with their place, so that editors and terminals can jump there. */
function problemNotices(error: MillraceError): Notice[] {
  const { code } = error;
  const level = 'error';
  if (!(error instanceof ConfigError)) {
    const { message } = error;
    return [{ level, text: `millrace: ${message}`, message, fields: { code } }];
  }
  const problems = error.problems.map((problem): Notice => {
    const { file, line, column, path } = problem;
    const fields = { code, file, line, column, path };
    return { level, text: problemText(problem), message: problemLine(problem), fields };
  });
  const sum = `${counted(problems.length, 'error')}. Nothing was started.`;
  return [...problems, { level, text: `\n${sum}`, message: sum, fields: { code } }];
}

/** What Node calls its own warnings. Of any other one, the name may be anything, as the message may. */
const NODE_WARNINGS =
  /^(?:Deprecation|Experimental|MaxListenersExceeded|TimeoutOverflow|TimeoutNegative|TimeoutNaN)Warning$/;

/**
 * Writes warnings of Node and of plugins (`process.emitWarning`) as all other lines are written. Node would print their
 * messages, which can quote an event. They stay off where Node has them off, as with `--no-warnings`.
 */
function reportWarnings(notify: WriteNotice): void {
  if (process.listenerCount('warning') === 0) return;
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name === 'DeprecationWarning' && process.noDeprecation) return;
    const name = NODE_WARNINGS.test(warning.name) ? warning.name : 'a warning';
    const message = `${name} was reported by Node.js or a plugin: ${safeReason(warning)}`;
    notify({ level: 'warn', text: `millrace: ${message}`, message });
  });
}

/** A reader that leaves early (`| head`) is not an error. Any other failure to write results is. */
function surviveClosedOutput(notify: WriteNotice): void {
  process.stderr.on('error', () => {});
  let isTold = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isTold) return;
    isTold = true;
    const message = `cannot write to standard output: ${safeReason(error)}`;
    notify({ level: 'error', text: `millrace: ${message}`, message });
    process.exitCode = ExitCode.failed;
  });
}
