import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { applySchema, explainIssue, knownKeys } from '../sdk/checks/apply-schema.ts';
import type { Path } from '../sdk/checks/problem.ts';
import { REFERENCES, type WrittenSections } from '../sdk/checks/shown-values.ts';
import { ProblemLog } from './config-error.ts';
import type { Environment } from './environment.ts';
import { MergedConfig } from './merged-config.ts';
import { parseYamlSource } from './parse-yaml.ts';
import { SECTIONS } from './sections.ts';
import { type ConfigSource, SourceText, type YamlSource } from './source.ts';

interface ReadSources {
  /** The files that could be read. */
  readonly sources: readonly ConfigSource[];
  /** All of them, in the order in which their problems are told. */
  readonly files: readonly string[];
  readonly isComplete: boolean;
}

/** Reads configuration files. One of tests brings the files that it tests, unless they are there already. */
export async function readSources(
  files: readonly string[],
  env: Environment,
  log: ProblemLog,
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

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a folder; expected a file',
  EACCES: 'the file cannot be read: permission denied',
  ENOTDIR: 'a part of the path before the file is not a folder',
};

/** Reads a configuration file. Its problems go to the log; undefined if nothing of it can be used. */
export async function readConfigFile(
  file: string,
  env: Environment,
  log: ProblemLog,
): Promise<YamlSource | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    log.addAt(file, undefined, [], REASONS[code ?? ''] ?? `the file cannot be read: ${message}`);
    return undefined;
  }
  const text = new TextDecoder().decode(bytes);
  const invalid = firstInvalidByte(bytes);
  if (invalid === undefined) {
    return parseYamlSource(text, { file, baseDir: dirname(resolve(file)), env, log });
  }
  const before = new SourceText(bytes.toString('utf8', 0, invalid));
  const { line, column } = before.place(before.text.length);
  log.addAt(file, { line, column, excerpt: undefined }, [], 'the file is not UTF-8; save it as UTF-8');
  return undefined;
}

/** The offset of the first byte that is not UTF-8. */
function firstInvalidByte(bytes: Buffer): number | undefined {
  const again = Buffer.from(bytes.toString('utf8'));
  if (bytes.equals(again)) return undefined;
  return bytes.findIndex((byte, index) => byte !== again[index]);
}

/** The sections of files that are known to be valid, with references in place of environment variables. */
export async function readAsWritten(files: readonly string[]): Promise<WrittenSections> {
  const log = new ProblemLog();
  const sources = await Promise.all(files.map((file) => readConfigFile(file, REFERENCES, log)));
  const read = sources.filter((source) => source !== undefined);
  return new MergedConfig(read, log).sections;
}

const TEST_FILE = /\.test(\.ya?ml)$/;

/** Whether a file holds tests of a configuration, by its name: `web.test.yaml` tests `web.yaml`. */
export function isTestFile(file: string): boolean {
  return TEST_FILE.test(file);
}

/** The files of tests that may stand beside a configuration. */
export function testFilesBeside(file: string): string[] {
  return [file.replace(/(\.ya?ml)$/, '.test$1')].filter((beside) => beside !== file && existsSync(beside));
}

/** What a file of tests holds; the tests themselves are validated with the configuration. */
export const TestFile = z.strictObject({
  config: z
    .union([z.array(z.string()).min(1), z.string()])
    .optional()
    .describe(
      'The configuration files that are tested, relative to this one. Default: the one in the same folder.',
    ),
  env: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Environment variables for all tests of the file.'),
  tests: z.unknown().refine((tests) => tests !== undefined, { message: 'a mapping of names to tests' }),
});

/** The configuration files that a file of tests is about; undefined if they cannot be told. Its problems go to the log. */
function testedFiles(source: ConfigSource, log: ProblemLog): string[] | undefined {
  const { file, value } = source;
  const misplaced = [...SECTIONS.keys()].filter((name) => name !== 'tests' && Object.hasOwn(value, name));
  for (const name of misplaced) {
    const message = `a file of tests holds \`config\`, \`env\` and \`tests\`; \`${name}\` belongs into the configuration that it tests`;
    log.add(source, { path: [name], at: 'key', message });
  }
  const own = Object.fromEntries(Object.entries(value).filter(([name]) => !misplaced.includes(name)));
  const result = applySchema(TestFile, own);
  if (!result.success) {
    const context = {
      prefix: [],
      input: own,
      knownKeys: (path: Path) => knownKeys(TestFile, path),
      describe: (path: Path) => source.describe(path),
    };
    for (const issue of result.issues) {
      for (const problem of explainIssue(issue, context)) log.add(source, problem);
    }
    return undefined;
  }
  const { config } = result.data as z.output<typeof TestFile>;
  if (config !== undefined) return [config].flat().map((name) => join(dirname(file), name));
  const beside = file.replace(TEST_FILE, '$1');
  if (existsSync(beside)) return [beside];
  const message = `there is no ${basename(beside)} beside this file; name what it tests: \`config: [FILE]\``;
  log.addAt(file, undefined, [], message);
  return undefined;
}

/** Only the tests of a file of tests: the rest of it is not part of the configuration. */
function testsOf(source: ConfigSource): ConfigSource {
  const isTests = ([section]: Path) => section === 'tests';
  return {
    file: source.file,
    baseDir: source.baseDir,
    variables: [],
    warnings: [],
    value: Object.hasOwn(source.value, 'tests') ? { tests: source.value.tests } : {},
    depth: (path) => (isTests(path) ? source.depth(path) : 0),
    place: (path, at) => source.place(path, at),
    lines: (path) => source.lines(path),
    describe: (path) => source.describe(path),
    isBroken: (path) => isTests(path) && source.isBroken(path),
    written: (path) => source.written(path),
    variablesAt: (path, parsed) => source.variablesAt(path, parsed),
  };
}
