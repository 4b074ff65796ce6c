import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { FoundFile } from '../../../operators/files/follow-files.ts';
import { eventually } from '../../support/eventually.ts';
import { Followers } from '../../support/follow.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();
const followers = new Followers();
const follow: Followers['follow'] = (...args) => followers.follow(...args);
afterEach(() => {
  followers.stopAll();
});

describe('followFiles, as files grow', () => {
  it('emits what is appended, when a line is whole', async () => {
    fs.writeFileSync(folder('a'), 'old\n');
    const { lines, batches, ready } = follow([folder('a')], { quietPolls: 1e9, flushPolls: 1e9 });
    await ready;
    fs.appendFileSync(folder('a'), 'new\npar');
    await eventually(() => expect(lines()).toEqual(['old', 'new']));
    fs.appendFileSync(folder('a'), 'tial\n');
    await eventually(() => expect(lines()).toEqual(['old', 'new', 'partial']));
    expect(batches.map((batch) => batch.backfill)).toEqual([true, false, false]);
  });

  it('hears of a change from the watch, not only from the poll', async () => {
    fs.writeFileSync(folder('a'), '');
    const { lines, ready } = follow([folder('a')], { pollMs: 3600_000 });
    await ready;
    fs.appendFileSync(folder('a'), 'heard\n');
    await eventually(() => expect(lines()).toEqual(['heard']));
  });

  it('emits a last line without newline after a while, and no second one when the newline comes', async () => {
    fs.writeFileSync(folder('a'), 'last');
    const { lines } = follow([folder('a')]);
    await eventually(() => expect(lines()).toEqual(['last']));
    fs.appendFileSync(folder('a'), '\nmore\n');
    await eventually(() => expect(lines()).toEqual(['last', 'more']));
  });

  it('with flushPolls: Infinity waits for the newline, as long as the file is there', async () => {
    fs.writeFileSync(folder('a'), 'par');
    const { lines } = follow([folder('*')], { flushPolls: Infinity });
    // Each of these is found by a poll of its own.
    for (let poll = 0; poll < 8; poll++) {
      fs.writeFileSync(folder(`poll-${poll}`), `${poll}\n`);
      await eventually(() => expect(lines()).toContain(`${poll}`));
    }
    expect(lines()).not.toContain('par');
    fs.appendFileSync(folder('a'), 'tial\nheld');
    await eventually(() => expect(lines()).toContain('partial'));
    fs.rmSync(folder('a'));
    await eventually(() => expect(lines()).toContain('held'));
  });

  it('starts at the end of files that exist, at the begin of files that come', async () => {
    fs.writeFileSync(folder('a.log'), 'old\n');
    const startAt = (file: FoundFile) => (file.existed ? file.size : 0);
    const { batches, lines, ready } = follow([folder('*.log')], { positions: { startAt, forget: () => {} } });
    await ready;
    fs.writeFileSync(folder('b.log'), 'b\n');
    fs.appendFileSync(folder('a.log'), 'a\n');
    await eventually(() => expect(lines().sort()).toEqual(['a', 'b']));
    expect(batches.every((batch) => !batch.backfill)).toBe(true);
  });

  it('waits for a missing file, and says so once', async () => {
    const { lines, warnings, ready } = follow([folder('later')]);
    await ready;
    fs.writeFileSync(folder('later'), 'here\n');
    await eventually(() => expect(lines()).toEqual(['here']));
    expect(warnings).toEqual(['ENOENT']);
  });
});
