import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand, startCli } from '../support/cli.ts';

const BASE = 'forwarders: { out: { plugin: noop } }\nhost_config: {}\n';
const pipeline = (name: string) => `
collectors: { ${name}_in: { plugin: test } }
pipelines: { ${name}: { collect: ${name}_in, forward: out } }
`;
const FOLDER = {
  'conf.d/00-base.yaml': BASE,
  'conf.d/10-web.yml': pipeline('web'),
  'conf.d/20-api.yaml': pipeline('api'),
  'conf.d/20-api.test.yaml':
    'config: [00-base.yaml, 20-api.yaml]\ntests: { t: { pipeline: api, collect: { api_in: [a] }, expect: { out: [a] } } }\n',
  'conf.d/.hidden.yaml': 'wrong: true\n',
  'conf.d/notes.txt': 'no YAML: [',
  'conf.d/old/30-old.yaml': 'wrong: true\n',
};

describe('FILE', () => {
  it('may be a folder or a glob, whose files are taken in the order of their names', async () => {
    const cwd = folderWith(FOLDER);
    const names = ['00-base.yaml', '10-web.yml', '20-api.yaml', '20-api.test.yaml'];
    const files = names.map((name) => join('conf.d', name)).join(' + ');
    const stdout = `${files}: valid: 2 pipelines, 2 collectors, 0 processors, 1 forwarder, 1 test\n`;
    for (const args of [['conf.d'], ['conf.d/*.{yaml,yml}'], ['conf.d/', 'conf.d/1*.yml']]) {
      expect(await runCommand(['validate', ...args], { cwd })).toEqual({ code: 0, stdout, stderr: '' });
    }
    const tests = await runCommand(['test', 'conf.d'], { cwd });
    expect({ ...tests, stdout: tests.stdout.split('\n').at(-2) }).toEqual({
      code: 0,
      stdout: '1 passed',
      stderr: '',
    });
  });

  it('is refused if nothing is there', async () => {
    const cwd = folderWith({ 'empty/notes.txt': '' });
    const { code, stderr } = await runCommand(['run', 'empty'], { cwd });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'millrace: empty: this folder has no *.yaml and no *.yml file\n',
    });
    expect((await runCommand(['graph', 'none/*.yaml'], { cwd })).stderr).toBe(
      'millrace: none/*.yaml: no file matches this pattern\n',
    );
  });

  it('is watched, if it is a folder, for files that are added', async () => {
    const cwd = folderWith({ 'conf.d/00-base.yaml': BASE, 'conf.d/10-web.yaml': pipeline('web') });
    const cli = await startCli(['run', 'conf.d', '--watch', '--no-state'], { cwd });
    await cli.shows('stderr', /web: running/);
    writeFileSync(join(cwd, 'api'), pipeline('api'));
    renameSync(join(cwd, 'api'), join(cwd, 'conf.d/20-api.yaml'));
    await cli.shows('stderr', /configuration reloaded: 1 pipeline added \(api\)/);
    cli.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(0);
  });
});
