import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openState, readState } from '../../src/state/open-state.ts';
import type { StateStore } from '../../src/state/state-store.ts';
import { eventually } from '../support/eventually.ts';
import { recordingLogger } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
let state: StateStore | undefined;

/** Whether this process may mount a small file system of its own. */
function canMount(): boolean {
  const probe = fs.mkdtempSync('/tmp/millrace-mount-');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe]);
    return true;
  } catch {
    return false;
  } finally {
    fs.rmdirSync(probe);
  }
}

const remount = (options: string) => execFileSync('mount', ['-o', `remount,${options}`, folder('disk')]);

(canMount() ? describe : describe.skip)('a state folder that cannot be written to for a while', () => {
  beforeEach(() => {
    fs.mkdirSync(folder('disk'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder('disk')]);
  });
  afterEach(async () => {
    await state?.close();
    execFileSync('umount', ['-l', folder('disk')]);
  });

  const open = async (logger = recordingLogger()) => {
    state = await openState(folder('disk/state'), { logger });
    return { state, files: state.of('p', 'c'), logger };
  };
  const fill = () => {
    const file = fs.openSync(folder('disk/full'), 'w');
    try {
      for (;;) fs.writeSync(file, Buffer.alloc(4096, 1));
    } catch {
      fs.closeSync(file);
    }
  };

  it('full: says so once, goes on, and commits all of it when there is room', async () => {
    const { state, files, logger } = await open();
    fill();
    for (let n = 0; n < 2000; n++) files.set(`file ${n}`, 'x'.repeat(100));
    state.flush();
    files.commit();
    expect(logger.lines).toEqual([
      expect.stringMatching(
        /^error cannot write checkpoints to .*no space left on device.*Delivery goes on; .* come twice\. With `exactly_once` none does/,
      ),
    ]);
    expect(files.get('file 1999')).toBe('x'.repeat(100));
    fs.rmSync(folder('disk/full'));
    await eventually(() => expect(logger.lines.length).toBe(2));
    expect(logger.lines[1]).toMatch(/^info .*written again/);
    expect((await readState(state.folder)).length).toBe(2000);
  });

  it('full at the start: goes on from what it has, and starts its journal when there is room', async () => {
    const first = await open();
    first.files.set('file', 1);
    await first.state.close();
    fill();
    const { state, files, logger } = await open();
    expect(files.get('file')).toBe(1);
    files.set('file', 2);
    await eventually(() => expect(logger.lines.length).toBe(1));
    fs.rmSync(folder('disk/full'));
    await eventually(() => expect(logger.lines.length).toBe(2));
    expect(await readState(state.folder)).toMatchObject([{ key: 'file', value: 2 }]);
  });

  it('read-only: the same', async () => {
    const { files, logger } = await open();
    // A disk that fails is remounted so by the kernel, whatever is open on it; `mount` refuses that here.
    files.set('file', 1);
    await state?.close();
    remount('ro');
    await expect(open()).rejects.toMatchObject({
      code: 'MILLRACE_STATE_FOLDER',
      message: expect.stringContaining('EROFS'),
    });
    remount('rw');
    expect((await open()).files.get('file')).toBe(1);
    expect(logger.lines).toEqual([]);
  });
});
