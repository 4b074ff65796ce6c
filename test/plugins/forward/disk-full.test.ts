import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, toArray } from 'rxjs';
import { DiskConfig, forwardBatch } from '../../../plugins/forward/disk.ts';
import { type CliProcess, folderWith, startCli } from '../../support/cli.ts';
import { testContext } from '../../support/context.ts';
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts';

// Root writes to read-only folders all the same, so file systems of their own are what is full or read-only here.
if (noSmallDisk !== undefined) process.stderr.write(`disk-full.test.ts is skipped: ${noSmallDisk}\n`);
const onSmallDisk = noSmallDisk === undefined ? describe : describe.skip;

const COUNT = 4000;
const lines = Array.from({ length: COUNT }, (_, n) => `line ${n} ${'é'.repeat(n % 40)}`);

const config = (path: string, filename: string) => `
collectors: { lines: { plugin: file, paths: [in.log], backfill: true } }
forwarders: { out: { plugin: disk, path: ${path}${filename} } }
pipelines: { main: { collect: lines, forward: out, max_in_flight: 100 } }
host_config: {}
`;

async function start(path: string, filename = ', filename: out.jsonl'): Promise<CliProcess> {
  const folder = folderWith({ 'in.log': `${lines.join('\n')}\n`, 'config.yaml': config(path, filename) });
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  return startCli(['run', join(folder, 'config.yaml'), '--once', '--log-format', 'json'], {
    cwd: folder,
    env,
  });
}

const reports = ({ stderr }: CliProcess) =>
  stderr.split('\n').filter((line) => line.includes('cannot write'));
const linesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((document) => JSON.parse(document).data.line);

onSmallDisk('a disk that is full', () => {
  it('stops settling, is reported once, and has every line once when there is room again', async () => {
    const disk = smallDisk(2048);
    disk.leave(64 * 1024);
    const run = await start(disk.path);
    await run.shows('stderr', /ENOSPC/);
    const text = fs.readFileSync(join(disk.path, 'out.jsonl'), 'utf8');
    expect(text.at(-1)).toBe('\n');
    expect(linesIn(text)).toEqual(lines.slice(0, linesIn(text).length));
    disk.leave(2048 * 1024);
    expect((await run.ended()).code).toBe(0);
    expect(linesIn(fs.readFileSync(join(disk.path, 'out.jsonl'), 'utf8'))).toEqual(lines);
    expect(reports(run).length).toBe(1);
    expect(run.stderr).toMatch(/forwarder out: works again, after \d+ failed attempts?/);
  });

  it('neither tears nor doubles lines, however little room there is each time', async () => {
    const disk = smallDisk(1024);
    const controller = new AbortController();
    const input = DiskConfig.parse({ plugin: 'disk', path: disk.path, filename: 'out.jsonl' });
    const ctx = testContext(input, { signal: controller.signal });
    const timestamp = '2026-01-01T00:00:00.000Z';
    let failures = 0;
    for (let first = 0, room = 0; first < 2000; ) {
      const events = lines.slice(first, first + 50).map((line) => ({ timestamp, data: { line } }));
      disk.leave(room);
      const isWritten = await lastValueFrom(forwardBatch({ ctx, events }).pipe(toArray())).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          expect(error.code).toBe('ENOSPC');
          return false;
        },
      );
      room = isWritten ? 0 : room + 4096;
      if (isWritten) first += 50;
      else failures++;
    }
    controller.abort();
    expect(failures).toBeGreaterThan(20);
    expect(linesIn(fs.readFileSync(join(disk.path, 'out.jsonl'), 'utf8'))).toEqual(lines.slice(0, 2000));
  });

  it('leaves no part of a file where each event has its own', async () => {
    const disk = smallDisk(512);
    disk.leave(100 * 1024);
    const ctx = testContext(DiskConfig.parse({ plugin: 'disk', path: disk.path }));
    const events = Array.from({ length: 60 }, (_, n) => ({ timestamp: 't', data: { n } }));
    const write = () => lastValueFrom(forwardBatch({ ctx, events }).pipe(toArray()));
    await expect(write()).rejects.toThrow(/ENOSPC.*make room/);
    expect(fs.readdirSync(disk.path)).toEqual(['.filler']);
    disk.leave(512 * 1024);
    await write();
    expect(fs.readdirSync(disk.path).length).toBe(60);
  });
});

onSmallDisk('a disk that is read-only', () => {
  it('stops settling, is reported once, and has every line once when it is writable again', async () => {
    const disk = smallDisk(4096);
    disk.readOnly(true);
    const run = await start(disk.path);
    await run.shows('stderr', /EROFS.*make that file system writable/);
    disk.readOnly(false);
    expect((await run.ended()).code).toBe(0);
    expect(linesIn(fs.readFileSync(join(disk.path, 'out.jsonl'), 'utf8'))).toEqual(lines);
    expect(reports(run).length).toBe(1);
  });
});
