import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { folderWith, runCommand, runShell } from '../support/cli.ts';

const PASSWORD = 'hunter2Xq';
const KEY = ['-----BEGIN RSA PRIVATE KEY-----', 'MIIEpAIBAAKCAQEA0Z3VS5JJ', '-----END RSA PRIVATE KEY-----'];

const utf32 = (text: string) =>
  new Uint8Array(Uint32Array.from(text, (c) => c.codePointAt(0) as number).buffer);

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
    const packs = await runCommand(['redact', '--packs', 'secrets/keys', 'a.log'], { cwd });
    expect(packs).toEqual({ code: 0, stdout: `password=${PASSWORD}\npin-1\n`, stderr: '' });
    for (const more of [
      ['--packs', 'default,pii/contact'],
      ['--packs', 'default', '--packs', 'pii/contact'],
    ]) {
      const { stdout } = await runCommand(['redact', ...more, 'a.log'], { cwd });
      expect(stdout).toBe('password=<:password:>\npin-1\n');
    }
    const config = await runCommand(['redact', '--config', 'c.yaml', 'a.log', 'b.log'], { cwd });
    expect(config.stdout).toBe(`password=${PASSWORD}\n<:PIN:>\n<:PIN:>\n`);
  });

  it('masks personal data with one word more', async () => {
    const line = `password=${PASSWORD} of ada@shop.example paid with 4111111111111111`;
    const cwd = folderWith({
      'a.log': `${line}\n`,
      'c.yaml': `
collectors: { a: { plugin: test } }
processors: { secrets: { plugin: redact, packs: all } }
forwarders: { b: { plugin: noop } }
pipelines: { p: { collect: a, process: secrets, forward: b } }
host_config: {}
`,
    });
    const { stdout: secrets } = await runCommand(['redact', 'a.log'], { cwd });
    expect(secrets).toBe(`password=<:password:> of ada@shop.example paid with 4111111111111111\n`);
    for (const more of [['--pii'], ['--packs', 'all'], ['--config', 'c.yaml']]) {
      const { stdout } = await runCommand(['redact', ...more, 'a.log'], { cwd });
      expect(stdout).toBe('password=<:password:> of <:email:> paid with <:card:>\n');
    }
    const { code, stderr } = await runCommand(['redact', '--pii', '--config', 'c.yaml', 'a.log'], { cwd });
    expect(code).not.toBe(0);
    expect(stderr).toContain('--pii and --config exclude each other');
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
      `\x1b[1mpassword\x1b[0m=\x1b[33m${PASSWORD}\x1b[0m`,
      `{"log":"\\u001b[1mpassword\\u001b[0m=${PASSWORD}\\n"}`,
      long,
      ...KEY,
    ];
    // Kinds of lines come in runs, so that some are masked together and some one by one.
    const lines = Array.from({ length: 2400 }, (_, i) => `${kinds[Math.floor(i / 100) % kinds.length]}`);
    lines.push('with a carriage return\r', ...Array.from({ length: 50 }, () => 'last'));
    const cwd = folderWith({ 'a.log': `${lines.join('\n')}\n` });
    const { stdout } = await runCommand(['redact', 'a.log'], { cwd });
    const settings = RedactProcessConfig.parse({ plugin: 'redact' });
    const redactor = createRedactor(settings, { now: () => 0, onMask: () => {} });
    expect(stdout.split('\n').slice(0, -1)).toEqual(lines.map((line) => redactor.maskLine('a.log', line)));
  });

  it('masks lines of every kind together, however they end', async () => {
    const plain = Array.from(
      { length: 400 },
      (_, n) => `2026-01-01 request ${n} password=${PASSWORD} took ${n} ms`,
    );
    const long = (length: number, end: string) => `${'a1-'.repeat(length / 3)} password=${PASSWORD}${end}`;
    const files: Readonly<Record<string, string>> = {
      'crlf.log': plain.join('\r\n'),
      'mixed.log': plain.map((line, n) => line + (n % 3 === 0 ? '\r\n' : '\n')).join(''),
      'colours.log': plain.map((line, n) => (n % 5 === 0 ? `\x1b[31m${line}\x1b[0m` : line)).join('\n'),
      'words.log': plain.map((line, n) => (n % 7 === 0 ? `größe ${line}` : line)).join('\n'),
      'keys.log': plain
        .map((line, n) => (n % 50 === 0 ? `password:\n  ${PASSWORD}\n${line}` : line))
        .join('\n'),
      'long-last.log': `${plain.join('\n')}\n${long(3000, '')}`,
      'long-alone.log': long(3000, ''),
      'longer-alone.log': long(6000, ''),
      'long-lines.log': `${long(3000, '\n').repeat(5)}${long(6000, '\r\n').repeat(3)}${long(2100, '')}`,
    };
    const cwd = folderWith(files);
    for (const [name, text] of Object.entries(files)) {
      const { code, stdout } = await runCommand(['redact', name], { cwd });
      const expected = text
        .replaceAll(`password=${PASSWORD}`, 'password=<:password:>')
        .replaceAll(PASSWORD, '<:password:>');
      expect({ name, code, stdout }).toEqual({ name, code: 0, stdout: expected });
    }
  });

  it('says what it cannot read, and goes on', async () => {
    const cwd = folderWith({ 'a.log': 'ok\n' });
    const { code, stdout, stderr } = await runCommand(['redact', 'none.log', 'a.log'], { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: 'ok\n' });
    expect(stderr).toMatch(/^millrace: none\.log: .*\n$/);
    const wrong = await runCommand(['redact', '--packs', 'secrets/kyes']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Did you mean `secrets/keys`?');
  });

  it('refuses what it cannot search', async () => {
    const kinds: readonly (readonly [string, Buffer, string])[] = [
      ['utf-16.log', Buffer.from(`\ufeffpassword=${PASSWORD}\n`, 'utf16le'), 'it is UTF-16'],
      ['utf-16-unmarked.log', Buffer.from(`password=${PASSWORD}\n`, 'utf16le'), 'it is UTF-16'],
      ['utf-32.log', Buffer.from(utf32(`\ufeffpassword=${PASSWORD}\n`)), 'it is UTF-32'],
      ['a.gz', gzipSync(`password=${PASSWORD}\n`), 'it is compressed (gzip)'],
      ['image.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), 'it has NUL bytes'],
    ];
    const cwd = folderWith({ 'a.log': 'ok\n' });
    for (const [name, bytes] of kinds) writeFileSync(join(cwd, name), bytes);
    const names = kinds.map(([name]) => name);
    for (const [name, , message] of kinds) {
      const refusal = expect.stringContaining(`${name}: ${message}`);
      const masked = await runCommand(['redact', name, 'a.log'], { cwd });
      expect(masked).toEqual({ code: 2, stdout: 'ok\n', stderr: refusal });
      const scanned = await runCommand(['scan', name], { cwd });
      expect(scanned).toEqual({ code: 2, stdout: '', stderr: refusal });
    }
    const script = `for name in ${names.join(' ')}; do millrace redact < $name || echo $?; done`;
    const { stdout, stderr } = await runShell(script, { cwd });
    expect(stdout).toBe('2\n'.repeat(kinds.length));
    expect(stderr.trimEnd().split('\n')).toEqual(
      kinds.map(([, , message]) => expect.stringContaining(message)),
    );
  });

  it('fails when standard output cannot be written to', async () => {
    const { code, stderr } = await runShell('echo one | millrace redact > /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^millrace: cannot write to standard output: ENOSPC/);
  });

  it('fails when standard output is closed, and not when it is /dev/null', async () => {
    const cwd = folderWith({ 'a.log': 'ok\n' });
    const { code, stderr } = await runShell('millrace redact a.log >&-', { cwd });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^millrace: standard output is closed/),
    });
    expect((await runShell('millrace redact a.log > /dev/null', { cwd })).code).toBe(0);
    expect((await runShell('millrace scan a.log >&-', { cwd })).code).toBe(0);
  });

  it('says which line is withheld', async () => {
    const cwd = folderWith({ 'a.log': `ok\n${'a\n'.repeat(30_000)}token=${'aB3'.repeat(2 << 20)}\nlast\n` });
    const masked = await runCommand(['redact', 'a.log'], { cwd });
    expect(masked.code).toBe(1);
    expect(masked.stdout.split('\n').slice(-3)).toEqual(['<:withheld:>', 'last', '']);
    const message =
      'a.log:30002: the line was withheld: it is longer than 4 MiB, the most that is searched\n';
    expect(masked.stderr).toBe(`millrace: ${message}`);
    const scanned = await runCommand(['scan', 'a.log'], { cwd });
    expect(scanned).toMatchObject({ code: 2, stderr: `millrace: ${message}nothing found\n` });
  });

  it.each(['redact', 'scan'])('%s takes --packs or --config, and not both', async (command) => {
    const { code, stderr } = await runCommand([
      command,
      '--packs',
      'secrets/keys',
      '--config',
      'c.yaml',
      'a.log',
    ]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('--packs and --config exclude each other'),
    });
  });

  it('ends without a word when its reader has left', async () => {
    const { code, stderr } = await runShell('yes | millrace redact | head -n 1; exit ${PIPESTATUS[1]}');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('millrace scan', () => {
  it('says where and by which rule, never what, and fails', async () => {
    const cwd = folderWith({ 'a.log': `ok\nx password=${PASSWORD}\n${KEY.join('\n')}\n` });
    const { code, stdout, stderr } = await runCommand(['scan', 'a.log'], { cwd });
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
    expect(await runCommand(['scan', 'a.log'], { cwd })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing found\n',
    });
    expect((await runCommand(['scan'])).code).toBe(2);
    const { code, stderr } = await runCommand(['scan', 'none.log', 'a.log'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^millrace: none\.log: .*\nnothing found\n$/);
    const unread = await runCommand(['scan', 'none.log'], { cwd });
    expect(unread).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^millrace: none\.log: [^\n]*\n$/),
    });
  });

  it('searches the files of folders, and counts those that are no text', async () => {
    const cwd = folderWith({
      'logs/b/c.log': `password=${PASSWORD}\n`,
      'logs/a.log': 'ok\n',
      'logs/.git/x': `pwd=${PASSWORD}`,
    });
    writeFileSync(join(cwd, 'logs', 'a.log.1.gz'), gzipSync(`password=${PASSWORD}\n`));
    const { code, stdout, stderr } = await runCommand(['scan', 'logs'], { cwd });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: `${join('logs', 'b', 'c.log')}:1:10: secrets/context:password (9 characters)\n`,
      stderr: '1 found; skipped 1 file that is not text\n',
    });
    const masked = await runCommand(['redact', 'logs'], { cwd });
    expect(masked.code).toBe(2);
    expect(masked.stderr).toBe('millrace: logs: it is a folder; name the files in it\n');
  });
});

describe('millrace packs', () => {
  it('lists packs, and the rules of one with sources and examples', async () => {
    const list = await runCommand(['packs']);
    expect(list.stdout).toMatch(/^secrets\/keys \(\d+ rules, on by default\)$/m);
    expect(list.stdout).toMatch(/^pii\/payment \(\d+ rules\)$/m);
    const one = await runCommand(['packs', 'secrets/keys']);
    expect(one.stdout).toMatch(
      /^secrets\/keys:private-key \(high confidence\)\n {2}.*\n {2}source {3}.+\n {2}example {2}/m,
    );
    const none = await runCommand(['packs', 'secrets/kyes']);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('Did you mean `secrets/keys`?');
  });
});
