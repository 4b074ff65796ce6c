// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to environment variables are shown

import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand } from '../support/cli.ts';
import { THREE } from './configs.ts';

const WITH_ENVIRONMENT = `
collectors:
  log: { plugin: file, paths: ["\${LOGS}/a.log", "\${MORE:-/srv}/b.log"] }
processors:
  mask: { plugin: regex_mask, rules: { TOKEN: "\${TOKEN}" } }
forwarders:
  mine: { plugin: ./mine.mjs, password: "\${TOKEN}", port: "\${PORT}" }
pipelines:
  web:
    collect: log
    process: mask
    forward: mine
    max_in_flight: \${SIZE}
host_config: {}
`;

const MINE = `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = () => {};
`;

describe('millrace graph', () => {
  it('draws a tree for each pipeline on standard output', async () => {
    const cwd = folderWith({ 'p.yaml': THREE });
    const { code, stdout, stderr } = await runCommand(['graph', 'p.yaml'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^web {2}max_in_flight: 1000/);
    expect(stdout).toMatch(/^└─ forward {2}nowhere {2}noop$/m);
    expect(stdout).toMatch(/^old {2}disabled/m);
  });

  it.each([
    ['mermaid', /^flowchart LR\n/],
    ['dot', /^digraph millrace \{\n/],
    ['svg', /^<svg xmlns=/],
  ])('draws as %s', async (format, start) => {
    const cwd = folderWith({ 'p.yaml': THREE });
    const { code, stdout, stderr } = await runCommand(['graph', 'p.yaml', '--format', format], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(start);
  });

  it.each(['text', 'mermaid', 'dot', 'svg'])('never shows values of the environment: %s', async (format) => {
    const cwd = folderWith({ 'p.yaml': WITH_ENVIRONMENT, 'mine.mjs': MINE });
    const env = {
      LOGS: '/home/s3cret',
      MORE: '/home/s3cret',
      TOKEN: 's3cret',
      PORT: '47114711',
      SIZE: '4711',
    };
    const { code, stdout } = await runCommand(['graph', 'p.yaml', '--format', format], { cwd, env });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/s3cret|4711/);
    const plain = stdout.replaceAll('#36;', '$').replaceAll('#123;', '{').replaceAll('#125;', '}');
    for (const reference of ['${LOGS}/a.log', '${MORE}/b.log', '${TOKEN}', '${PORT}', '${SIZE}', 'TOKEN']) {
      expect(plain).toContain(reference);
    }
  });

  it('reports problems as `validate` does, and draws nothing', async () => {
    const cwd = folderWith({ 'p.yaml': THREE.replace('interval', 'intervall') });
    const { code, stdout, stderr } = await runCommand(['graph', 'p.yaml'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('did you mean `interval`');
  });

  it.each([
    [[], 'graph needs at least one configuration file'],
    [['p.yaml', '--format', 'png'], 'Allowed choices are text, mermaid, dot, svg'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runCommand(['graph', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
