import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import picomatch from 'picomatch';
import { ENGINE_METRICS } from '../../src/admin/engine-metrics.ts';
import { ROOT, upToDateBuild } from '../support/build.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { freePort, skipWithout, startServer } from './support/start-server.ts';

const at = tempFolder();
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const page = read('docs/deployment.md');
const CONFIG = `
collectors: { ticks: { plugin: test, interval: 0.01, count: 1000000 } }
forwarders: { nowhere: { plugin: noop } }
pipelines: { main: { collect: ticks, forward: nowhere } }
host_config: {}
`;

describe('deploy/docker/Dockerfile', () => {
  /** Instructions of the last stage, as \`[name, argument]\`; continued lines are joined. */
  const instructions = read('deploy/docker/Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): [string, string] => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
  const lastStage = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
  const argumentOf = (wanted: string) => lastStage.find(([name]) => name === wanted)?.[1] ?? '';
  const listOf = (wanted: string): string[] => JSON.parse(argumentOf(wanted));

  beforeAll(upToDateBuild);

  it('starts from images with a version', () => {
    const images = instructions.filter(([name]) => name === 'FROM').map(([, image]) => image);
    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toMatch(/^node:(?:22|24)-\w+-slim/);
  });

  it('makes a package from the checkout and installs it, without a script of any package', () => {
    const [source, target] = [at('src'), at('opt/millrace')];
    const ignored = read('deploy/docker/Dockerfile.dockerignore').trim().split('\n');
    cpSync(ROOT, source, {
      recursive: true,
      filter: (path) =>
        !ignored.some((pattern) => picomatch.isMatch(relative(ROOT, path), pattern, { dot: true })),
    });
    mkdirSync(target, { recursive: true });
    const [make = '', install = ''] = instructions.filter(([name]) => name === 'RUN').map(([, text]) => text);
    const run = (command: string, cwd: string) =>
      execFileSync('sh', ['-ec', command], { cwd, env: { ...process.env, PACKAGES: '' }, stdio: 'pipe' });
    run(make, source);
    execFileSync('sh', ['-ec', `cp ${source}/millrace-*.tgz ${target}/millrace.tgz`]);
    run(install.replace('npm cache clean', ': npm cache clean'), target);
    const [, entry = ''] = listOf('ENTRYPOINT');
    const bin = entry.replace('/opt/millrace', target);
    expect(execFileSync(process.execPath, [bin, '--version'], { encoding: 'utf8' })).toMatch(
      /^\d+\.\d+\.\d+/,
    );
    expect(`${make} ${install}`.match(/npm (?:ci|install|pack)/g)).toHaveLength(
      (`${make} ${install}`.match(/--ignore-scripts/g) ?? []).length,
    );
  });

  it('ends as a user that is not root, who owns the state folder alone', () => {
    expect(argumentOf('USER')).toBe('1000:1000');
    expect(lastStage.findIndex(([name]) => name === 'USER')).toBeGreaterThan(
      lastStage.findLastIndex(([name]) => name === 'RUN'),
    );
    expect(argumentOf('RUN')).toContain('--owner=1000 --group=1000 --mode=0700 /var/lib/millrace');
    expect(listOf('VOLUME')).toEqual(['/var/lib/millrace']);
    // Lists, not strings: a shell between would not pass signals on.
    expect(listOf('ENTRYPOINT')).toEqual(['node', '/opt/millrace/node_modules/millrace/dist/src/cli/bin.js']);
  });

  it('has a command and a health check that work', async () => {
    const port = String(await freePort());
    writeFileSync(at('pipelines.yaml'), CONFIG);
    mkdirSync(at('state'), { mode: 0o700 });
    const inTest = (text: string) =>
      text
        .replaceAll('/etc/millrace', at())
        .replaceAll('/var/lib/millrace', at('state'))
        .replaceAll('9464', port);
    const run = await startServer(
      process.execPath,
      [join(ROOT, 'dist/src/cli/bin.js'), ...listOf('CMD').map(inTest)],
      /main: running/,
    );
    const check: string[] = JSON.parse(argumentOf('HEALTHCHECK').replace(/^.*? CMD /, '')).map(inTest);
    const [program, ...args] = check as [string, ...string[]];
    expect(spawnSync(program, args).status).toBe(0);
    await run.stop();
    expect(spawnSync(program, args).status).toBe(1);
    expect(page).toContain(check.at(-1)?.replaceAll(port, '9464'));
  });
});

skipWithout('systemd-analyze')('deploy/systemd/millrace.service', () => {
  const unit = read('deploy/systemd/millrace.service');
  /** With a program that is there on every machine. */
  const installed = () => {
    const path = at('millrace.service');
    writeFileSync(path, unit.replace('/usr/bin/millrace', '/bin/true'));
    return path;
  };

  it('is accepted by systemd without a warning', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', installed()], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('is as exposed as the page says, and no more', () => {
    const [, promised = ''] = /rates its exposure at ([\d.]+) of 10/.exec(page) ?? [];
    const threshold = String(Math.round(Number(promised) * 10));
    const args = ['security', '--offline=true', '--no-pager', `--threshold=${threshold}`, installed()];
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect(stdout).toContain(`${promised} OK`);
    expect(status).toBe(0);
  });
});

describe('deploy/systemd/millrace.service, as it is written', () => {
  const unit = read('deploy/systemd/millrace.service');

  it.each([
    'Type=notify',
    'NotifyAccess=all',
    'WatchdogSec=30',
    'RestartPreventExitStatus=2',
    'DynamicUser=yes',
    'StateDirectory=millrace',
    'LogsDirectory=millrace',
    'SupplementaryGroups=adm',
    'CapabilityBoundingSet=',
    'PrivateDevices=yes',
  ])('has %s, as the page says', (line) => {
    expect(unit.split('\n')).toContain(line);
  });

  it('has a command that millrace understands', async () => {
    const build = await upToDateBuild();
    const [, command = ''] = /^ExecStart=\/usr\/bin\/millrace (.*)$/m.exec(unit) ?? [];
    writeFileSync(at('pipelines.yaml'), CONFIG);
    const port = String(await freePort());
    const args = command
      .replace('/etc/millrace', at())
      .replace('/var/lib/millrace', at('state'))
      .replace('9464', port)
      .split(' ');
    const run = await startServer(process.execPath, [build, ...args], /main: running/);
    await run.stop();
    expect(run.output()).toContain('main: stopped');
  });
});

skipWithout('promtool')('deploy/prometheus/alerts.yaml', () => {
  const folder = join(ROOT, 'deploy/prometheus');

  it('is valid, and alerts when it should and only then', () => {
    execFileSync('promtool', ['check', 'rules', 'alerts.yaml'], { cwd: folder });
    execFileSync('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd: folder });
  });

  it('uses metrics that there are, and every alert is on the page and has a test', () => {
    const text = read('deploy/prometheus/alerts.yaml');
    const known = new Set(
      ENGINE_METRICS.flatMap(({ name, type }) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
    );
    const used = text.match(/\bmillrace_\w+/g) ?? [];
    expect(used.length).toBeGreaterThan(8);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
    const { groups } = load(text) as { groups: { rules: { alert: string }[] }[] };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    const tests = read('deploy/prometheus/alerts.test.yaml');
    for (const alert of alerts) {
      expect(page).toContain(`\`${alert}\``);
      expect(tests.split(`alertname: ${alert}`)).toHaveLength(3);
    }
  });
});
