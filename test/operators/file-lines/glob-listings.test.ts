import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GlobListings } from '../../../operators/file-lines/glob-listings.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();

describe('GlobListings', () => {
  it('sees every file that comes and goes, however soon after a look', async () => {
    const listings = new GlobListings();
    const names = new Set<string>();
    for (let turn = 0; turn < 200; turn++) {
      const name = folder(`${turn % 7}.log`);
      if (names.delete(name)) fs.rmSync(name);
      else {
        names.add(name);
        fs.writeFileSync(name, '');
      }
      expect(await listings.matches(folder('*.log'))).toEqual([...names].sort());
    }
  });

  it('lists a folder every fifth time that has not changed, for links whose target has come', async () => {
    const listings = new GlobListings();
    fs.mkdirSync(folder('elsewhere'));
    fs.symlinkSync(folder('elsewhere/later'), folder('link.log'));
    const look = () => listings.matches(folder('*.log'));
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
    fs.writeFileSync(folder('elsewhere/later'), '');
    for (let turn = 0; turn < 4; turn++) expect(await look()).toEqual([]);
    expect(await look()).toEqual([folder('link.log')]);
  });

  it('takes patterns with globs in folders, and folders that are not there', async () => {
    const listings = new GlobListings();
    expect(await listings.matches(folder('no/*.log'))).toEqual([]);
    fs.mkdirSync(folder('a'));
    fs.writeFileSync(folder('a/1.log'), '');
    for (const pattern of ['*/*.log', '**/*.log', '{a/1,b/2}.log']) {
      expect(await listings.matches(folder(pattern))).toEqual([folder('a/1.log')]);
    }
    fs.mkdirSync(folder('no'));
    fs.writeFileSync(folder('no/2.log'), '');
    expect(await listings.matches(folder('no/*.log'))).toEqual([folder('no/2.log')]);
  });
});
