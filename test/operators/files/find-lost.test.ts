import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { AcknowledgedPositions } from '../../../operators/files/follow/acknowledged-positions.ts';
import { findLost } from '../../../operators/files/follow/find-lost.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
afterEach(() => followers.stopAll());

/** What is set is committed when `commit` is called; what is noted, at once. */
class ExactStore extends Map<string, unknown> {
  committed = new Map<string, unknown>();

  note(key: string, value: unknown): void {
    for (const values of [this, this.committed]) {
      if (value === undefined) values.delete(key);
      else values.set(key, value);
    }
  }

  /** The first value of a key is kept at once. */
  override set(key: string, value: unknown): this {
    if (this.committed?.has(key) === false) this.committed.set(key, value);
    return super.set(key, value);
  }

  commit(): void {
    this.committed = new Map(this);
  }
}

const LINES = Array.from({ length: 400 }, (_, n) => `line ${String(n).padStart(5, '0')}\n`);
const log = () => folder('a.log');

/** Emits all lines of a file, of which the first `acknowledged` are committed, and dies. */
async function crash(acknowledged: number, text = LINES.join('')): Promise<ExactStore> {
  const store = new ExactStore();
  const positions = new AcknowledgedPositions(store, { backfill: true });
  fs.writeFileSync(log(), text);
  let emitted = 0;
  const { stop } = follow(positions, (size) => {
    emitted += size;
    return emitted <= acknowledged;
  });
  await eventually(() => expect(emitted).toBe(LINES.length));
  store.commit();
  stop();
  return store;
}

function follow(positions: AcknowledgedPositions, acknowledges: (size: number) => boolean) {
  const { subscription } = followers.follow([log()], { positions, batchLines: 50 }, (batch) => {
    positions.emitted(batch);
    if (acknowledges(batch.size)) positions.acknowledge(batch);
  });
  return { stop: () => subscription.unsubscribe() };
}

const lostOf = (store: ExactStore, isFollowed = (path: string) => path === log()) =>
  findLost(store.committed, isFollowed);

describe.each([0, 100])('the file of a run that died with %d of its lines committed', (acknowledged) => {
  it.each<[what: string, change: () => void]>([
    ['is as it was', () => {}],
    ['has grown', () => fs.appendFileSync(log(), 'more\n')],
    ['was renamed in its folder', () => fs.renameSync(log(), folder('a.log.1'))],
    [
      'was renamed, and another one has its name',
      () => {
        fs.renameSync(log(), folder('a.log.1'));
        fs.writeFileSync(log(), 'new\n');
      },
    ],
  ])('%s: its lines come again', async (_, change) => {
    const store = await crash(acknowledged);
    change();
    expect(await lostOf(store)).toEqual([]);
  });

  it.each<[what: string, change: () => void]>([
    ['is gone', () => fs.rmSync(log())],
    [
      'is in another folder',
      () => {
        fs.mkdirSync(folder('old'));
        fs.renameSync(log(), folder('old/a.log'));
      },
    ],
    [
      'was compressed, and another one is at its path',
      () => {
        fs.rmSync(log());
        fs.writeFileSync(log(), LINES.map((line) => line.toUpperCase()).join(''));
      },
    ],
    ['was truncated', () => fs.truncateSync(log())],
    ['was cut short', () => fs.truncateSync(log(), 200 * (LINES[0] as string).length)],
    [
      'was truncated, and has grown to its length',
      () => fs.writeFileSync(log(), LINES.map((line) => line.replace('line', 'LINE')).join('')),
    ],
    [
      'has others in place of its last lines',
      () => fs.writeFileSync(log(), LINES.map((line, n) => (n < 390 ? line : 'line other\n')).join('')),
    ],
    ['lost its folder', () => fs.rmSync(folder(), { recursive: true })],
  ])('%s: they are lost', async (_, change) => {
    const store = await crash(acknowledged);
    change();
    expect(await lostOf(store)).toEqual([log()]);
  });

  it('is not followed any more: they are lost', async () => {
    expect(await lostOf(await crash(acknowledged), () => false)).toEqual([log()]);
  });
});

it('a file that is committed to its end may go', async () => {
  const store = await crash(LINES.length);
  fs.rmSync(log());
  expect(await lostOf(store)).toEqual([]);
});

it('lines of a file that was truncated before they were committed are lost, whatever it holds by then', async () => {
  const store = new ExactStore();
  const positions = new AcknowledgedPositions(store, { backfill: true });
  fs.writeFileSync(log(), LINES.join(''));
  let lines = 0;
  follow(positions, (size) => {
    lines += size;
    return false;
  });
  await eventually(() => expect(lines).toBe(LINES.length));
  fs.writeFileSync(log(), 'short\n');
  await eventually(() => expect(lines).toBe(LINES.length + 1));
  expect(await lostOf(store)).toEqual([log()]);
});

it('what a run before has noted is over when the next one starts', async () => {
  const store = await crash(0);
  fs.rmSync(log());
  new AcknowledgedPositions(store, { backfill: true });
  expect(await lostOf(store)).toEqual([]);
});
