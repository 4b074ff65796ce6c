import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCli, runCommand, startCli } from '../support/cli.ts';
import { countTo } from './configs.ts';

const TAIL = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { screen: { plugin: stdout } }
pipelines: { web: { collect: log, forward: screen } }
host_config: {}
`;

const linesOf = (stdout: string) =>
  stdout.split('\n').flatMap((text) => (text === '' ? [] : (JSON.parse(text).data.line as string)));

describe('the state folder of millrace run', () => {
  it('lets the next run go on where this one ended', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\ntwo\n' });
    const run = () => runCli(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
    expect(linesOf((await run()).stdout)).toEqual(['one', 'two']);
    appendFileSync(join(cwd, 'in.log'), 'three\n');
    expect(linesOf((await run()).stdout)).toEqual(['three']);
    const { code, stdout, stderr } = await run();
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain(
      'web: nothing was new: earlier runs have read everything, as `millrace state` shows',
    );
  });

  describe('that another configuration has used for a pipeline of the same name', () => {
    const WARNING = /web: resuming from checkpoints that \S*\/p\.yaml saved in a run of \d{4}-/;
    const args = (file: string, ...more: string[]) => [
      'run',
      file,
      '--once',
      '--state-dir',
      'state',
      ...more,
    ];

    it('is resumed from, with a warning, once', async () => {
      const copy = TAIL.replace('stdout', 'noop');
      const cwd = folderWith({ 'p.yaml': TAIL, 'copy.yaml': copy, 'in.log': 'one\n' });
      expect((await runCommand(args('p.yaml'), { cwd })).stderr).not.toMatch(/resuming from/);
      const second = await runCommand(args('copy.yaml'), { cwd });
      expect([second.code, second.stderr]).toEqual([0, expect.stringMatching(WARNING)]);
      expect((await runCommand(args('copy.yaml'), { cwd })).stderr).not.toMatch(/resuming from/);
      expect((await runCommand(args('p.yaml'), { cwd })).stderr).toMatch(
        /resuming from .*\/copy\.yaml saved/,
      );
    });

    it.each<[what: string, change: (cwd: string) => string[]]>([
      [
        'edited',
        (cwd) => {
          writeFileSync(join(cwd, 'p.yaml'), TAIL.replace('stdout', 'noop'));
          return args('p.yaml');
        },
      ],
      ['named by its absolute path', (cwd) => args(join(cwd, 'p.yaml'))],
      [
        'one of several files',
        (cwd) => {
          writeFileSync(join(cwd, 'more.yaml'), 'processors: {}\n');
          return args('p.yaml', 'more.yaml');
        },
      ],
    ])('is resumed from without a word by the same one that was %s', async (_, change) => {
      const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n' });
      await runCommand(args('p.yaml'), { cwd });
      const { code, stderr } = await runCommand(change(cwd), { cwd });
      expect([code, stderr]).toEqual([0, expect.not.stringMatching(/resuming from/)]);
    });

    it('is nothing to warn of for a pipeline of another name, or in another folder', async () => {
      const other = TAIL.replace('web:', 'other:');
      const cwd = folderWith({ 'p.yaml': TAIL, 'other.yaml': other, 'copy.yaml': TAIL, 'in.log': 'one\n' });
      await runCommand(args('p.yaml'), { cwd });
      for (const run of [args('other.yaml'), ['run', 'copy.yaml', '--once', '--state-dir', 'state2']]) {
        const { stdout, stderr } = await runCommand(run, { cwd });
        expect([linesOf(stdout), stderr]).toEqual([['one'], expect.not.stringMatching(/resuming from/)]);
      }
    });

    it('is resumed from, with a warning, by one that was moved', async () => {
      const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n' });
      await runCommand(args('p.yaml'), { cwd });
      renameSync(join(cwd, 'p.yaml'), join(cwd, 'moved.yaml'));
      appendFileSync(join(cwd, 'in.log'), 'two\n');
      const { stdout, stderr } = await runCommand(args('moved.yaml'), { cwd });
      expect([linesOf(stdout), stderr]).toEqual([['two'], expect.stringMatching(WARNING)]);
    });
  });

  it('says the same after runs that were killed before they had read anything', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\ntwo\n' });
    const args = ['run', 'p.yaml', '--state-dir', 'state'];
    await runCommand([...args, '--once'], { cwd });
    for (let i = 0; i < 2; i++) {
      const idle = await startCli(args, { cwd });
      await idle.shows('stderr', /following 1 file/);
      expect(await idle.killUntilEnded('SIGKILL')).toMatchObject({ stdout: '' });
    }
    appendFileSync(join(cwd, 'in.log'), 'three\n');
    expect(linesOf((await runCommand([...args, '--once'], { cwd })).stdout)).toEqual(['three']);
  });

  it('keeps `ctx.state` of any collector, whether or not a pipeline reads files', async () => {
    const cwd = folderWith({
      'runs.mjs': `
        export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
        export function collect({ ctx }) {
          const runs = (ctx.state.get('runs') ?? 0) + 1;
          ctx.state.set('runs', runs);
          return [{ data: { runs } }];
        }`,
      'p.yaml': `
collectors: { runs: { plugin: ./runs.mjs } }
forwarders: { screen: { plugin: stdout } }
pipelines: { main: { collect: runs, forward: screen, restart: false } }
host_config: {}
`,
    });
    for (const runs of [1, 2, 3]) {
      const { stdout } = await runCommand(['run', 'p.yaml', '--state-dir', 'state'], { cwd });
      expect(JSON.parse(stdout).data).toEqual({ runs });
    }
  });

  it('is not made for collectors that never use it', async () => {
    const cwd = folderWith({ 'p.yaml': countTo(1) });
    expect(await runCommand(['run', 'p.yaml', '--state-dir', 'state'], { cwd })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, 'state'))).toBe(false);
  });

  it('is by default in XDG_STATE_HOME, else in ~/.local/state', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n' });
    await runCommand(['run', 'p.yaml', '--once'], { cwd, env: { XDG_STATE_HOME: join(cwd, 'xdg') } });
    expect(existsSync(join(cwd, 'xdg/millrace/state.journal'))).toBe(true);
    for (const XDG_STATE_HOME of [undefined, '', 'relative']) {
      const HOME = folderWith();
      const { stdout } = await runCommand(['run', 'p.yaml', '--once'], {
        cwd,
        env: { HOME, XDG_STATE_HOME },
      });
      expect(linesOf(stdout)).toEqual(['one']);
      expect(existsSync(join(HOME, '.local/state/millrace/state.journal'))).toBe(true);
    }
  });

  it('refuses a folder that is empty, or where none can be made', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n' });
    const empty = await runCommand(['run', 'p.yaml', '--state-dir', ''], { cwd });
    expect(empty).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--state-dir.*It is empty; name a folder/),
    });
    const impossible = await runCommand(['run', 'p.yaml', '--once', '--state-dir', '/proc/x/y'], { cwd });
    expect(impossible.code).not.toBe(0);
    expect(impossible.stderr).toMatch(
      /cannot use the state folder \/proc\/x\/y: .*give a writable folder on a local disk with --state-dir, or none with --no-state\n$/,
    );
  });

  it('is not made with --no-state, nor if no pipeline that runs reads files', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n', 'count.yaml': countTo(1) });
    const env = { XDG_STATE_HOME: join(cwd, 'xdg') };
    for (let i = 0; i < 2; i++) {
      const { stdout } = await runCommand(['run', 'p.yaml', '--once', '--no-state'], { cwd, env });
      expect(linesOf(stdout)).toEqual(['one']);
    }
    await runCommand(['run', 'count.yaml'], { cwd, env });
    expect(existsSync(env.XDG_STATE_HOME)).toBe(false);
    const both = await runCommand(['run', 'p.yaml', '--no-state', '--state-dir', 'state'], { cwd });
    expect(both.code).toBe(2);
  });

  it('is refused to a second process, which is told of the first', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n' });
    const args = ['run', 'p.yaml', '--state-dir', 'state'];
    const first = await startCli(args, { cwd });
    await first.shows('stdout', /one/);
    const second = await runCommand(args, { cwd });
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 2, stdout: '' });
    expect(second.stderr).toMatch(
      new RegExp(
        `state folder ${join(cwd, 'state')} is in use by process ${first.child.pid}: .*--state-dir, or none with --no-state\n$`,
      ),
    );
    first.kill('SIGTERM');
    expect((await first.ended()).code).toBe(0);
    expect((await runCommand([...args, '--once'], { cwd })).code).toBe(0);
  });

  it('stays refused while its process is stopped, and is free at once when that is killed', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\n' });
    const args = ['run', 'p.yaml', '--state-dir', 'state'];
    const first = await startCli(args, { cwd });
    await first.shows('stdout', /one/);
    first.kill('SIGSTOP');
    const second = await runCommand(args, { cwd });
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('in use by a process that does not say its pid');
    first.kill('SIGKILL');
    await first.ended();
    expect((await runCommand([...args, '--once'], { cwd })).code).toBe(0);
  });

  it('is what exactly_once needs', async () => {
    const exact = TAIL.replace('plugin: stdout', 'plugin: disk, path: out, filename: o.jsonl').replace(
      'forward: screen }',
      'forward: screen, exactly_once: true }',
    );
    const cwd = folderWith({ 'p.yaml': exact, 'in.log': 'one\n' });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once', '--no-state'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('--no-state: pipeline web says "exactly_once: true"');
    for (let i = 0; i < 2; i++) {
      expect((await runCommand(['run', 'p.yaml', '--once', '--state-dir', 's'], { cwd })).code).toBe(0);
    }
    expect(linesOf(readFileSync(join(cwd, 'out/o.jsonl'), 'utf8'))).toEqual(['one']);
  });
});

describe('millrace state', () => {
  async function afterRun() {
    const cwd = folderWith({ 'p.yaml': TAIL, 'in.log': 'one\ntwo\n' });
    await runCommand(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
    const state = (...args: string[]) => runCommand(['state', ...args, '--state-dir', 'state'], { cwd });
    return { cwd, state, path: join(cwd, 'in.log') };
  }

  it('lists how far each file was read, and what is left', async () => {
    const { state, path } = await afterRun();
    appendFileSync(path, 'three\n');
    const { code, stdout } = await state();
    expect(code).toBe(0);
    const [head, row, ...more] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^PIPELINE +COLLECTOR +OFFSET +SIZE +BEHIND +KEY +PATH$/);
    expect(row).toMatch(/^web +log +8 +14 +6 +\d+:\d+ +\S*in\.log$/);
    expect(more).toEqual([]);
  });

  it('finds files whose names are not UTF-8', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL.replace('in.log', "'*.log'") });
    writeFileSync(
      Buffer.concat([Buffer.from(join(cwd, 'caf')), Buffer.from([0xe9]), Buffer.from('.log')]),
      'one\n',
    );
    await runCommand(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
    const { stdout } = await runCommand(['state', '--state-dir', 'state'], { cwd });
    expect(stdout).toMatch(/ 4 +4 +0 +\d+:\d+ .*caf.*\.log/);
  });

  it('says of a file that is gone, or that another one has its path', async () => {
    const { cwd, state, path } = await afterRun();
    renameSync(path, join(cwd, 'in.log.1'));
    expect((await state()).stdout).toMatch(/ gone +- /);
    writeFileSync(path, 'x\n');
    expect((await state()).stdout).toMatch(/ another file +- /);
  });

  it.each([
    ['state', 'missing', 'does not exist'],
    ['state', 'in.log', 'is not a folder'],
    ['state forget in.log', 'missing', 'does not exist'],
  ])('says, for %s, that %s %s, and makes none', async (command, name, wrong) => {
    const cwd = folderWith({ 'in.log': '' });
    const { code, stdout, stderr } = await runCommand([...command.split(' '), '--state-dir', name], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(
      `${join(cwd, name)} ${wrong}; give --state-dir the one that \`millrace run\` has`,
    );
    expect(existsSync(join(cwd, 'missing'))).toBe(false);
  });

  it('has nothing to list where nothing was kept yet', async () => {
    const cwd = folderWith();
    const { code, stderr } = await runCommand(['state'], { cwd, env: { XDG_STATE_HOME: join(cwd, 'home') } });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `${join(cwd, 'home', 'millrace')}: no checkpoints\n`,
    });
  });

  it.each(['path', 'key'])('forget makes the next run read a file again, named by its %s', async (by) => {
    const { cwd, state } = await afterRun();
    const key = /\d+:\d+/.exec((await state()).stdout)?.[0] as string;
    const { code, stdout } = await state('forget', by === 'path' ? 'in.log' : key);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^web: log: forgot .*in\.log, read up to 8\n$/);
    const again = await runCommand(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
    expect(linesOf(again.stdout)).toEqual(['one', 'two']);
  });

  it('forget refuses what is not there, and a folder in use', async () => {
    const { cwd, state } = await afterRun();
    const other = await state('forget', 'in.log', '--pipeline', 'api');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('no checkpoint of pipeline api for the path or key in.log');
    const run = await startCli(['run', 'p.yaml', '--state-dir', 'state'], { cwd });
    await run.shows('stderr', /web: running/);
    const used = await state('forget', 'in.log', '--collector', 'log');
    expect(used.code).toBe(2);
    expect(used.stderr).toContain(`in use by process ${run.child.pid}`);
    expect((await state()).stdout).toMatch(/^web +log +8 /m);
  });
});

describe('millrace state --config', () => {
  const GATEWAY = `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { away: { plugin: disk, path: away/out, filename: events.jsonl } }
pipelines: { web: { collect: log, forward: away, buffer: { type: disk, path: buffer } } }
host_config: {}
`;

  it('shows what waits in the buffers on disk, beside a run and after it', async () => {
    const cwd = folderWith({ 'p.yaml': GATEWAY, 'in.log': 'one\ntwo\n', away: 'no folder' });
    const list = async () => (await runCli(['state', '--config', 'p.yaml'], { cwd })).stdout;
    expect(await list()).toMatch(/^PIPELINE +EVENTS +BYTES +OLDEST +PATH\nweb +0 +0 +- +buffer\n$/);
    const child = await startCli(['run', 'p.yaml', '--state-dir', 'state'], { cwd });
    await child.shows('stderr', /cannot write/);
    expect(await list()).toMatch(/\nweb +2 +\d+ +[\d.]+ m?s +buffer\n$/);
    child.kill('SIGKILL');
    await child.ended();
    expect(await list()).toMatch(/\nweb +2 +\d+ +[\d.]+ m?s +buffer\n$/);
  });

  it('says so if there is none', async () => {
    const cwd = folderWith({ 'p.yaml': TAIL });
    const { stdout } = await runCli(['state', '--config', 'p.yaml'], { cwd });
    expect(stdout).toBe('p.yaml: no pipeline has a buffer on disk\n');
  });
});
