import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { upToDateBuild } from '../support/build.ts';
import { folderWith, runCommand, startProcess } from '../support/cli.ts';

/** Text that forges a line, steers a terminal, breaks a line elsewhere, or turns the direction of what follows. */
const HOSTILE = 'x\nmain  completed after 1 ms\r\u001b[2J\u0085\u009b31m\u200b\u2028\u2029\u202e\u2066y';
/** Line ends are what the commands themselves write. */
const hasHostile = (text: string) => /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u.test(text.replaceAll('\r\n', '\n'));
const key = JSON.stringify(HOSTILE);

/** Names of everything that may have a name. */
const CONFIG = `
collectors: { ${key}: { plugin: file, paths: ['*.log', missing.log], backfill: true, allow_missing: true } }
processors: { mask: { plugin: regex_mask, rules: { ${key}: 'secret' } } }
forwarders:
  ${key}: { plugin: noop }
  failing: { plugin: ./failing.mjs }
pipelines: { ${key}: { collect: ${key}, process: mask, forward: [${key}, failing], delivery: { attempts: 1 } } }
host_config: {}
tests:
  ${key}: { collect: { ${key}: [a] }, expect: { ${key}: [${key}] } }
`.replace(', allow_missing: true', '');

const FAILING = `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = ({ ctx, event }) => {
  ctx.logger.warn(event.data.source, { [event.data.source]: event.data.source });
  throw Object.assign(new Error(event.data.source), { loggable: true });
};`;

const folder = () => {
  const cwd = folderWith({ 'p.yaml': CONFIG, 'failing.mjs': FAILING });
  writeFileSync(join(cwd, `${HOSTILE}.log`), 'a secret\n');
  return cwd;
};

describe('names from outside', () => {
  it.each(['pretty', 'json'])('cannot steer a terminal, nor forge a line: %s', async (format) => {
    const cwd = folder();
    const outputs: string[] = [];
    const millrace = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await runCommand([...args, '--log-format', format], { cwd });
      outputs.push(stdout, stderr);
      return { code, stdout, stderr };
    };
    const { stderr } = await millrace('run', 'p.yaml', '--once', '--state-dir', '.');
    expect(stderr).toContain('\\u202e');
    const state = await millrace('state', '--state-dir', '.');
    expect(state.stdout.trimEnd().split('\n')).toHaveLength(2);
    await millrace('state', 'forget', `${HOSTILE}.log`, '--state-dir', '.');
    await millrace('state', 'forget', HOSTILE, '--state-dir', '.');
    expect(await millrace('validate', 'p.yaml')).toMatchObject({ code: 0 });
    expect(await millrace('graph', 'p.yaml')).toMatchObject({ code: 0 });
    expect(await millrace('test', 'p.yaml')).toMatchObject({ code: 1 });
    await millrace('test', 'p.yaml', '--filter', HOSTILE.replace('x', 'z'));
    await millrace('run', 'p.yaml', '--pipeline', HOSTILE.replace('x', 'z'));
    await millrace('run', `${HOSTILE}.yaml`);
    await millrace('test', `${HOSTILE}*.yaml`);
    writeFileSync(
      join(cwd, `${HOSTILE}.yaml`),
      `host_config: {}\n${key}: 1\nforwarders: { \u202e\u0085: ${key} }\n`,
    );
    await millrace('validate', `${HOSTILE}.yaml`);
    for (const output of outputs) {
      expect(hasHostile(output) ? output : '').toBe('');
      expect(output).not.toMatch(/^ *main {2}completed/m);
    }
  });
});

const hasScript = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');

(hasScript ? describe : describe.skip)('events on standard output', () => {
  const config = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { out: { plugin: stdout, pretty_print: false } }
pipelines: { main: { collect: log, forward: out } }
host_config: {}
`;
  const line = HOSTILE.replaceAll('\n', '');

  it.each([false, true])('are escaped on a terminal only, pretty_print: %p', async (pretty) => {
    const cwd = folderWith({ 'p.yaml': config.replace('false', String(pretty)), 'in.log': `${line}\n` });
    const args = ['run', 'p.yaml', '--once', '--no-state', '--log-level', 'error'];
    const command = [process.execPath, await upToDateBuild(), ...args].map((word) => `'${word}'`).join(' ');
    const screen = await startProcess('script', ['-qec', command, '/dev/null'], { cwd }).ended();
    const piped = await runCommand(args, { cwd });
    expect(hasHostile(screen.stdout)).toBe(false);
    expect(screen.stdout).toContain('\\u202e');
    expect(piped.stdout).toContain('\u202e');
    for (const { stdout } of [screen, piped]) expect(JSON.parse(stdout).data.line).toBe(line);
  });
});
