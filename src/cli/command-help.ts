import type { Command } from 'commander';

/** The last part of a help text. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** What FILE may be, in the help of every command that takes configuration files. */
export const FILE_HELP =
  '\nEach FILE is a file, a folder (for its *.yaml and *.yml files) or a glob in quotes.';

/** Ends the usage errors of a command with the way to its help. */
export function hinted(command: Command, name?: string): Command {
  return command.showHelpAfterError(`Try: millrace ${name === undefined ? '' : `${name} `}--help`);
}
