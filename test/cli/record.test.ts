import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand, startCli } from '../support/cli.ts';
import { httpSink, inTurn, status } from '../support/http-sink.ts';

const SECRETS = ['xK29sjw8f7s', 'AKIAQ7XJ3PLMZ5TR2VWK', 'hunter2hunter'];

const config = (forwarder: string, pipeline = '') => `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors:
  fields: { plugin: parse, format: json }
  secrets: { plugin: redact, rules: { pin: { match: '^hunter2hunter$' } } }
forwarders:
  archive: ${forwarder}
pipelines:
  web: { collect: log, process: [fields, secrets], forward: archive${pipeline} }
host_config: {}
`;
const DISK = '{ plugin: disk, path: out, filename: web.jsonl }';
const INPUT = [
  '{"user":"ada","path":"/api/users/"}',
  `{"user":"bob","password":"${SECRETS[0]}"}`,
  `not JSON: ${SECRETS[1]} $\{HOME}`,
  `{"user":"cy","pin":"${SECRETS[2]}"}`,
].map((line) => `${line}\n`);

const RECORD = ['record', 'web.yaml', '--pipeline', 'web', '--no-state'];

function expectNoSecret(...texts: readonly string[]): void {
  for (const text of texts) for (const secret of SECRETS) expect(text).not.toContain(secret);
}

describe('millrace record', () => {
  it('writes a test that replays the run, with no secret in it, and that another configuration fails', async () => {
    const sink = await httpSink(inTurn(status(503), status(503), status(200)));
    const yaml = config(`{ plugin: http, url: "${sink.url}/in", format: ndjson }`);
    const cwd = folderWith({ 'web.yaml': yaml, 'in.log': INPUT.join('') });
    const recorded = await runCommand([...RECORD, '--once'], { cwd });
    expect(recorded).toMatchObject({ code: 0 });
    await sink.close();
    expectNoSecret(recorded.stdout, recorded.stderr);
    expect(recorded.stdout).toMatch(/^# archive failed 2 times: .*503/m);
    expect(recorded.stdout).toMatch(/fails: true, backoff: /);
    expect(recorded.stderr).not.toContain('the replay differs');

    writeFileSync(join(cwd, 'incident.test.yaml'), recorded.stdout);
    const env = { HOME: '/home/of/the/test' };
    const replayed = await runCommand(['test', 'incident.test.yaml'], { cwd, env });
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('1 passed') });
    writeFileSync(join(cwd, 'web.yaml'), yaml.replace('process: [fields, secrets]', 'process: [secrets]'));
    const changed = await runCommand(['test', 'incident.test.yaml'], { cwd, env });
    expect(changed).toMatchObject({ code: 1, stdout: expect.stringContaining('1 failed') });
  });

  it('masks what errors say, by the masks of the pipeline too', async () => {
    const denied = `import { PluginError } from 'millrace/plugin';
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = () => { throw new PluginError('denied on password=${'Zx81'}kk29dkeo0 for p-4711', { permanent: true }); };
`;
    const cwd = folderWith({
      'web.yaml': config('{ plugin: ./denied.mjs }').replace("'^hunter2hunter$'", "'p-[0-9]+'"),
      'denied.mjs': denied,
      'in.log': 'a\n',
    });
    const { stdout } = await runCommand([...RECORD, '--once'], { cwd });
    expect(stdout).toMatch(/^# archive failed .*: denied on password=<:password:> for <:pin:>$/m);
    expect(stdout).not.toContain('kk29dkeo0');
  });

  it('writes what it has when it is stopped', async () => {
    const cwd = folderWith({ 'web.yaml': config(DISK), 'in.log': INPUT.join('') });
    const cli = await startCli([...RECORD, '--for', '10m', '--output', 'incident.test.yaml'], { cwd });
    await cli.shows('stderr', /following 1 file/);
    appendFileSync(join(cwd, 'in.log'), '{"user":"dee"}\n');
    const output = join(cwd, 'out/web.jsonl');
    for (;;) {
      const text = await Promise.resolve()
        .then(() => readFileSync(output, 'utf8'))
        .catch(() => '');
      if (text.includes('"dee"')) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    cli.kill('SIGINT');
    expect(await cli.ended()).toMatchObject({ code: 0, stdout: '' });
    const file = join(cwd, 'incident.test.yaml');
    const text = readFileSync(file, 'utf8');
    expectNoSecret(text, cli.stderr);
    expect(text).toContain(' (SIGINT).');
    expect(text).toContain('user: dee');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await runCommand(['test', 'incident.test.yaml'], { cwd })).toMatchObject({ code: 0 });
    // Not a second time into the same file.
    const again = await runCommand([...RECORD, '--once', '--output', 'incident.test.yaml'], { cwd });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('the file already exists') });
  });

  it('records a collector that fails and is restarted', async () => {
    const plugin = `
      import { timer, map, concat, throwError, of, delay } from 'rxjs';
      let runs = 0;
      export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
      export const traits = { usesState: false };
      export const collect = () => {
        const run = ++runs;
        const event = (n) => ({ timestamp: new Date().toISOString(), data: { line: 'run ' + run + ', event ' + n } });
        const events = timer(20, 20).pipe(map(event));
        return run === 1 ? concat(of(event(0)), timer(50).pipe(map(() => { throw new Error('gone'); }))) : of(event(0));
      };`;
    const yaml = `
collectors: { log: { plugin: ./flaky.mjs } }
forwarders: { archive: ${DISK} }
pipelines: { web: { collect: log, forward: archive } }
host_config: {}
`;
    const cwd = folderWith({ 'web.yaml': yaml, 'flaky.mjs': plugin });
    const recorded = await runCommand([...RECORD, '--once'], { cwd });
    expect(recorded.stdout).toContain("value: 'run 2, event 0'");
    expect(recorded.stdout).toMatch(/ {8}runs:\n/);
    expect(recorded.stdout).toContain('states: [running, backing_off, running, completed]');
    writeFileSync(join(cwd, 'incident.test.yaml'), recorded.stdout);
    expect(await runCommand(['test', 'incident.test.yaml'], { cwd })).toMatchObject({ code: 0 });
  });

  it.each([
    [['--output', 'incident.yaml'], /names end in \.test\.yaml/],
    [['--for', '60'], /Expected a time with its unit/],
    [['--events', '10001'], /Expected a whole number from 1 to 10000/],
  ])('refuses %s', async (args, message) => {
    const cwd = folderWith({ 'web.yaml': config(DISK) });
    const result = await runCommand([...RECORD, ...args], { cwd });
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('does not mix the recording with events on standard output', async () => {
    const cwd = folderWith({ 'web.yaml': config('{ plugin: stdout }'), 'in.log': '' });
    const result = await runCommand([...RECORD, '--once'], { cwd });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('--output incident.test.yaml') });
  });
});

describe('/record of a process that runs', () => {
  it('gives a test of what happens meanwhile, and does not disturb the pipeline', async () => {
    const cwd = folderWith({
      'web.yaml': `${config(DISK, ', workers: 2').replace('[fields, secrets]', 'secrets').replace('{ plugin: redact,', '{ plugin: redact, blocks: false,')}admin: { listen: '127.0.0.1:0', token: { env: TOKEN } }\n`,
      'in.log': INPUT.join(''),
    });
    const cli = await startCli(['run', 'web.yaml', '--no-state'], { cwd, env: { TOKEN: 'the-token' } });
    await cli.shows('stderr', /following 1 file/);
    const url = /metrics at (http:\S+)\/metrics/.exec(cli.stderr)?.[1] ?? '';
    const headers = { authorization: 'Bearer the-token' };
    expect((await fetch(`${url}/record?pipeline=web&for=1s`)).status).toBe(401);
    expect((await fetch(`${url}/record?pipeline=other&for=1s`, { headers })).status).toBe(404);

    const answer = fetch(`${url}/record?pipeline=web&for=2s`, { headers });
    await cli.shows('stderr', /admin: recording web for 2s/);
    expect((await fetch(`${url}/record?pipeline=web&for=1s`, { headers })).status).toBe(409);
    const more = Array.from({ length: 50 }, (_, n) => `{"n":${n},"password":"${SECRETS[0]}"}\n`);
    appendFileSync(join(cwd, 'in.log'), more.join(''));
    const text = await (await answer).text();
    expect(text).toMatch(/"n":49/);
    expect(text).toContain('<:password:>');
    expectNoSecret(text, cli.stderr);

    appendFileSync(join(cwd, 'in.log'), '{"n":"after"}\n');
    const output = join(cwd, 'out/web.jsonl');
    while (!readFileSync(output, 'utf8').includes('after')) await new Promise((next) => setImmediate(next));
    cli.kill('SIGTERM');
    expect((await cli.ended()).code).toBe(0);
    expect(readFileSync(output, 'utf8').trimEnd().split('\n')).toHaveLength(INPUT.length + 51);
    writeFileSync(join(cwd, 'incident.test.yaml'), text);
    const replayed = await runCommand(['test', 'incident.test.yaml'], { cwd, env: { TOKEN: 'x' } });
    expect(replayed).toMatchObject({ code: 0 });
  });

  it('is refused without a token, also on a loopback address', async () => {
    const cwd = folderWith({ 'web.yaml': config(DISK), 'in.log': '' });
    const cli = await startCli(['run', 'web.yaml', '--no-state', '--admin', '0'], { cwd });
    await cli.shows('stderr', /web: running/);
    const url = /metrics at (http:\S+)\/metrics/.exec(cli.stderr)?.[1] ?? '';
    const answer = await fetch(`${url}/record?pipeline=web`);
    expect(answer.status).toBe(403);
    cli.kill('SIGTERM');
    await cli.ended();
  });
});
