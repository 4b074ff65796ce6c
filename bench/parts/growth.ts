import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countLines } from '../lines-of.ts';
import { logFile } from '../log-file.ts';
import { logLines, THREE_RULES } from '../log-generator.ts';
import { type Run, runToEnd } from '../measure/run-command.ts';
import { maskingConfig, outputName } from '../peers/masking-config.ts';
import { runCommand } from '../peers/millrace.ts';
import { withFolder } from '../places.ts';

/** Something that there can be more of, and what a run costs with so many. */
export interface Growth {
  readonly of: string;
  readonly sizes: readonly number[];
  run(size: number): Promise<Run>;
}

const LINES_OF_A_FILE = 10;

export function growthOfLines(sizes: readonly number[]): Growth {
  return {
    of: 'lines',
    sizes,
    run: (lines) => withFolder((folder) => runAll(folder, { main: [logFile(lines)] }, lines)),
  };
}

/** Files of one pipeline, of ten lines each. */
export function growthOfFiles(sizes: readonly number[]): Growth {
  return {
    of: 'files',
    sizes,
    run: (files) =>
      withFolder((folder) => {
        writeSmallFiles(folder, files);
        return runAll(folder, { main: [join(folder, 'logs/*.log')] }, files * LINES_OF_A_FILE);
      }),
  };
}

/** Pipelines, each with a file of ten lines and an output of its own. */
export function growthOfPipelines(sizes: readonly number[]): Growth {
  return {
    of: 'pipelines',
    sizes,
    run: (pipelines) =>
      withFolder((folder) => {
        const paths = writeSmallFiles(folder, pipelines);
        const pathsOf = Object.fromEntries(paths.map((path, index) => [`p${index}`, [path]]));
        return runAll(folder, pathsOf, pipelines * LINES_OF_A_FILE);
      }),
  };
}

function writeSmallFiles(folder: string, count: number): string[] {
  const text = `${[...logLines(LINES_OF_A_FILE)].join('\n')}\n`;
  mkdirSync(join(folder, 'logs'));
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, 'logs', `${index}.log`);
    writeFileSync(path, text);
    return path;
  });
}

/** @throws Error if not every line came out. */
async function runAll(
  folder: string,
  pathsOf: Readonly<Record<string, readonly string[]>>,
  lines: number,
): Promise<Run> {
  const config = maskingConfig(folder, pathsOf, THREE_RULES);
  const run = await runToEnd(runCommand(folder, config, '--once'));
  let written = 0;
  for (const name of Object.keys(pathsOf)) written += countLines(join(folder, outputName(name)));
  if (written !== lines) throw new Error(`${written} of ${lines} events were written`);
  return run;
}
