import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ChunkReader } from '../../../operators/file-lines/chunk-reader.ts';
import { Descriptors } from '../../../operators/file-lines/descriptors.ts';
import { FollowedFile } from '../../../operators/file-lines/followed-file.ts';
import { statFile } from '../../../operators/file-lines/regular-file.ts';
import { eventually } from '../../support/eventually.ts';
import { openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const CHUNK = 50;

async function followed(path: string): Promise<FollowedFile> {
  const status = await new Promise<{ id: FollowedFile['id']; size: number }>((resolve, reject) =>
    statFile(path, (error, found) => (found === undefined ? reject(error) : resolve(found))),
  );
  const found = { ...status, path, existed: true, head: undefined };
  return new FollowedFile(found, { offset: 0, isUnterminated: false }, 1000);
}

describe('ChunkReader', () => {
  it('forgets what it read ahead of a file that was closed, for it may begin anew', async () => {
    const path = folder('a');
    const [old, young] = ['o', 'n'].map((letter) => `${letter.repeat(CHUNK - 1)}\n`.repeat(3)) as [
      string,
      string,
    ];
    fs.writeFileSync(path, old);
    const file = await followed(path);
    const descriptors = new Descriptors(1);
    const reader = new ChunkReader(descriptors, CHUNK, () => {});
    const read = () =>
      new Promise<string | undefined>((resolve, reject) =>
        reader.read(file, (error, chunk) => {
          if (error !== null) reject(error);
          if (chunk !== undefined) file.feed(chunk);
          resolve(chunk?.toString());
        }),
      );
    const takeAll = () => file.lines.take(10).lines;

    await read();
    takeAll();
    reader.readAhead(file);
    await eventually(() => expect(file.isBusy).toBe(false));
    descriptors.release(file);
    fs.writeFileSync(path, young);
    file.restart();

    expect(await read()).toBe(young.slice(0, CHUNK));
    takeAll();
    expect(await read()).toBe(young.slice(CHUNK, 2 * CHUNK));
    descriptors.releaseAll();
    await eventually(() => expect(openFiles(folder())).toBe(0));
  });
});
