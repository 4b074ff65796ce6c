import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import { NEVER } from 'rxjs';
import { ConfigError } from '../../src/config/config-error.ts';
import { type LoadConfigOptions, type LoadedConfig, loadConfig } from '../../src/config/load-config.ts';
import type { Host } from '../../src/sdk/context.ts';
import { parseNow } from '../support/parse-now.ts';

/** A host with two functions and a silent bus. */
export const testHost: Host = {
  id: 'test-host',
  role: 'tester',
  events: () => NEVER,
  functions: () => ['test.ping', 'test.echo'],
  call: () => [],
};

/** A valid rest for a file that has only one part of interest. */
export const REST = `
forwarders: {out: {plugin: noop}}
pipelines: {}
host_config: {}
`;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export type Files = Readonly<Record<string, string | Buffer>>;

/** Writes files to a new temporary folder and returns the folder. */
export function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-config-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Loads the YAML files among the given ones, in their order. */
export function load(files: Files | string, options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const all = typeof files === 'string' ? { 'c.yaml': files } : files;
  const folder = folderOf(all);
  const yaml = Object.keys(all).filter((name) => name.endsWith('.yaml') && !name.includes('/'));
  return loadConfig(
    yaml.map((name) => join(folder, name)),
    { env: {}, host: testHost, ...options },
  );
}

/** The text of the error that loading gives, with the temporary folder written as `<dir>`. */
export async function refusal(files: Files | string, options: LoadConfigOptions = {}): Promise<string> {
  try {
    await load(files, options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.replace(/[^\s`]*millrace-config-\w+/g, '<dir>');
  }
  throw new Error('the configuration was not refused');
}

/** The problems of a configuration, as they are shown: each with its path. */
export function problems(input: object): string[] {
  try {
    parseNow(input);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`);
  }
}
