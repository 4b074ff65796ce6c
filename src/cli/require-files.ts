import { UsageError } from './exit-code.ts';

/** Without a FILE, commander would only say that an argument is missing. */
export function requireFiles(command: string, files: readonly string[]): void {
  if (files.length > 0) return;
  throw new UsageError(
    `${command} needs at least one configuration file, such as: millrace ${command} pipelines.yaml\n` +
      `Try: millrace ${command} --help`,
  );
}
