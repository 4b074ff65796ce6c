import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { folderWith, runCli, runShell } from '../support/cli.ts';

const PASSWORD = 'hunter2Xq';
const KEY = ['-----BEGIN RSA PRIVATE KEY-----', 'MIIEpAIBAAKCAQEA0Z3VS5JJ', '-----END RSA PRIVATE KEY-----'];

describe('millrace redact', () => {
  it('copies lines of standard input, masked, with their ends as they were', async () => {
    const script = `printf 'a password=${PASSWORD}\\r\\n\\n\\xff plain\\n${KEY.join('\\n')}\\nlast' | millrace redact | od -v -An -c`;
    const { code, stdout } = await runShell(script);
    expect(code).toBe(0);
    const text = stdout.replace(/\s+/g, '');
    expect(text).toBe(
      `apassword=<:password:>\\r\\n\\n377plain\\n<:private-key:>\\n<:private-key:>\\n<:private-key:>\\nlast`,
    );
  });

  it('copies files, with the packs or the configuration that are named', async () => {
    const cwd = folderWith({
      'a.log': `password=${PASSWORD}\npin-1\n`,
      'b.log': 'pin-2\n',
      'c.yaml': `
collectors: { a: { plugin: test } }
processors: { secrets: { plugin: redact, packs: [], rules: { PIN: 'pin-[0-9]' } } }
forwarders: { b: { plugin: noop } }
pipelines: { p: { collect: a, process: secrets, forward: b } }
host_config: {}
`,
    });
    const packs = await runCli(['redact', '--packs', 'secrets/keys', 'a.log'], { cwd });
    expect(packs).toEqual({ code: 0, stdout: `password=${PASSWORD}\npin-1\n`, stderr: '' });
    const config = await runCli(['redact', '--config', 'c.yaml', 'a.log', 'b.log'], { cwd });
    expect(config.stdout).toBe(`password=${PASSWORD}\n<:PIN:>\n<:PIN:>\n`);
  });

  it('masks many lines together as it masks them one by one', async () => {
    const long = `${'x'.repeat(5000)} token=${'a1B2c3D4'.repeat(4)}`;
    const kinds = [
      'GET /index.html 200',
      `{"password":"${PASSWORD}"}`,
      'naïve plain',
      `naïve api_key=${'0aF3'.repeat(8)}`,
      `q=%70assword%3D${PASSWORD}`,
      Buffer.from(`{"secret":"${PASSWORD}","a":1}`).toString('base64'),
      long,
      ...KEY,
    ];
    // Kinds of lines come in runs, so that some are masked together and some one by one.
    const lines = Array.from({ length: 8000 }, (_, i) => `${kinds[Math.floor(i / 300) % kinds.length]}`);
    lines.push('with a carriage return\r', ...Array.from({ length: 50 }, () => 'last'));
    const cwd = folderWith({ 'a.log': `${lines.join('\n')}\n` });
    const { stdout } = await runCli(['redact', 'a.log'], { cwd });
    const settings = RedactProcessConfig.parse({ plugin: 'redact' });
    const redactor = createRedactor(settings, { now: () => 0, onMask: () => {} });
    expect(stdout.split('\n').slice(0, -1)).toEqual(lines.map((line) => redactor.maskLine('a.log', line)));
  });

  it('says what it cannot read, and goes on', async () => {
    const cwd = folderWith({ 'a.log': 'ok\n' });
    const { code, stdout, stderr } = await runCli(['redact', 'none.log', 'a.log'], { cwd });
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'ok\n' });
    expect(stderr).toMatch(/^millrace: none\.log: .*\n$/);
    const wrong = await runCli(['redact', '--packs', 'secrets/kyes']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Did you mean `secrets/keys`?');
  });

  it('fails when standard output cannot be written to', async () => {
    const { code, stderr } = await runShell('echo one | millrace redact > /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^millrace: cannot write to standard output: ENOSPC/);
  });

  it('ends without a word when its reader has left', async () => {
    const { code, stderr } = await runShell('yes | millrace redact | head -n 1; exit ${PIPESTATUS[1]}');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('millrace scan', () => {
  it('says where and by which rule, never what, and fails', async () => {
    const cwd = folderWith({ 'a.log': `ok\nx password=${PASSWORD}\n${KEY.join('\n')}\n` });
    const { code, stdout, stderr } = await runCli(['scan', 'a.log'], { cwd });
    expect(code).toBe(1);
    expect(stdout.split('\n')).toEqual([
      'a.log:2:12: secrets/context:password (9 characters)',
      'a.log:3:1: secrets/keys:private-key (31 characters)',
      'a.log:4:1: secrets/keys:private-key (24 characters)',
      'a.log:5:1: secrets/keys:private-key (29 characters)',
      '',
    ]);
    expect(stderr).toBe('4 found\n');
  });

  it('succeeds where there is nothing, and requires a file', async () => {
    const cwd = folderWith({ 'a.log': 'password=${PASSWORD}\nok\n' });
    expect(await runCli(['scan', 'a.log'], { cwd })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing found\n',
    });
    expect((await runCli(['scan'])).code).toBe(2);
    expect((await runCli(['scan', 'none.log'], { cwd })).code).toBe(1);
  });
});

describe('millrace packs', () => {
  it('lists packs, and the rules of one with sources and examples', async () => {
    const list = await runCli(['packs']);
    expect(list.stdout).toMatch(/^secrets\/keys \(\d+ rules, on by default\)$/m);
    expect(list.stdout).toMatch(/^pii\/payment \(\d+ rules\)$/m);
    const one = await runCli(['packs', 'secrets/keys']);
    expect(one.stdout).toMatch(
      /^secrets\/keys:private-key \(high confidence\)\n {2}.*\n {2}source {3}.+\n {2}example {2}/m,
    );
    const none = await runCli(['packs', 'secrets/kyes']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('Did you mean `secrets/keys`?');
  });
});
