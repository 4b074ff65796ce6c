import { safeReason } from '../sdk/errors.ts';
import { version } from '../version.ts';

/**
 * What is printed of an error that nobody foresaw. Neither its message nor the head of its stack is shown:
 * they could quote an event.
 */
export function internalErrorText(error: unknown, debug: boolean): string {
  const lines = [
    `millrace: unexpected error: ${safeReason(error)}`,
    'This is a fault of millrace, or of a plugin of yours named in the line above; your configuration is not to blame.',
  ];
  if (debug) {
    lines.push(
      ...stackPlaces(error),
      `millrace ${version()}, Node.js ${process.version}, ${process.platform}`,
    );
    lines.push('Please report these lines, with your configuration and without its secrets.');
  } else {
    lines.push('Run the same command with --log-level debug and report what it prints here.');
  }
  return lines.join('\n');
}

/** What is printed when Node ends because nothing is left that could go on, while the command still waits. */
export const UNSETTLED_TEXT =
  'millrace: ended before it was done: it waits for a promise that is never settled, most likely an `await` at the top ' +
  'level of a plugin.';

/** What is printed when the process, or the system, may not open another file. */
export const TOO_MANY_OPEN_FILES_TEXT =
  'millrace: too many open files: the limit of this process or of the system is reached. To start, millrace needs ' +
  'about 100, and more for plugins, workers and connections.\n' +
  'Raise the limit: `ulimit -n 1024` in the shell that starts it, or `LimitNOFILE=1024` in a systemd unit.';

export function isTooManyOpenFiles(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'EMFILE' || code === 'ENFILE';
}

function stackPlaces(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
}
