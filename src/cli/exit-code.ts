import { MillraceError } from '../sdk/errors.ts';

/** What the process ends with; docs/cli.md lists these. A second signal ends it with 128 + the signal's number. */
export const ExitCode = {
  ok: 0,
  /** At least one pipeline failed or lost events, or standard output could not be written. */
  failed: 1,
  /** A wrong command line or configuration. Nothing was started. */
  usage: 2,
  /** An error that millrace did not foresee: `EX_SOFTWARE` of sysexits.h. */
  internal: 70,
} as const;

/** A problem on the command line. */
export class UsageError extends MillraceError {
  constructor(message: string) {
    super('MILLRACE_USAGE', message);
    this.name = 'UsageError';
  }
}
