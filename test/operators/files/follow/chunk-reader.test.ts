import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ChunkReader } from '../../../../operators/files/follow/chunk-reader.ts';
import { Descriptors } from '../../../../operators/files/follow/descriptors.ts';
import { statFile } from '../../../../operators/files/follow/file-status.ts';
import { FollowedFile } from '../../../../operators/files/follow/followed-file.ts';
import { readMemory } from '../../../../operators/files/follow/memory-budget.ts';
import { eventually } from '../../../support/eventually.ts';
import { openFiles } from '../../../support/follow.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const folder = tempFolder();
const CHUNK = 50;

async function followed(path: string): Promise<FollowedFile> {
  const status = await statFile(path);
  // As if it had come since: else no read goes beyond where it ended at the start.
  const found = { ...status, path, existed: false, head: undefined };
  const start = { offset: 0, isUnterminated: false };
  const settings = { maxLineBytes: 1000, memory: readMemory, encoding: 'utf-8', once: false };
  return new FollowedFile(found, status, start, settings, () => {});
}

/** A file that is read by chunks, and how to read the next one. */
async function reading(text: string) {
  const path = folder('a');
  fs.writeFileSync(path, text);
  const file = await followed(path);
  const descriptors = new Descriptors(1);
  const reader = new ChunkReader(
    descriptors,
    { chunkBytes: CHUNK, maxLineBytes: 1000, memory: readMemory, encoding: 'utf-8' },
    () => {},
  );
  const read = async () => {
    const chunk = await reader.read(file);
    if (typeof chunk !== 'string') file.reading.lines.feed(chunk);
    file.reading.lines.take(CHUNK);
    return chunk.toString();
  };
  return { path, file, descriptors, reader, read };
}

const linesOf = (letter: string) => `${letter.repeat(CHUNK - 1)}\n`.repeat(3);

describe('ChunkReader', () => {
  it('reads again what it read ahead if there was less than it asked for: more has come since', async () => {
    const text = linesOf('o');
    const half = CHUNK / 2;
    const { path, file, descriptors, reader, read } = await reading(text.slice(0, CHUNK + half));
    await read();
    reader.readAhead(file);
    await eventually(() => expect(descriptors.isBusy(file)).toBe(false));
    fs.appendFileSync(path, text.slice(CHUNK + half));

    expect(await read()).toBe(text.slice(CHUNK, 2 * CHUNK));
    descriptors.close();
  });

  it('forgets what it read ahead of a file that was closed, because it may start over', async () => {
    const { path, file, descriptors, reader, read } = await reading(linesOf('o'));
    await read();
    reader.readAhead(file);
    await eventually(() => expect(descriptors.isBusy(file)).toBe(false));
    descriptors.release(file);
    const young = linesOf('n');
    fs.writeFileSync(path, young);
    file.reading.restart();

    expect(await read()).toBe(young.slice(0, CHUNK));
    expect(await read()).toBe(young.slice(CHUNK, 2 * CHUNK));
    descriptors.close();
    await eventually(() => expect(openFiles(folder())).toBe(0));
  });

  it('keeps a file open that it reads ahead, for its descriptor may be that of another one', async () => {
    const { file, descriptors, reader, read } = await reading(linesOf('o'));
    await read();
    reader.readAhead(file);
    descriptors.close();
    expect(descriptors.of(file)).toBeDefined();
    await eventually(() => expect(descriptors.of(file)).toBeUndefined());
  });
});
