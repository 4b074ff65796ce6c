import { MillraceError, safeReason, stackPlaces } from '../sdk/errors.ts';
import { version } from '../version.ts';

/** What the process ends with; docs/cli.md lists these. A second signal ends it with 128 + the signal's number. */
export const ExitCode = {
  ok: 0,
  /** At least one pipeline failed or lost events, or standard output could not be written. */
  failed: 1,
  /** A wrong command line or configuration. Nothing was started. */
  usage: 2,
  /** An unexpected error: `EX_SOFTWARE` of sysexits.h. */
  internal: 70,
} as const;

/** An error in the command line. */
export class UsageError extends MillraceError {
  constructor(message: string) {
    super('MILLRACE_USAGE', message);
    this.name = 'UsageError';
  }
}

/** The text for an unexpected error. It leaves out the error's message, which could quote an event. */
export function internalErrorText(error: unknown, debug: boolean): string {
  const lines = [
    `millrace: unexpected error: ${safeReason(error)}`,
    'This is a bug in millrace, or in a plugin of yours if the line above names one.',
  ];
  if (debug) {
    lines.push(
      ...(error instanceof Error ? stackPlaces(error).map((place) => `    at ${place}`) : []),
      `millrace ${version()}, Node.js ${process.version}, ${process.platform}`,
    );
    lines.push('Please report these lines together with your configuration, without its secrets.');
  } else {
    lines.push('Run the same command with --log-level debug and report what it prints here.');
  }
  return lines.join('\n');
}

/** The text if Node exits because only promises are pending while the command still runs. */
export const UNSETTLED_TEXT =
  'millrace: exited early: it waited for a promise that never settles, most likely a top-level `await` in a plugin.';

/** The text if no more files can be opened. */
export const TOO_MANY_OPEN_FILES_TEXT =
  'millrace: too many open files: the limit of this process or of the system is reached. To start, millrace needs ' +
  'about 100, and more for plugins, workers and connections.\n' +
  'Raise the limit: `ulimit -n 1024` in the shell that starts it, or `LimitNOFILE=1024` in a systemd unit.';

export function isTooManyOpenFiles(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'EMFILE' || code === 'ENFILE';
}
