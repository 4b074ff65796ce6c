import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { applySchema } from '../checks/apply-schema.ts';
import { explainIssue } from '../checks/explain-issue.ts';
import { knownKeys } from '../checks/known-keys.ts';
import type { Path } from '../checks/path.ts';
import type { MistakeLog } from './mistake-log.ts';
import { SECTIONS } from './sections.ts';
import type { ConfigSource } from './source.ts';

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
const TestFile = z.strictObject({
  config: z.union([z.array(z.string()).min(1), z.string()]).optional(),
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  tests: z.unknown().refine((tests) => tests !== undefined, { message: 'a mapping of names to tests' }),
});

/** The configuration files that a file of tests is about; undefined if they cannot be told. Its mistakes go to the log. */
export function testedFiles(source: ConfigSource, log: MistakeLog): string[] | undefined {
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
      for (const mistake of explainIssue(issue, context)) log.add(source, mistake);
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

/** Only the tests of a file of tests: the rest of it is no part of the configuration. */
export function testsOf(source: ConfigSource): ConfigSource {
  const isTests = ([section]: Path) => section === 'tests';
  return {
    file: source.file,
    baseDir: source.baseDir,
    variables: [],
    value: Object.hasOwn(source.value, 'tests') ? { tests: source.value.tests } : {},
    depth: (path) => (isTests(path) ? source.depth(path) : 0),
    place: (path, at) => source.place(path, at),
    describe: (path) => source.describe(path),
    isBroken: (path) => isTests(path) && source.isBroken(path),
    withhold: (text, path) => source.withhold(text, path),
  };
}
