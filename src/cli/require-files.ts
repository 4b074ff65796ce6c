import { UsageError } from './exit-code.ts';

/** Without a FILE, commander would only say that an argument is missing. */
export function requireFiles(
  command: string,
  files: readonly string[],
  example = `millrace ${command} pipelines.yaml`,
): void {
  if (files.length > 0) return;
  throw new UsageError(
    `${command} needs at least one configuration file, such as: ${example}\n` +
      `Try: millrace ${command} --help`,
  );
}
