import fs from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { GlobListings } from '../../../../operators/files/follow/expand-paths.ts';
import { toRawPath } from '../../../../operators/files/follow/file-status.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

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
      expect((await listings.matches(folder('*.log'))).paths).toEqual([...names].sort());
    }
  });

  it('lists a folder every fifth time that has not changed, for links whose target has come', async () => {
    const listings = new GlobListings();
    fs.mkdirSync(folder('elsewhere'));
    fs.symlinkSync(folder('elsewhere/later'), folder('link.log'));
    const look = async () => (await listings.matches(folder('*.log'))).paths;
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
    fs.writeFileSync(folder('elsewhere/later'), '');
    for (let turn = 0; turn < 4; turn++) expect(await look()).toEqual([]);
    expect(await look()).toEqual([folder('link.log')]);
  });

  it('takes patterns with globs in folders, and folders that are not there', async () => {
    const listings = new GlobListings();
    const matches = async (pattern: string) => (await listings.matches(folder(pattern))).paths;
    expect(await matches('no/*.log')).toEqual([]);
    fs.mkdirSync(folder('a'));
    fs.writeFileSync(folder('a/1.log'), '');
    for (const pattern of ['*/*.log', '**/*.log', '{a/1,b/2}.log']) {
      expect(await matches(pattern)).toEqual([folder('a/1.log')]);
    }
    fs.mkdirSync(folder('no'));
    fs.writeFileSync(folder('no/2.log'), '');
    expect(await matches('no/*.log')).toEqual([folder('no/2.log')]);
  });

  it('finds a new file below `**` at the next look', async () => {
    const listings = new GlobListings();
    const look = async () => (await listings.matches(folder('**'))).paths;
    fs.mkdirSync(folder('a/b'), { recursive: true });
    for (let turn = 0; turn < 3; turn++) expect(await look()).toEqual([]);
    fs.writeFileSync(folder('a/b/1.log'), '');
    expect(await look()).toEqual([folder('a/b/1.log')]);
  });

  it('finds names that are not UTF-8, in folders whose names are not, and each leads back to its bytes', async () => {
    const latin = Buffer.concat([Buffer.from(folder('caf')), Buffer.from([0xe9])]);
    fs.mkdirSync(latin);
    fs.writeFileSync(
      Buffer.concat([latin, Buffer.from('/\u20ac '), Buffer.from([0xff]), Buffer.from('.log')]),
      'found',
    );
    fs.writeFileSync(folder('\u{1f600}.log'), 'plain');
    const { paths } = await new GlobListings().matches(folder('**/*.log'));
    expect(paths.map((path) => fs.readFileSync(toRawPath(path), 'utf8'))).toEqual(['found', 'plain']);
  });

  it('lists nothing above the folder that a pattern begins with', async () => {
    const readdir = jest.spyOn(fs, 'readdir');
    await new GlobListings().matches(folder('*.log'));
    expect(readdir.mock.calls.map(([path]) => path)).toEqual([folder().replace(/\/$/, '')]);
    readdir.mockRestore();
  });

  it('tells apart a folder that holds nothing and one that cannot be listed', async () => {
    const readdir = jest.spyOn(fs, 'readdir').mockImplementation(((
      _: unknown,
      __: unknown,
      done: (error: Error) => void,
    ) => {
      done(Object.assign(new Error('EACCES'), { code: 'EACCES' }));
    }) as never);
    const { paths, unlisted } = await new GlobListings().matches(folder('*.log'));
    expect([paths, [...unlisted.keys()]]).toEqual([[], [folder().replace(/\/$/, '')]]);
    readdir.mockRestore();
  });
});
