import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
afterEach(() => followers.stopAll());

/** Lines of one length that differ in the few characters at their start only. */
function fixedLines(name: string, count: number, length: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    `${name} ${String(n).padStart(5, '0')} `.padEnd(length, '='),
  );
}

const textOf = (lines: string[]) => lines.map((line) => `${line}\n`).join('');

/** As if truncated and written to again so quickly that no look sees the file shorter. */
function rewrite(name: string, lines: string[]): void {
  const fd = fs.openSync(folder(name), 'r+');
  fs.writeSync(fd, textOf(lines));
  fs.ftruncateSync(fd, Buffer.byteLength(textOf(lines)));
  fs.closeSync(fd);
}

/** Follows files, and stops reading when `size` lines have come, until `goOn` is called. */
function followUntil(
  size: number,
  names: string[],
  settings: { chunkBytes?: number; maxOpenFiles?: number },
) {
  const demand = new InFlightWindow(size);
  const log: string[] = [];
  let truncations = 0;
  let isOpen = false;
  const { lines, ready } = followers.follow(
    names.map(folder),
    {
      demand,
      quietPolls: 1e9,
      flushPolls: 1e9,
      log: { warn: (message) => log.push(message), info: () => {} },
      onTruncation: () => truncations++,
      ...settings,
    },
    (batch) => demand.take(isOpen ? 0 : batch.size),
  );
  const goOn = () => {
    isOpen = true;
    demand.release(demand.open);
  };
  return { lines, ready, goOn, log, truncations: () => truncations };
}

describe('a file that is truncated and has grown past where it was read, while the pipeline has no room', () => {
  it.each([
    { length: 20, chunkBytes: 512, before: 1000, after: 1000 },
    { length: 100, chunkBytes: 4096, before: 1000, after: 1000 },
    { length: 100, chunkBytes: 4096, before: 1000, after: 3000 },
    { length: 100, chunkBytes: 4096, before: 1000, after: 150 },
    { length: 100, chunkBytes: 16_384, before: 1000, after: 1000 },
    { length: 700, chunkBytes: 4096, before: 500, after: 600 },
    { length: 4096, chunkBytes: 4096, before: 120, after: 120 },
    { length: 100, chunkBytes: 4096, before: 1000, after: 1000, maxOpenFiles: 1 },
  ])('is read from its beginning: %o', async ({ length, before, after, ...settings }) => {
    fs.writeFileSync(folder('a'), textOf(fixedLines('old', before, length)));
    const { lines, goOn, log, truncations } = followUntil(100, ['a'], settings);
    await eventually(() => expect(lines().length).toBe(100));
    const renewed = fixedLines('new', after, length);
    rewrite('a', renewed);
    goOn();
    await eventually(() => expect(lines().filter((line) => line.startsWith('new'))).toEqual(renewed));
    expect([truncations(), log]).toEqual([1, [expect.stringMatching(/\/a (no longer holds|was truncated)/)]]);
  });

  it('and of which nothing was read yet is reported too', async () => {
    for (const name of ['a', 'b'])
      fs.writeFileSync(folder(name), textOf(fixedLines(`old ${name}`, 300, 100)));
    const { lines, goOn, log, truncations } = followUntil(10, ['a', 'b'], { chunkBytes: 512 });
    await eventually(() => expect(lines().length).toBe(10));
    const renewed = fixedLines('new b', 400, 100);
    rewrite('b', renewed);
    goOn();
    await eventually(() => expect(lines().filter((line) => line.startsWith('new b'))).toEqual(renewed));
    expect([truncations(), log]).toEqual([1, [expect.stringMatching(/\/b (no longer holds|was truncated)/)]]);
  });
});

it('a file at its end that is written again with the same length is read from its beginning', async () => {
  fs.writeFileSync(folder('a'), textOf(fixedLines('old', 300, 100)));
  const { lines, truncations } = followUntil(1e6, ['a'], {});
  await eventually(() => expect(lines().length).toBe(300));
  const renewed = fixedLines('new', 300, 100);
  rewrite('a', renewed);
  await eventually(() => expect(lines().slice(300)).toEqual(renewed));
  expect(truncations()).toBe(1);
});

it('a file that only grows, in pieces of any size, is never taken for truncated', async () => {
  fs.writeFileSync(folder('a'), '');
  const { lines, truncations } = followUntil(1e6, ['a'], { chunkBytes: 1000 });
  const expected: string[] = [];
  for (const [n, length] of [1, 63, 64, 999, 8191, 8192, 8193, 30_000, 2].entries()) {
    const line = `${n}${'x'.repeat(length)}`;
    expected.push(line);
    fs.appendFileSync(folder('a'), line.slice(0, length / 2));
    fs.appendFileSync(folder('a'), `${line.slice(length / 2)}\n`);
    await eventually(() => expect(lines()).toEqual(expected));
  }
  expect(truncations()).toBe(0);
});
