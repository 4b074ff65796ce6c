import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { TextInput } from '../../src/cli/text-input.ts';
import { folderWith, runCommand } from '../support/cli.ts';

const nuls = (count: number) => Buffer.alloc(count);
const bytesOf = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));

async function read(content: Buffer): Promise<{ text: string; holeBytes: number }> {
  const path = join(folderWith({}), 'a.log');
  writeFileSync(path, content);
  const input = new TextInput(path);
  const blocks: Buffer[] = [];
  for await (const block of input.blocks()) {
    if (blocks.length > 0) expect(blocks.at(-1)?.at(-1)).toBe(0x0a);
    blocks.push(block);
  }
  return { text: Buffer.concat(blocks).toString(), holeBytes: input.holeBytes };
}

describe('holes', () => {
  // A file is read in chunks of 64 KiB: holes of these sizes start, end and lie in them.
  it.each([1, 3, 64, 4096, 65_535, 65_536, 65_537, 300_000])(
    'of %s bytes are left out at the start',
    async (size) => {
      expect(await read(bytesOf(nuls(size), 'one\ntwo\n'))).toEqual({ text: 'one\ntwo\n', holeBytes: size });
    },
  );

  it.each([64, 4096, 65_532, 65_536, 300_000])('of %s bytes are left out anywhere', async (size) => {
    const hole = nuls(size);
    const between = await read(bytesOf('one\n', hole, 'two\n', hole));
    expect(between).toEqual({ text: 'one\ntwo\n', holeBytes: 2 * size });
    const inLine = await read(bytesOf('one\nleft', hole, 'right\n', hole, 'three'));
    expect(inLine).toEqual({ text: 'one\nleft\0right\nthree', holeBytes: 2 * size - 1 });
  });

  it('are more than a few NULs in a row', async () => {
    const content = bytesOf('a\0b\n', nuls(63), 'c\n\0\n');
    expect(await read(content)).toEqual({ text: content.toString(), holeBytes: 0 });
  });

  it('can be all of a file', async () => {
    expect(await read(nuls(200_000))).toEqual({ text: '', holeBytes: 200_000 });
  });

  it.each<[string, Buffer, string]>([
    ['UTF-16', Buffer.from('a password=x\n', 'utf16le'), 'it is UTF-16'],
    ['gzip', gzipSync('text'), 'it is compressed (gzip)'],
    ['a binary', bytesOf('\x7fELF\x02\x01\x01\0\0'), 'it has NUL bytes and other control characters'],
  ])('do not hide %s', async (_, content, message) => {
    for (const size of [0, 20, 5000, 70_000]) {
      await expect(read(bytesOf(nuls(size), content))).rejects.toThrow(message);
    }
  });
});

it('a tar archive is none of lines', async () => {
  const header = nuls(512);
  header.write('a.log', 0);
  header.write('ustar\0', 257);
  await expect(read(bytesOf(header, 'password=Zebra99lamp\n'))).rejects.toThrow('it is an archive (tar)');
});

it('redact masks what follows a hole, and says how large it was', async () => {
  const cwd = folderWith({});
  const secret = 'password=Zebra99lamp ok\n';
  writeFileSync(
    join(cwd, 'a.log'),
    bytesOf(nuls(70_000), '\ufeff', secret, nuls(5000), secret, 'pass', nuls(500)),
  );
  const { code, stdout, stderr } = await runCommand(['redact', 'a.log'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toBe('\ufeffpassword=<:password:> ok\npassword=<:password:> ok\npass');
  expect(stderr).toBe(
    'millrace: a.log: left out 75,500 NUL bytes in a row, as a truncation or a crash leaves them\n',
  );
  expect((await runCommand(['scan', 'a.log'], { cwd })).stdout.split('\n')).toHaveLength(3);
});
