import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { type CliOptions, folderWith, runCommand, startCli } from '../support/cli.ts';

const config = (admin = '') => `
collectors: { ticks: { plugin: test, interval: 0.01, count: 1000000 } }
forwarders: { nowhere: { plugin: noop } }
pipelines: { main: { collect: ticks, forward: nowhere } }
host_config: {}
${admin}
`;

async function started(args: readonly string[], admin = '', options: CliOptions = {}) {
  const cwd = folderWith({ 'p.yaml': config(admin) });
  const cli = await startCli(['run', 'p.yaml', '--no-state', ...args], { cwd, ...options });
  await cli.shows('stderr', /main: running/);
  const url = /metrics at (http:\S+)\/metrics/.exec(cli.stderr)?.[1] ?? '';
  return { cwd, cli, url };
}

describe('run --admin', () => {
  it('serves metrics and health until the run ends', async () => {
    const { cli, url } = await started(['--admin', '0']);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^millrace_events_received_total\{pipeline="main",kind="collect",entry="ticks",plugin="test"\} \d+$/m,
    );
    expect(await (await fetch(`${url}/health/ready`)).json()).toMatchObject({ status: 'ready' });
    cli.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(0);
    await expect(fetch(`${url}/metrics`)).rejects.toThrow();
  });

  it('takes the address and the token from the configuration, and survives a reload', async () => {
    const admin = 'admin: { listen: "[::1]:0", token: { env: TOKEN }, stalled_after: 5 }';
    const { cwd, cli, url } = await started([], admin, { env: { TOKEN: 'the-token' } });
    const headers = { authorization: 'Bearer the-token' };
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers })).status).toBe(200);
    writeFileSync(join(cwd, 'p.yaml'), config(admin).replaceAll('main', 'other'));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /other: running/);
    const { pipelines } = (await (await fetch(`${url}/health/ready`, { headers })).json()) as {
      pipelines: { pipeline: string }[];
    };
    expect(pipelines.map(({ pipeline }) => pipeline)).toEqual(['other']);
    cli.kill('SIGTERM');
    const { stderr } = await cli.ended();
    expect(stderr).not.toContain('the-token');
  });

  it.each([
    ['the Dockerfile', /^HEALTHCHECK .* CMD (\[.*\])$/m, 'deploy/docker/Dockerfile'],
    ['docs/deployment.md', /exec: \{ command: \[node, -e, (".*")\] \}/, 'docs/deployment.md'],
  ])('answers the health check of %s without the token', async (_, pattern, file) => {
    const { cli, url } = await started([], 'admin: { listen: 0, token: { env: TOKEN } }', {
      env: { TOKEN: 'the-token' },
    });
    const [, command = ''] = pattern.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
    const script = [JSON.parse(command)].flat().at(-1);
    expect(script).toContain('http://127.0.0.1:9464/health/live');
    const check = (address: string) =>
      spawnSync(process.execPath, ['-e', script.replace('http://127.0.0.1:9464', address)]).status;
    expect(check(url)).toBe(0);
    cli.kill('SIGTERM');
    await cli.ended();
    expect(check(url)).toBe(1);
  });

  it('serves nothing unless it is asked to', async () => {
    const { cli } = await started([], 'admin: { stalled_after: 5 }');
    expect(cli.stderr).not.toContain('admin:');
    cli.kill('SIGTERM');
    await cli.ended();
  });

  it('requires a token where other machines can ask', async () => {
    const cwd = folderWith({ 'p.yaml': config(), 'open.yaml': config('admin: { listen: 0.0.0.0:0 }') });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--no-state', '--admin', '0.0.0.0:0'], {
      cwd,
    });
    expect(code).toBe(2);
    expect(stderr).toContain(
      '0.0.0.0:0 can be reached from other machines, so requests need a token: set `admin.token`',
    );
    const validated = await runCommand(['validate', 'open.yaml'], { cwd });
    expect(validated).toMatchObject({ code: 2 });
    expect(validated.stderr).toContain('admin.token: missing');
  });

  it.each(['everywhere', '70000', ':9464', '[127.0.0.1]:1'])('refuses the address %s', async (address) => {
    const cwd = folderWith({ 'p.yaml': config() });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--admin', address], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('It must be a port, or HOST:PORT.');
  });
});
