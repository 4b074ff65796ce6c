import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, toArray } from 'rxjs';
import { DiskConfig, forwardBatch } from '../../../plugins/forward/disk.ts';
import { testContext } from '../../support/context.ts';
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts';

// By real processes: test/faults/09-disks.fault.ts.
if (noSmallDisk !== undefined) process.stderr.write(`disk-full.test.ts is skipped: ${noSmallDisk}\n`);
const onSmallDisk = noSmallDisk === undefined ? describe : describe.skip;

const lines = Array.from({ length: 2000 }, (_, n) => `line ${n} ${'é'.repeat(n % 40)}`);

const linesIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((document) => JSON.parse(document).data.line);

onSmallDisk('a disk that is full', () => {
  it('neither tears nor doubles lines, however little room there is each time', async () => {
    const disk = smallDisk(1024);
    const controller = new AbortController();
    const input = DiskConfig.parse({ plugin: 'disk', path: disk.path, filename: 'out.jsonl' });
    const ctx = testContext(input, { signal: controller.signal });
    const timestamp = '2026-01-01T00:00:00.000Z';
    let failures = 0;
    for (let first = 0, room = 0; first < lines.length; ) {
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
    expect(linesIn(fs.readFileSync(join(disk.path, 'out.jsonl'), 'utf8'))).toEqual(lines);
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
