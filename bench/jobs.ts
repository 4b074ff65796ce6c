import { THREE_RULES } from './log-generator.ts';
import type { Command } from './measure/run-command.ts';
import { maskingConfig } from './peers/masking-config.ts';
import { runCommand } from './peers/millrace.ts';

/** What millrace runs in a job: the command that reads `input` and writes `out.jsonl` to `folder`. */
export type MakeCommand = (input: string, folder: string) => Command;

const config = (input: string, folder: string) =>
  maskingConfig(folder, { out: [input] }, THREE_RULES) as {
    readonly collectors: object;
    readonly processors: object;
    readonly forwarders: object;
    readonly pipelines: { readonly out: object };
  };

export const mainJob: MakeCommand = (input, folder) => runCommand(folder, config(input, folder), '--once');

export const watchedJob: MakeCommand = (input, folder) =>
  runCommand(folder, config(input, folder), '--once', '--admin', '127.0.0.1:0');

export const pipedJob: MakeCommand = (input, folder) => {
  const from = { ...config(input, folder), collectors: { out: { plugin: 'stdin' } } };
  const { command, args } = runCommand(folder, from);
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  return { command: 'sh', args: ['-c', `cat '${input}' | ${line}`] };
};

/** Drops the lines whose milliseconds end with a 0. */
export const filteredJob: MakeCommand = jobWith({
  drop: { plugin: 'filter', drop: 'data.line.contains("0Z ")' },
  mask: { plugin: 'regex_mask', rules: THREE_RULES },
});

export const jsonJob: MakeCommand = jobWith({
  parse: { plugin: 'parse', format: 'json' },
  drop: { plugin: 'filter', drop: 'data.level == "DEBUG"' },
  mask: { plugin: 'regex_mask', rules: THREE_RULES },
});

export const accessJob: MakeCommand = jobWith({
  parse: { plugin: 'parse', format: 'combined' },
  drop: { plugin: 'filter', drop: 'data.status == 304' },
  mask: { plugin: 'regex_mask', rules: THREE_RULES },
});

export const packsJob: MakeCommand = jobWith({
  parse: { plugin: 'parse', format: 'json' },
  mask: { plugin: 'redact' },
});

/** The main job with other processors, in the order of their names here. */
function jobWith(processors: Readonly<Record<string, object>>): MakeCommand {
  return (input, folder) => {
    const { pipelines, ...rest } = config(input, folder);
    const out = { ...pipelines.out, process: Object.keys(processors) };
    return runCommand(folder, { ...rest, processors, pipelines: { out } }, '--once');
  };
}
