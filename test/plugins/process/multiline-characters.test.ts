import fs from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { Manager } from '../../../src/engine/manager.ts';
import { silentLogger } from '../../../src/sdk/context.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
let manager: Manager | undefined;
afterEach(() => void manager?.stop());

const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor;
afterEach(() => void Object.defineProperty(process, 'stdin', stdin));

const HEAD = '2026-11-23T00:00:01.000000001Z stdout ';
const part = (flag: string, content: Buffer) =>
  Buffer.concat([Buffer.from(`${HEAD}${flag} `), content, Buffer.from('\n')]);
/** A line of a container, cut at these bytes. */
const cut = (text: string, ...at: readonly number[]) => {
  const bytes = Buffer.from(text);
  const ends = [...at, bytes.length];
  return Buffer.concat(
    ends.map((end, i) => part(i < at.length ? 'P' : 'F', bytes.subarray(ends[i - 1] ?? 0, end))),
  );
};

const MULTILINE = { whole: { plugin: 'multiline', preset: 'cri' } };
const MASKED = {
  ...MULTILINE,
  content: { plugin: 'parse', format: 'cri' },
  mask: { plugin: 'regex_mask', rules: { KEY: 'clé-[a-z]{8}' } },
};

/** The lines that the disk gets, which hold no escape of a byte. */
async function written(input: Buffer, processors: object = MULTILINE, source: 'file' | 'stdin' = 'file') {
  const out = folder('out');
  fs.rmSync(out, { recursive: true, force: true });
  if (source === 'file') fs.writeFileSync(folder('in.log'), input);
  else {
    const stream = new PassThrough();
    Object.defineProperty(process, 'stdin', { value: stream, configurable: true });
    for (let at = 0; at < input.length; at += 7) stream.write(input.subarray(at, at + 7));
    stream.end();
  }
  const config = await parseConfig({
    collectors: {
      in:
        source === 'file'
          ? { plugin: 'file', paths: [folder('in.log')], backfill: true }
          : { plugin: 'stdin' },
    },
    processors,
    forwarders: { out: { plugin: 'disk', path: out, filename: 'events.jsonl' } },
    pipelines: {
      main: { collect: 'in', process: Object.keys(processors), forward: 'out', restart: false },
    },
    host_config: {},
  });
  manager = new Manager(config, { once: true, logger: silentLogger });
  manager.start();
  await firstValueFrom(manager.finished$);
  const text = fs.readFileSync(`${out}/events.jsonl`, 'utf8');
  expect(text).not.toMatch(/\\ud[c-f]|[\udc80-\udcff]/iu);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).data.line);
}

const CHARACTERS = ['é', '€', '語', '😀', '\ufffd'];
const SPLITS = CHARACTERS.flatMap((character) =>
  Array.from({ length: Buffer.byteLength(character) - 1 }, (_, i) => [character, i + 1] as const),
);

describe('multiline with `preset: cri`, for a line that is cut inside a character', () => {
  it.each(SPLITS)('joins %s, cut after byte %i', async (character, at) => {
    const text = `a${character}b`;
    for (const source of ['file', 'stdin'] as const) {
      expect(await written(cut(text, 1 + at), MULTILINE, source)).toEqual([`${HEAD}F ${text}`]);
    }
  });

  it('joins a character of which each byte is in a part of its own', async () => {
    expect(await written(cut('😀', 1, 2, 3))).toEqual([`${HEAD}F 😀`]);
    expect(await written(cut('é😀語', 1, 3, 7))).toEqual([`${HEAD}F é😀語`]);
  });

  it('joins what stands in different chunks, with CRLF, and among lines of another stream', async () => {
    const long = `${'語'.repeat(400_000)}`;
    const parts = Array.from({ length: Math.floor(1_200_000 / 16_384) }, (_, i) => 16_384 * (i + 1));
    const config = { whole: { plugin: 'multiline', preset: 'cri', bytes: '16MiB' } };
    const [line] = await written(cut(long, ...parts), config);
    expect(line === `${HEAD}F ${long}`).toBe(true);

    const [first = '', last = ''] = cut('né', 2).toString('latin1').split('\n');
    const other = HEAD.replace('stdout', 'stderr');
    const mixed = `${first}\r\n${other}F x\xc3\r\n${last}\r\n`;
    expect(await written(Buffer.from(mixed, 'latin1'))).toEqual([`${other}F x\ufffd`, `${HEAD}F né`]);
  });

  it('masks a secret that contains the character', async () => {
    const text = 'with clé-abcdefgh';
    for (let at = 5; at < text.length; at++) {
      expect(await written(cut(text, at), MASKED)).toEqual(['with <:KEY:>']);
    }
  });

  it.each([
    ['a part that no other follows', part('P', Buffer.from([0x61, 0xc3])), [`${HEAD}P a\ufffd`]],
    ['a last part alone', part('F', Buffer.from([0xa9, 0x61])), [`${HEAD}F \ufffda`]],
    [
      'bytes that are no character when joined',
      Buffer.concat([part('P', Buffer.from([0xc3])), part('F', Buffer.from('b'))]),
      [`${HEAD}F \ufffdb`],
    ],
    [
      'bytes inside a part',
      Buffer.concat([part('P', Buffer.from([0xe2, 0x61])), part('F', Buffer.from([0xff, 0x62, 0x82]))]),
      [`${HEAD}F \ufffda\ufffdb\ufffd`],
    ],
    [
      'surrogates in UTF-8',
      Buffer.concat([part('P', Buffer.from([0xed, 0xb2])), part('F', Buffer.from([0x80]))]),
      [`${HEAD}F \ufffd\ufffd\ufffd`],
    ],
    [
      'a line in another format',
      Buffer.concat([part('P', Buffer.from([0xc3])), Buffer.from([0xa9, 0x0a])]),
      ['\ufffd', `${HEAD}P \ufffd`],
    ],
    ['a line of Latin-1', Buffer.from('caf\xe9\n', 'latin1'), ['caf\ufffd']],
  ])('shows U+FFFD for %s', async (_, input, lines) => {
    expect(await written(input)).toEqual(lines);
    expect(await written(input, MULTILINE, 'stdin')).toEqual(lines);
  });

  it('shows U+FFFD where a limit parts the two', async () => {
    const config = { whole: { plugin: 'multiline', preset: 'cri', lines: 2 } };
    expect(await written(cut('aébé', 2, 4, 5), config)).toEqual([`${HEAD}P aéb`, `${HEAD}F é`]);
    expect(await written(cut('abé', 1, 3, 3), config)).toEqual([`${HEAD}P ab\ufffd`, `${HEAD}F \ufffd`]);
  });
});
