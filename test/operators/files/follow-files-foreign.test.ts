import fs from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { Followers, openFiles } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
const follow: Followers['follow'] = (...args) => followers.follow(...args);
afterEach(() => {
  followers.stopAll();
});

/** Waits for `polls` more polls: each finds a file of its own. */
async function pass(lines: () => string[], polls: number): Promise<void> {
  for (let poll = 0; poll < polls; poll++) {
    const line = `poll ${lines().length}`;
    fs.writeFileSync(folder(`later-${lines().length}`), `${line}\n`);
    await eventually(() => expect(lines()).toContain(line));
  }
}

describe('followFiles, of a file that is not UTF-8 text', () => {
  it('says so once, counts nothing of it as left to read or lost, and keeps it closed', async () => {
    fs.writeFileSync(folder('a.gz'), gzipSync('secret\n'));
    const told: number[] = [];
    const tell = (bytes: number) => told.push(bytes);
    const { lines, warnings } = follow([folder('*')], { onBacklog: tell, onGap: tell });
    await pass(lines, 8);
    // Until it has been looked at, it may be taken for what is left to read.
    told.length = 0;
    fs.appendFileSync(folder('a.gz'), gzipSync('more\n'));
    await pass(lines, 8);
    expect(warnings).toEqual(['NOT_TEXT']);
    // What comes next may get its inode.
    fs.rmSync(folder('a.gz'));
    await pass(lines, 8);
    expect(warnings.filter((code) => code === 'NOT_TEXT')).toHaveLength(1);
    expect(lines().filter((line) => !line.startsWith('poll'))).toEqual([]);
    expect(Math.max(0, ...told)).toBeLessThan(20);
    expect(openFiles(folder('a.gz'))).toBe(0);
  });

  it.each([
    ['written over', () => fs.writeFileSync(folder('a'), 'text that is longer than what was there before\n')],
    ['cut off and written over', () => fs.writeFileSync(folder('a'), 'text\n')],
    [
      'replaced',
      () => {
        fs.writeFileSync(folder('b'), 'text\n');
        fs.renameSync(folder('b'), folder('a'));
      },
    ],
  ])('reads all of the text by which it is %s', async (_, replace) => {
    fs.writeFileSync(folder('a'), gzipSync('secret\n'));
    const { lines, warnings } = follow([folder('a')]);
    await eventually(() => expect(warnings).toEqual(['NOT_TEXT']));
    replace();
    await eventually(() => expect(lines()).toEqual([fs.readFileSync(folder('a'), 'utf8').trimEnd()]));
    fs.appendFileSync(folder('a'), 'more\n');
    await eventually(() => expect(lines()[1]).toBe('more'));
  });

  it('refuses it as soon as enough of it is there, and drops what it held', async () => {
    const text = Buffer.from('secret\n', 'utf16le');
    fs.writeFileSync(folder('a'), text.subarray(0, 5));
    const { lines, warnings } = follow([folder('*')], { flushPolls: 1e9 });
    await pass(lines, 2);
    fs.appendFileSync(folder('a'), text.subarray(5));
    await eventually(() => expect(warnings).toEqual(['NOT_TEXT']));
    fs.rmSync(folder('a'));
    await pass(lines, 8);
    expect(lines().filter((line) => !line.startsWith('poll'))).toEqual([]);
  });

  it('refuses text that is written over by something else', async () => {
    fs.writeFileSync(folder('a'), 'text\n');
    const { lines, warnings } = follow([folder('a')]);
    await eventually(() => expect(lines()).toEqual(['text']));
    fs.writeFileSync(folder('a'), gzipSync('secret\n'));
    await eventually(() => expect(warnings).toContain('NOT_TEXT'));
    expect(lines()).toEqual(['text']);
  });
});
