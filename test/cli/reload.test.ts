import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type CliProcess, folderWith, startCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';

/** Follows two files. `mark` is what changes of the first pipeline. */
const config = (mark: string, more = '') => `
collectors:
  a: { plugin: file, paths: [a.log], backfill: true }
  b: { plugin: file, paths: [b.log], backfill: true }
processors:
  mask: { plugin: regex_mask, rules: { ${mark}: '[0-9]+' } }
forwarders:
  out_a: { plugin: disk, path: out, filename: a.jsonl }
  out_b: { plugin: stdout }
pipelines:
  first: { collect: a, process: mask, forward: out_a }
  second: { collect: b, forward: out_b }
${more}
host_config: {}
`;

async function started(args: readonly string[] = []) {
  const cwd = folderWith({ 'p.yaml': config('ONE'), 'a.log': '', 'b.log': '', 'out/a.jsonl': '' });
  const cli = await startCli(['run', 'p.yaml', '--state-dir', 'state', ...args], { cwd });
  await cli.shows('stderr', /second: running/);
  const write = (text: string) => writeFileSync(join(cwd, 'p.yaml'), text);
  const add = (file: string, text: string) => appendFileSync(join(cwd, file), text);
  return { cwd, cli, write, add };
}

async function ended(cli: CliProcess) {
  cli.kill('SIGTERM');
  const result = await cli.ended();
  expect(result.code).toBe(0);
  return result;
}

const linesIn = (text: string) =>
  text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line).data.line as string)));

describe('reload', () => {
  it('reads packs of redaction rules again', async () => {
    const { cwd, cli, write, add } = await started();
    const pack = (name: string) =>
      writeFileSync(
        join(cwd, 'acme.yaml'),
        `rules: { ${name}: { description: x, match: 'ACM-[0-9]+', tests: { matches: ['ACM-{digit:8}'] } } }`,
      );
    pack('one');
    write(config('ONE').replace(/mask: {.*/, 'mask: { plugin: redact, packs: ./acme.yaml }'));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /first: stopped[\s\S]*first: running/);
    cli.kill('SIGHUP');
    await cli.shows('stderr', /configuration reloaded: no pipeline has changed/);
    pack('two');
    cli.kill('SIGHUP');
    await cli.shows('stderr', /stopped[\s\S]*stopped[\s\S]*first: running/);
    pack('a b');
    cli.kill('SIGHUP');
    await cli.shows(
      'stderr',
      /the new configuration was refused.*acme.yaml:1:\d+: rules.a b: expected a name/,
    );
    add('a.log', 'see ACM-123\n');
    const output = () => linesIn(readFileSync(join(cwd, 'out/a.jsonl'), 'utf8'));
    await eventually(() => expect(output()).toEqual(['see <:two:>']));
    await ended(cli);
  });

  it.each([
    ['SIGHUP', []],
    ['--watch', ['--watch']],
  ])('by %s restarts the pipelines that changed, and no other', async (_name, args) => {
    const { cwd, cli, write, add } = await started(args);
    add('b.log', 'b1\n');
    await cli.shows('stdout', /b1/);
    write(config('TWO'));
    if (args.length === 0) cli.kill('SIGHUP');
    await cli.shows('stderr', /configuration reloaded: 1 pipeline changed \(first\)/);
    await cli.shows('stderr', /first: stopped[\s\S]*first: running/);
    add('a.log', 'a 1\n');
    add('b.log', 'b2\n');
    await cli.shows('stdout', /b2/);
    const output = () => linesIn(readFileSync(join(cwd, 'out/a.jsonl'), 'utf8'));
    await eventually(() => expect(output()).toEqual(['a <:TWO:>']));
    const { stderr, stdout } = await ended(cli);
    expect(linesIn(stdout)).toEqual(['b1', 'b2']);
    expect(stderr.match(/second: running/g)).toHaveLength(1);
  });

  it('adds and removes pipelines', async () => {
    const { cli, write } = await started();
    write(config('ONE', '  third: { collect: b, forward: out_b }').replace(/ {2}first: .*\n/, ''));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /1 pipeline added \(third\), 1 pipeline removed \(first\)/);
    await cli.shows('stderr', /first: stopped/);
    await cli.shows('stderr', /third: running/);
    write(config('ONE'));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /1 pipeline added \(first\), 1 pipeline removed \(third\)/);
    await cli.shows('stderr', /first: running[\s\S]*first: running/);
    const { stderr } = await ended(cli);
    expect(stderr).toMatch(/^first {2}stopped after/m);
    expect(stderr).toMatch(/^third {2}stopped after/m);
  });

  it('refuses a wrong configuration with its problems, and the old one runs on', async () => {
    const { cli, write, add } = await started();
    write(config('ONE').replace('plugin: disk', 'plugin: dsk').replace('plugin: stdout', 'plugin: stdot'));
    cli.kill('SIGHUP');
    await cli.shows(
      'stderr',
      /the new configuration was refused, all pipelines run on with the old one: .*p\.yaml:8:.*\n.* error p\.yaml:9:/,
    );
    add('b.log', 'still here\n');
    await cli.shows('stdout', /still here/);
    write(config('ONE'));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /configuration reloaded: no pipeline has changed/);
    const { stderr } = await ended(cli);
    expect(stderr.match(/first: running/g)).toHaveLength(1);
  });

  it('loses and doubles no line in 20 reloads under load', async () => {
    const { cwd, cli, write, add } = await started();
    let next = 0;
    const writer = setInterval(() => {
      for (let i = 0; i < 100; i++) add('a.log', `line-${String.fromCharCode(97 + (next % 26))} ${next++}\n`);
    }, 5);
    try {
      for (let round = 1; round <= 20; round++) {
        write(config(`R${round}`));
        cli.stderr = '';
        cli.kill('SIGHUP');
        await cli.shows('stderr', /first: running/);
      }
    } finally {
      clearInterval(writer);
    }
    add('b.log', 'end\n');
    await cli.shows('stdout', /end/);
    await ended(cli);
    const rest = await startCli(['run', 'p.yaml', '--once', '--state-dir', 'state', '--pipeline', 'first'], {
      cwd,
    });
    const { code } = await rest.ended();
    expect(code).toBe(0);
    const wanted = Array.from({ length: next }, (_, i) => `line-${String.fromCharCode(97 + (i % 26))}`);
    const got = linesIn(readFileSync(join(cwd, 'out/a.jsonl'), 'utf8')).map((line) => line.split(' ')[0]);
    expect(got).toEqual(wanted);
  });

  it('marks no line as backfill that was written after its file was first followed', async () => {
    const { cwd, cli, write, add } = await started();
    await cli.shows('stderr', /following 1 file[\s\S]*following 1 file/);
    add('b.log', 'while it runs\n');
    await cli.shows('stdout', /while it runs/);
    write(config('ONE').replace(/ {2}second: .*\n/, ''));
    cli.kill('SIGHUP');
    await cli.shows('stderr', /second: stopped/);
    add('b.log', 'between two reloads\n');
    write(config('ONE'));
    cli.kill('SIGHUP');
    await cli.shows('stdout', /between two reloads/);
    writeFileSync(join(cwd, 'b.log'), 'begun anew\n');
    await cli.shows('stdout', /begun anew/);
    const { stdout } = await ended(cli);
    const marks = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).backfill ?? false);
    expect(marks).toEqual([false, false, false]);
  });

  it('keeps its place without a state folder as well', async () => {
    const cwd = folderWith({ 'p.yaml': config('ONE'), 'a.log': '', 'b.log': 'b1\n' });
    const cli = await startCli(['run', 'p.yaml', '--no-state'], { cwd });
    await cli.shows('stdout', /b1/);
    writeFileSync(
      join(cwd, 'p.yaml'),
      config('ONE').replace('forward: out_b', 'forward: out_b, ordered: false'),
    );
    cli.kill('SIGHUP');
    await cli.shows('stderr', /second: stopped[\s\S]*second: running/);
    appendFileSync(join(cwd, 'b.log'), 'b2\n');
    await cli.shows('stdout', /b2/);
    const { stdout, stderr } = await ended(cli);
    expect(linesIn(stdout)).toEqual(['b1', 'b2']);
    expect(stderr).toMatch(/^second {2}stopped after .*\n +in +2 /m);
  });

  it('by SIGHUP reopens output files, so that logrotate can move them', async () => {
    const { cwd, cli, add } = await started();
    const path = join(cwd, 'out/a.jsonl');
    const output = (name: string) => linesIn(readFileSync(name, 'utf8'));
    add('a.log', 'old 1\n');
    await eventually(() => expect(output(path)).toEqual(['old <:ONE:>']));
    renameSync(path, `${path}.1`);
    cli.kill('SIGHUP');
    await cli.shows('stderr', /no pipeline has changed/);
    add('a.log', 'new 2\n');
    await eventually(() => expect(output(path).at(-1)).toBe('new <:ONE:>'));
    // A batch that is not acknowledged yet when its file is renamed moves to the new one.
    expect([...output(`${path}.1`), ...output(path)]).toEqual(['old <:ONE:>', 'new <:ONE:>']);
    await ended(cli);
  });
});

describe('a pipeline that has failed', () => {
  const FAILS = `
import { existsSync } from 'node:fs';
import { CollectConfigBase, PluginError } from 'millrace/plugin';

export const get_config_schema = () => CollectConfigBase;
export async function* collect({ ctx }) {
  if (existsSync('broken')) throw new PluginError('the source is gone');
  yield { data: { line: 'works' } };
  await new Promise((end) => ctx.signal.addEventListener('abort', end));
}
`;
  const CONFIG = config('ONE', '  third: { collect: c, forward: out_c, max_restarts: 0 }')
    .replace('processors:', '  c: { plugin: ./fails.mjs }\nprocessors:')
    .replace('pipelines:', '  out_c: { plugin: disk, path: out, filename: c.jsonl }\npipelines:');

  async function failing(args: readonly string[] = []) {
    const cwd = folderWith({ 'p.yaml': CONFIG, 'a.log': '', 'b.log': '', broken: '', 'fails.mjs': FAILS });
    const cli = await startCli(['run', 'p.yaml', '--no-state', ...args], { cwd });
    await cli.shows('stderr', /second: running/);
    await cli.shows('stderr', /third: failed: collector c: the source is gone/);
    const repair = () => rmSync(join(cwd, 'broken'));
    const works = () =>
      eventually(() => expect(linesIn(readFileSync(join(cwd, 'out/c.jsonl'), 'utf8'))).toEqual(['works']));
    return { cli, repair, works };
  }

  it('is started again by SIGHUP, and fails again if its cause is still there', async () => {
    const { cli, repair, works } = await failing();
    cli.kill('SIGHUP');
    await cli.shows('stderr', /configuration reloaded: 1 pipeline started again \(third\)/);
    await cli.shows('stderr', /third: failed[\s\S]*third: failed/);
    repair();
    cli.kill('SIGHUP');
    await works();
    const { stderr } = await ended(cli);
    expect(stderr.match(/second: running/g)).toHaveLength(1);
  });

  it('is started again by POST /start', async () => {
    const { cli, repair, works } = await failing(['--admin', '0']);
    const [, url] = /metrics at (http:\S+)\/metrics/.exec(cli.stderr) ?? [];
    const start = async (pipeline: string) => {
      const answer = await fetch(`${url}/start?pipeline=${pipeline}`, { method: 'POST' });
      return [answer.status, await answer.json()];
    };
    repair();
    expect(await start('third')).toEqual([200, { pipeline: 'third', state: 'running' }]);
    await works();
    expect(await start('first')).toEqual([200, { pipeline: 'first', state: 'running' }]);
    expect(await start('fourth')).toEqual([
      404,
      { error: 'this process runs no pipeline "fourth"; it runs first, second, third' },
    ]);
    await ended(cli);
  });
});
