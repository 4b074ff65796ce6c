import { resolve } from 'node:path';
import type { Environment } from './environment.ts';
import type { MistakeLog } from './mistake-log.ts';
import { readConfigFile } from './read-file.ts';
import type { ConfigSource } from './source.ts';
import { isTestFile, testedFiles, testsOf } from './test-file.ts';

export interface ReadSources {
  /** Those that could be read. */
  readonly sources: readonly ConfigSource[];
  /** All of them, in the order in which their mistakes are told. */
  readonly files: readonly string[];
  readonly isComplete: boolean;
}

/** Reads configuration files. One of tests brings the files that it tests, unless they are there already. */
export async function readSources(
  files: readonly string[],
  env: Environment,
  log: MistakeLog,
): Promise<ReadSources> {
  const read = await Promise.all(
    files.map(async (file) => ({ file, source: await readConfigFile(file, env, log) })),
  );
  const configs = read.filter(({ file }) => !isTestFile(file));
  const tests = read.filter(({ file }) => isTestFile(file));
  const known = new Set(configs.map(({ file }) => resolve(file)));
  let isComplete = true;
  for (const { source } of tests) {
    const tested = source === undefined ? undefined : testedFiles(source, log);
    if (tested === undefined) isComplete = false;
    for (const file of tested ?? []) {
      if (known.has(resolve(file))) continue;
      known.add(resolve(file));
      configs.push({ file, source: await readConfigFile(file, env, log) });
    }
  }
  const all = [...configs, ...tests];
  return {
    sources: all.flatMap(({ file, source }) =>
      source === undefined ? [] : [isTestFile(file) ? testsOf(source) : source],
    ),
    files: all.map(({ file }) => file),
    isComplete: isComplete && all.every(({ source }) => source !== undefined),
  };
}
