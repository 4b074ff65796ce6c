import fs from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, lastValueFrom, type Observable } from 'rxjs';
import { OutputFile } from '../../../../operators/files/append/output-file.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const folder = tempFolder();
afterEach(() => {
  jest.restoreAllMocks();
});

const ended = (work: Observable<never>) => lastValueFrom(work, { defaultValue: undefined });

describe('OutputFile', () => {
  it('forces a write to the disk that was under way when an earlier one was forced', async () => {
    const file = await firstValueFrom(
      OutputFile.open(folder('a'), { leftover: undefined, log: { warn: () => {} }, mode: 0o640 }),
    );
    const forced = jest.spyOn(fs, 'fdatasync');
    await ended(file.append(Buffer.from('one\n')));

    const { write } = fs;
    let goOn = () => {};
    jest.spyOn(fs, 'write').mockImplementationOnce(((...args: Parameters<typeof write>) => {
      goOn = () => write(...args);
    }) as never);
    const writing = ended(file.append(Buffer.from('two\n')));
    await ended(file.sync());
    goOn();
    await writing;
    expect(forced).toHaveBeenCalledTimes(1);
    await ended(file.sync());
    expect(forced).toHaveBeenCalledTimes(2);
    await ended(file.sync());
    expect(forced).toHaveBeenCalledTimes(2);
    await ended(file.close());
  });
});
