import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { changeDisk, type FileAction, planSteps } from '../../../src/testing/file-steps.ts';
import { ProcessFiles } from '../../../src/testing/process-files.ts';
import { VirtualDisk, type VirtualFolder } from '../../../src/testing/virtual-disk.ts';

function diskWith(...actions: FileAction[]) {
  const disk = new VirtualDisk();
  for (const action of actions) changeDisk(disk, action);
  const text = (path: string) => disk.file(path, 'open').content.toString();
  return { disk, text, files: new ProcessFiles(disk) };
}

const APPEND = fs.constants.O_RDWR | fs.constants.O_APPEND;
const CREATE = APPEND | fs.constants.O_CREAT;

describe('an action', () => {
  it('writes lines, text and numbered lines, and makes folders', () => {
    const { text } = diskWith(
      { append: { path: '/a/b/log', lines: ['one', 'two'] } },
      { append: { path: '/a/b/log', text: 'three' } },
      { write: { path: '/other', lines: ['x'] } },
      { write: { path: '/other', lines: ['y'] } },
    );
    expect(text('/a/b/log')).toBe('one\ntwo\nthree');
    expect(text('/other')).toBe('y\n');
    const repeated = planSteps([
      { at: '1s', append: { path: '/a', line: 'n={n}', times: 2, every: '10ms' } },
    ]);
    expect(repeated).toEqual([
      { at: 1000, action: { append: { path: '/a', lines: ['n=1'] } } },
      { at: 1010, action: { append: { path: '/a', lines: ['n=2'] } } },
    ]);
  });

  it('copies, truncates and removes', () => {
    const { disk, text } = diskWith(
      { append: { path: '/log', lines: ['one', 'two'] } },
      { copy: { from: '/log', to: '/log.1' } },
      { copy: { from: '/log', to: '/log.2' } },
      { truncate: '/log' },
      { truncate: { path: '/log.1', size: 4 } },
      { delete: '/log.2' },
    );
    expect([text('/log'), text('/log.1')]).toEqual(['', 'one\n']);
    expect(disk.paths()).toEqual(['/log', '/log.1']);
  });
});

describe('the virtual disk', () => {
  it('keeps what a descriptor is open on when the name is given to another file', () => {
    const { disk, text, files } = diskWith({ append: { path: '/log', lines: ['one'] } });
    const fd = files.openSync('/log', APPEND);
    changeDisk(disk, { rename: { from: '/log', to: '/log.1' } });
    changeDisk(disk, { append: { path: '/log', lines: ['new'] } });
    files.writeFileSync(fd, 'two\n');
    expect([text('/log'), text('/log.1')]).toEqual(['new\n', 'one\ntwo\n']);
  });

  it('uses an inode again when neither a name nor a descriptor leads to it', () => {
    const { disk, files } = diskWith({ append: { path: '/a', lines: ['a'] } });
    const { number } = disk.get('/a', 'stat');
    const fd = files.openSync('/a', 'r');
    changeDisk(disk, { delete: '/a' });
    changeDisk(disk, { append: { path: '/b', lines: ['b'] } });
    expect(disk.get('/b', 'stat').number).not.toBe(number);
    files.closeSync(fd);
    changeDisk(disk, { append: { path: '/c', lines: ['c'] } });
    expect(disk.get('/c', 'stat').number).toBe(number);
  });

  it('writes what fits, and then nothing', () => {
    const { disk, text, files } = diskWith({ append: { path: '/log', text: '' } });
    const fd = files.openSync('/log', APPEND);
    changeDisk(disk, { free_space: 3 });
    expect(() => files.writeFileSync(fd, 'hello')).toThrow('ENOSPC: no space left on device, write');
    expect(text('/log')).toBe('hel');
    changeDisk(disk, { append: { path: '/log', text: ' by another' } });
    changeDisk(disk, { free_space: 'unlimited' });
    files.writeFileSync(fd, '!');
    expect(text('/log')).toBe('hel by another!');
  });

  it('loses what was not synced when the power goes', () => {
    const { disk, files, text } = diskWith({ append: { path: '/log', lines: ['one'] } });
    const fd = files.openSync('/log', APPEND);
    files.writeFileSync(fd, 'two\n');
    files.openSync('/new', CREATE);
    files.kill();
    disk.losePower();
    expect(text('/log')).toBe('one\n');
    expect(disk.paths()).toEqual(['/log']);
  });

  it('has its space, links and inodes again after a power loss', () => {
    const { disk } = diskWith({ append: { path: '/old', lines: ['one'] } });
    disk.freeSpace = 100;
    disk.link('/old', '/other');
    disk.makeFolder('/folder');
    const old = disk.file('/old', 'open');
    disk.syncAll();
    disk.write(old, Buffer.alloc(60), old.content.length);
    disk.remove('/old');
    disk.remove('/other');
    const taker = disk.create('/folder/new', 'open');
    disk.sync(disk.get('/folder', 'fsync') as VirtualFolder);
    expect(taker.number).toBe(old.number);
    disk.losePower();
    expect(disk.freeSpace).toBe(100);
    expect(disk.paths()).toEqual(['/folder/new', '/old', '/other']);
    expect([old.links, taker.links]).toEqual([2, 1]);
    expect(taker.number).not.toBe(old.number);
  });

  it('does nothing for a process that was killed', () => {
    const { disk, files } = diskWith({ append: { path: '/log', lines: ['one'] } });
    const fd = files.openSync('/log', APPEND);
    const answers: unknown[] = [];
    files.unlink('/log', (error) => answers.push(error));
    files.kill();
    files.writeFileSync(fd, 'two\n');
    files.rmSync('/log', { force: true });
    expect(files.runNext()).toBe(false);
    expect(answers).toEqual([]);
    expect(disk.file('/log', 'open').content.toString()).toBe('one\n');
  });
});
