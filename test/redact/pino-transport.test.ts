import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import redactTransport from '../../redact/pino-transport.ts';
import { upToDateBuild } from '../support/build.ts';
import { startProcess } from '../support/cli.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SECRET = 'Tr0ub4dor&3';
const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const TARGET = 'millrace/pino/transport';

// pino loads a transport by its name, in a worker: what is built, not what is written here.
beforeAll(upToDateBuild);

describe('millrace/pino/transport', () => {
  const folder = tempFolder();
  const logging = async (transport: object, ending = 'return') => {
    const args = ['test/fixtures/redact/pino-transport.mjs', JSON.stringify(transport), ending];
    const { code, stdout, stderr } = await startProcess(process.execPath, args).ended();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  const expectMasked = (lines: string) => {
    expect(lines).not.toContain(SECRET);
    expect(lines).not.toContain(TOKEN);
    const records = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records).toHaveLength(202);
    expect(records[199]).toMatchObject({
      level: 30,
      i: 199,
      text: 'ä'.repeat(199),
      msg: 'password=<:password:>',
    });
    expect(records[199]).toMatchObject({ service: 'shop', password: '<:password:>' });
    expect(records[200].err.stack).toContain('caused by: Error: password=<:password:>');
    expect(records[201].buffer).toBe('<:unmaskable:>');
    expect(lines).toContain('"big":12345678901234567890');
  };

  it.each(['return', 'exit'])(
    'writes to standard output by itself, until the end of the program: %s',
    async (ending) => {
      expectMasked(await logging({ target: TARGET }, ending));
    },
  );

  it.each(['return', 'exit'])('writes to a file: %s', async (ending) => {
    const destination = folder(`${ending}/app.log`);
    await logging({ target: TARGET, options: { destination, mkdir: true } }, ending);
    expectMasked(readFileSync(destination, 'utf8'));
  });

  it.each(['return', 'exit'])('is a step of a pipeline: %s', async (ending) => {
    const destination = folder(`${ending}.log`);
    await logging(
      { pipeline: [{ target: TARGET }, { target: 'pino/file', options: { destination } }] },
      ending,
    );
    expectMasked(readFileSync(destination, 'utf8'));
  });

  it('is one of several targets, each with its level', async () => {
    const [all, errors] = [folder('all.log'), folder('errors.log')];
    const to = (destination: string) => [
      { target: TARGET },
      { target: 'pino/file', options: { destination } },
    ];
    const targets = [
      { level: 'info', pipeline: to(all) },
      { level: 'error', target: TARGET, options: { destination: errors } },
    ];
    // pino does not wait for several targets when a program exits.
    await logging({ targets }, 'close');
    expectMasked(readFileSync(all, 'utf8'));
    expect(readFileSync(errors, 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });

  it('takes the options of a redactor', async () => {
    const text = await logging({
      target: TARGET,
      options: { redactor: { packs: ['secrets/context'], action: { default: { mask_char: '*' } } } },
    });
    expect(text).toContain('"msg":"password=***********"');
  });

  it('fails when its file does, and closes', async () => {
    const transport = redactTransport({ destination: join(tmpdir(), 'no', 'such', 'folder', 'app.log') });
    const failed = new Promise((resolve) => transport.on('error', resolve));
    const closed = new Promise<void>((resolve) => transport.on('close', resolve));
    expect(await failed).toMatchObject({ code: 'ENOENT' });
    await closed;
  });

  it('masks lines wherever they are cut', async () => {
    const lines = `{"msg":"grüße","password":"${SECRET}"}\n{"msg":"password=${SECRET}"}\nno JSON, password=${SECRET}\n`;
    const bytes = Buffer.from(lines);
    for (let at = 1; at < bytes.length; at += 23) {
      const transport = redactTransport();
      transport.write(bytes.subarray(0, at));
      transport.end(bytes.subarray(at));
      expect((await transport.toArray()).join('')).toBe(
        '{"msg":"grüße","password":"<:password:>"}\n{"msg":"password=<:password:>"}\nno JSON, password=<:password:>\n',
      );
    }
  });
});
