import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  AcknowledgedPositions,
  type FilePosition,
} from '../../../operators/files/follow/acknowledged-positions.ts';
import { type FollowSettings, followFiles } from '../../../operators/files/follow-files.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers, linesOf } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
afterEach(() => followers.stopAll());

const append = (name: string, text: string) => fs.appendFileSync(folder(name), text);
const onlyNew = (store = new Map<string, FilePosition>()) =>
  new AcknowledgedPositions(store, { backfill: false });

/** Follows `a` from its end; fulfilled when it is known how far it goes. */
async function followEnd(settings: Partial<FollowSettings> = {}) {
  const messages: string[] = [];
  let sawFile = () => {};
  const ready = new Promise<void>((resolve) => {
    sawFile = resolve;
  });
  const log = { warn: (message: string) => messages.push(message), info: () => sawFile() };
  const run = followers.follow([folder('a')], { positions: onlyNew(), log, ...settings });
  await ready;
  return { ...run, messages };
}

describe('followFiles, where it starts without backfill', () => {
  it.each([
    ['a short one', 10],
    ['one that begins several looks before', 100_000],
  ])('starts with the whole of a line that is being written: %s', async (_, length) => {
    const half = 'x'.repeat(length);
    append('a', `old\n${half}`);
    const { lines, batches } = await followEnd();
    append('a', `${half}\nnext\n`);
    await eventually(() => expect(lines()).toEqual([half + half, 'next']));
    expect(batches.some(({ backfill }) => backfill)).toBe(false);
    expect(batches[0]?.startOffset).toBe(4);
  });

  it('starts with the first line of a file that has no newline yet', async () => {
    append('a', 'half');
    const { lines } = await followEnd();
    append('a', ' and half\n');
    await eventually(() => expect(lines()).toEqual(['half and half']));
  });

  it('does not emit what was there of a last line until more of it comes', async () => {
    append('a', 'old\nlast');
    append('b', 'old\nlast');
    const { lines } = followers.follow([folder('a'), folder('b')], { positions: onlyNew() });
    append('c', 'c\n');
    const other = followers.follow([folder('c')], { flushPolls: 40 });
    append('c', 'waited');
    // The other one waits ten times as long.
    await eventually(() => expect(other.lines()).toEqual(['c', 'waited']));
    expect(lines()).toEqual([]);
    append('a', ' line');
    await eventually(() => expect(lines()).toEqual(['last line']));
    fs.rmSync(folder('b'));
    append('a', '\nnext\n');
    await eventually(() => expect(lines()).toEqual(['last line', 'next']));
  });

  it('skips a line that began further back than a line may be long, and says so', async () => {
    append('a', `old\n${'x'.repeat(100)}`);
    const { lines, messages } = await followEnd({ maxLineBytes: 50, chunkBytes: 20 });
    append('a', `${'x'.repeat(100)}\nnext\n`);
    await eventually(() => expect(lines()).toEqual(['next']));
    expect(messages).toEqual([expect.stringContaining('line longer than `max_line_bytes`')]);
  });

  it('starts with the same line when it is started again before that was emitted', async () => {
    const store = new Map<string, FilePosition>();
    append('a', 'old\nhal');
    const first = await followEnd({ positions: onlyNew(store) });
    first.subscription.unsubscribe();
    append('a', 'f and half\nnext\n');
    const { lines } = await followEnd({ positions: onlyNew(store) });
    await eventually(() => expect(lines()).toEqual(['half and half', 'next']));
  });
});

describe('followFiles, with `once` and `flushPolls: Infinity`', () => {
  it('leaves a last line without a newline to the next run', async () => {
    const store = new Map<string, FilePosition>();
    const positions = () => new AcknowledgedPositions(store, { backfill: true });
    const read = () =>
      new Promise<string[]>((resolve) => {
        const at = positions();
        const lines: string[] = [];
        followFiles([folder('a')], { once: true, flushPolls: Infinity, positions: at }).subscribe({
          next: (batch) => {
            lines.push(...linesOf([batch]));
            at.acknowledge(batch);
          },
          complete: () => resolve(lines),
        });
      });
    append('a', 'one\nhal');
    expect(await read()).toEqual(['one']);
    expect(await read()).toEqual([]);
    append('a', 'f\n');
    expect(await read()).toEqual(['half']);
  });
});
