import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom, VirtualTimeScheduler } from 'rxjs';
import { FileAppender } from '../../../operators/files/append/file-appender.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();

afterEach(() => {
  jest.restoreAllMocks();
});

describe('FileAppender', () => {
  it('forces what was written to the disk when the scheduler that it is given says that a second is over', async () => {
    const { fdatasync } = fs;
    let forced = 0;
    jest.spyOn(fs, 'fdatasync').mockImplementation((fd, done) => {
      // Files of tests that ran before in this process may be forced meanwhile.
      if (fs.fstatSync(fd).ino === fs.statSync(folder('a.jsonl')).ino) forced++;
      fdatasync(fd, done);
    });
    const scheduler = new VirtualTimeScheduler();
    const appender = new FileAppender(folder('a.jsonl'), { scheduler });
    const append = (text: string) =>
      lastValueFrom(appender.append(text, { fsync: 'interval' }), { defaultValue: undefined });
    await append('1\n');
    await eventually(() => expect(forced).toBe(1));
    await append('2\n');
    expect(scheduler.actions).toHaveLength(1);
    scheduler.flush();
    expect(scheduler.now()).toBe(1000);
    await eventually(() => expect(forced).toBe(2));
    appender.close();
  });
});
