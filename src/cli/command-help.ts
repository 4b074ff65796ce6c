import type { Command } from 'commander';
import { nearest } from '../sdk/nearest.ts';
import { UsageError } from './errors.ts';

/** What the help of a command says. */
interface CommandHelp {
  /** What follows the command's name, such as `[options] FILE...`. */
  readonly usage: string;
  /** For the list of commands. */
  readonly summary: string;
  readonly description: string;
  /** Whether FILE is explained: the command takes configuration files. */
  readonly takesFiles?: boolean;
  readonly examples: readonly string[];
}

/**
 * Declares a command. Its usage errors end with the way to its help.
 *
 * @param signature its name and its arguments, all optional: {@link requireFiles} says more than commander does
 */
export function addCommand(
  parent: Command,
  signature: string,
  { usage, summary, description, takesFiles = false, examples }: CommandHelp,
): Command {
  const command = parent.command(signature).usage(usage).summary(summary).description(description);
  if (takesFiles) {
    command.addHelpText(
      'after',
      '\nEach FILE is a file, a folder (for its *.yaml and *.yml files) or a glob in quotes.',
    );
  }
  const path = parent.parent === null ? command.name() : `${parent.name()} ${command.name()}`;
  return withExamples(command, examples).showHelpAfterError(`Try: millrace ${path} --help`);
}

/** Adds the last part of a help text. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
}

/** Adds `help`, because commander's own prints the help of millrace for a command that does not exist. */
export function addHelp(program: Command): void {
  const help = addCommand(program.helpCommand(false), 'help [command...]', {
    usage: '[COMMAND]',
    summary: 'print the help of a command',
    description: 'Prints the help of a command, or of millrace.',
    examples: ['millrace help run', 'millrace help state forget'],
  });
  help.showHelpAfterError('Try: millrace --help').action((names: string[]) => {
    let command = program;
    for (const name of names) {
      const found = command.commands.find((each) => each.name() === name);
      if (found === undefined) unknownCommand(help, name, command);
      else command = found;
    }
    command.help();
  });
}

/** Ends `command` with the error that its argument `name` is no subcommand of `parent`. */
export function unknownCommand(command: Command, name: string, parent: Command): never {
  const near = nearest(
    name,
    parent.commands.map((each) => each.name()),
  );
  const hint = near === undefined ? '' : `\n(Did you mean ${near}?)`;
  return command.error(`error: unknown command '${name}'${hint}`);
}

/** Without a FILE, commander would only say that an argument is missing. */
export function requireFiles(
  command: string,
  files: readonly string[],
  example = `millrace ${command} pipelines.yaml`,
): void {
  if (files.length > 0) return;
  throw new UsageError(
    `${command} needs at least one configuration file, such as: ${example}\nTry: millrace ${command} --help`,
  );
}
