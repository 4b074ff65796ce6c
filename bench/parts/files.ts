import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logFile } from '../log-file.ts';
import { THREE_RULES } from '../log-generator.ts';
import { runToEnd } from '../measure/run-command.ts';
import { maskingConfig, outputName } from '../peers/masking-config.ts';
import { runCommand } from '../peers/millrace.ts';
import { program, withFolder } from '../places.ts';
import { atMost, type Part } from './part.ts';

/** Its functions run once for each chunk, and for nothing else. */
const ONCE_PER_CHUNK = 'plugins/collect/file.ts';

/** How many files a reader has to know in order to follow one chunk. */
export const files: Part = {
  name: 'files',
  title: 'the source files that the main job enters for each chunk',
  async run({ progress }) {
    progress('counting calls');
    const calls = await withFolder(async (folder) => {
      const config = maskingConfig(folder, { main: [logFile(1_000_000)] }, THREE_RULES);
      const { command, args } = runCommand(folder, config, '--once');
      const result = join(folder, 'calls.json');
      await runToEnd({
        command,
        args: ['--import', program('count-calls'), ...args],
        env: { COUNT_CALLS_WHILE: join(folder, outputName('main')), COUNT_CALLS_TO: result },
      });
      return JSON.parse(readFileSync(result, 'utf8')) as Record<string, number>;
    });
    const chunks = calls[ONCE_PER_CHUNK] ?? Number.NaN;
    const entered = Object.keys(calls)
      .filter((file) => (calls[file] as number) >= chunks / 2)
      .sort();
    return {
      tables: [{ cells: 'text', columns: ['entered for each chunk'], rows: entered.map((file) => [file]) }],
      targets: [atMost('files entered for each chunk', entered.length, 39, String)],
      notes: [
        `In ${chunks} chunks in the middle of a run, some function of each of these files was called at least once for ` +
          "every two chunks. The calls are those of V8's coverage.",
      ],
    };
  },
};
