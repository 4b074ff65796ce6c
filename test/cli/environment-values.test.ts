import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand, startCli } from '../support/cli.ts';

/** Longer than what messages show of a value; in it a part that no message may show either. */
const PART = 'hunter2';
const SECRET = `${PART}-${'x'.repeat(80)}`;

/** Every setting that may be text has the variable in it. Files are missing, unreadable, cut and outputs are folders. */
const CONFIG = `
collectors:
  log: { plugin: file, paths: [in/\${V}.log, 'in/\${V}/*.log', '\${V}-missing.log', '\${V}.gz'], backfill: true }
  call: { plugin: host_exec, fn: disk.usage, args: ['/nowhere/\${V}'], interval: 0.1 }
  module: { plugin: host_exec, fn: own.fails, args: ['\${V}'], interval: 0.1 }
  watched: { plugin: beacons, beacons: ['*'] }
  number: { plugin: test, count: 1 }
processors:
  mask: { plugin: regex_mask, rules: { A: '\${V}+' } }
  own: { plugin: ./own.mjs, token: '\${V}' }
forwarders:
  disk: { plugin: disk, path: 'out/\${V}', filename: '\${V}.jsonl' }
  events: { plugin: disk, path: 'in/\${V}.log' }
  test: { plugin: test, path: 'in/\${V}/nowhere/x' }
  dead: { plugin: disk, path: out, filename: dead.jsonl }
pipelines:
  logs: { collect: log, process: [mask, own], forward: disk }
  raw: { collect: log, forward: [events, test], delivery: { attempts: 2 } }
  calls: { collect: call, forward: disk, restart: false }
  modules: { collect: module, forward: disk, restart: false }
  beacons: { collect: watched, forward: disk }
  refused: { collect: number, process: own, forward: disk, restart: false, delivery: { dead_letter: dead } }
host_config:
  id: '\${V}'
  beacons: { file_watch: { paths: ['in/\${V}.log/nowhere'], interval: 0.1 } }
  functions: { own: ./functions.mjs }
`;

const TESTED = `
collectors: { log: { plugin: file, paths: ['\${V}.log'] } }
processors: { own: { plugin: ./own.mjs, token: '\${V}' } }
forwarders: { disk: { plugin: disk, path: '\${V}', filename: a.jsonl } }
pipelines: { main: { collect: log, process: own, forward: disk } }
host_config: {}
tests: { t: { collect: { log: [a] }, expect: { disk: [b] } } }
`;

/** Wrong in many ways, each with the variable in what is wrong. */
const WRONG = `
collectors:
  log: { plugin: file, paths: ['\${V}', '~/\${V}'], backfill: '\${V}' }
  call: { plugin: host_exec, fn: '\${V}' }
  own: { plugin: './\${V}.mjs' }
processors:
  mask: { plugin: regex_mask, rules: { A: '(\${V}' } }
forwarders:
  disk: { plugin: disk, path: '\${V}', filename: 'a/\${V}' }
  one: { plugin: disk, path: 'out/\${V}', filename: same.jsonl }
  two: { plugin: disk, path: 'out/\${V}', filename: same.jsonl }
pipelines:
  exact: { collect: log, forward: one, exactly_once: true }
  other: { collect: log, process: '\${V}', forward: [two, '\${V}'], ordered: '\${V}' }
host_config:
  beacons: { loadavg: '\${V}', file_watch: { paths: '\${V}' } }
  functions: { a: './\${V}.mjs' }
`;

const FILES = {
  'wrong.yaml': WRONG,
  'tested.yaml': TESTED,
  'p.yaml': CONFIG,
  'functions.mjs': `
export const fails = (value) => { throw Object.assign(new Error('own.fails: ' + value), { loggable: true }); };`,
  'own.mjs': `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ ctx, event }) => {
  ctx.logger.info('token ' + ctx.config.token, { token: ctx.config.token, all: [ctx.config] });
  throw Object.assign(new Error('refused: ' + ctx.config.token), { loggable: true });
};`,
  [`in/${SECRET}.log`]: 'a\n',
  [`in/${SECRET}/b.log`]: 'b\n',
  [`${SECRET}.gz`]: '\u001f\u008b\b',
};

describe('values of environment variables', () => {
  it.each(['pretty', 'json'])('never appear in what a command says: %s', async (format) => {
    const cwd = folderWith(FILES);
    const env = { V: SECRET };
    const options = ['--log-format', format, '--log-level', 'debug'];
    const millrace = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runCommand([...args, ...options], { cwd, env });
      expect(stdout + stderr).not.toContain(PART);
      return { code, output: stdout + stderr };
    };
    for (const file of ['p.yaml', 'wrong.yaml']) {
      for (const command of ['validate', 'graph']) {
        expect(await millrace(command, file)).toMatchObject({ code: file === 'p.yaml' ? 0 : 2 });
      }
    }
    expect(await millrace('test', 'tested.yaml')).toMatchObject({ code: 1 });
    const { output } = await millrace('run', 'p.yaml', '--once', '--state-dir', 'state');
    const deadLetter = readFileSync(join(cwd, 'out/dead.jsonl'), 'utf8');
    expect(JSON.parse(deadLetter).data).toMatchObject({ error: 'refused: ${V}', pipeline: 'refused' });
    expect(deadLetter).not.toContain(PART);
    expect(output).toContain('own.fails: ${V}');
    expect(output).toMatch(/token \$\{V\}.*\$\{V\}/);

    const cli = await startCli(['run', 'p.yaml', ...options, '--state-dir', 'state2'], { cwd, env });
    await cli.shows('stderr', /raw: forwarder \w+ gave up/);
    copyFileSync(join(cwd, 'wrong.yaml'), join(cwd, 'p.yaml'));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /was refused[\s\S]*collectors\.log\.backfill/);
    cli.kill('SIGTERM');
    const { stderr } = await cli.ended();
    expect(stderr).not.toContain(PART);
  });
});
