import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { ConfigError } from '../../../src/config/config-error.ts';
import { loadSuites } from '../../../src/testing/yaml/load-suites.ts';
import { runTest } from '../../../src/testing/yaml/run-test.ts';
import type { TestResult, TestSuite } from '../../../src/testing/yaml/test-suite.ts';

/** A pipeline with a mask, a second collector, two forwarders and a dead letter; none of them touches anything. */
export const CONFIG = `collectors:
  log: { plugin: file, paths: [/nowhere/web.log] }
  api: { plugin: test, interval: 60, count: 2 }
processors:
  secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }
forwarders:
  archive: { plugin: disk, path: /nowhere }
  live: { plugin: noop }
  letters: { plugin: noop }
pipelines:
  web:
    collect: [log, api]
    process: secrets
    forward: [archive, live]
    delivery: { attempts: 2, dead_letter: letters }
host_config: {}
`;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Writes files to a new temporary folder and returns the folder. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-tests-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Loads the tests of the named files, or of the first one. */
export function load(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  names = Object.keys(files).slice(0, 1),
): Promise<TestSuite[]> {
  const folder = folderOf(files);
  return loadSuites(
    names.map((name) => join(folder, name)),
    env,
  );
}

/** The results of all tests of suites. */
export async function run(suites: readonly TestSuite[]): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const suite of suites) {
    for (const test of suite.tests) results.push(await runTest(test, suite.file));
  }
  return results;
}

/** The result of one test of {@link CONFIG}, written as the body of a test in flow style. */
export async function runOne(body: string): Promise<TestResult> {
  const [result] = await run(await load({ 'c.yaml': `${CONFIG}tests:\n  t: { ${body} }\n` }));
  if (result === undefined) throw new Error('there is no test');
  return result;
}

/** What is wrong with files, with the temporary folder left out and without excerpts. */
export async function refusal(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  try {
    await load(files, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const text = error.message.replace(/[^\s`]*millrace-tests-\w+\//g, '');
    return text.split('\n').filter((line) => !/^ +(?:\d+ )?\|/.test(line));
  }
  throw new Error('the tests were not refused');
}
