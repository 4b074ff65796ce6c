import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { OutputFile } from '../../../../operators/files/append/output-file.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const folder = tempFolder();
afterEach(() => {
  jest.restoreAllMocks();
});

describe('OutputFile', () => {
  it('forces a write to the disk that was under way when an earlier one was forced', async () => {
    const options = { leftover: undefined, log: { warn: () => {} }, mode: 0o640 };
    const file = await OutputFile.open(folder('a'), options);
    const forced = jest.spyOn(fs, 'fdatasync');
    await file.append(Buffer.from('one\n'));

    const { write } = fs;
    let goOn = () => {};
    jest.spyOn(fs, 'write').mockImplementationOnce(((...args: Parameters<typeof write>) => {
      goOn = () => write(...args);
    }) as never);
    const writing = file.append(Buffer.from('two\n'));
    await file.sync();
    goOn();
    await writing;
    expect(forced).toHaveBeenCalledTimes(1);
    await file.sync();
    expect(forced).toHaveBeenCalledTimes(2);
    await file.sync();
    expect(forced).toHaveBeenCalledTimes(2);
    await file.close();
  });
});
