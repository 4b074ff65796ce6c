import { defineCollector } from '../../src/sdk/index.ts';
import { CommandRuns, fieldsOf } from '../child-process/command-runs.ts';
import { ExecConfig } from '../child-process/exec-config.ts';
import { collectLines, lineTesting } from '../lines/collect-lines.ts';

export default defineCollector({
  description: 'Runs a command, and reads the lines that it writes.',
  example: `
load:
  plugin: exec
  command: [uptime]
  interval: 60s
`,
  schema: ExecConfig,
  shownSettings: { interval: ' s' },
  traits: { usesState: false, waits: true, emitsLines: true },
  testing: lineTesting((config: ExecConfig) => ({
    source: config.command[0] as string,
    backfill: false,
    maxLineBytes: config.max_line_bytes,
    skipEmptyLines: config.skip_empty_lines,
    fieldsOf: () => fieldsOf(config, 'stdout'),
  })),
  /**
   * Emits one event for each line of the command, in batches, and reads no more while there is no room in the window. A
   * command that ends is started again with a backoff, or with `interval` at the next tick. With `ctx.once` it runs once, and
   * another exit code than 0 fails the run. At the end of a run it gets SIGTERM, and after 5 s SIGKILL, with all
   * processes that it has started. A run that follows a failed one first emits what that one had read.
   */
  collect: ({ ctx }) => collectLines(ctx, (demand) => new CommandRuns(ctx, demand).lines$),
});
