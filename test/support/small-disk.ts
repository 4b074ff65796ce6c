import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';

/** A file system of its own, so small that it is soon full. */
export interface SmallDisk {
  readonly path: string;
  /** Takes all room but `bytes`. Call again with more to make room. */
  leave(bytes: number): void;
  /** Makes room for so many bytes more, also while others write. */
  free(bytes: number): void;
  readOnly(isReadOnly: boolean): void;
}

const mounted: string[] = [];

/** Why small disks cannot be made here; undefined if they can. */
export const noSmallDisk: string | undefined = whyNot();

/** Mounts a tmpfs of `kilobytes`; unmounted after the test. */
export function smallDisk(kilobytes: number): SmallDisk {
  const path = mountTmpfs(kilobytes);
  const filler = join(path, '.filler');
  return {
    path,
    leave: (bytes) => {
      fs.rmSync(filler, { force: true });
      const { bavail, bsize } = fs.statfsSync(path);
      const left = Math.ceil(bytes / bsize);
      if (bavail > left) fill(filler, (bavail - left) * bsize);
    },
    free: (bytes) => fs.truncateSync(filler, Math.max(0, fs.statSync(filler).size - bytes)),
    readOnly: (isReadOnly) => {
      execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, path], { stdio: 'pipe' });
    },
  };
}

function fill(path: string, bytes: number): void {
  try {
    fs.writeFileSync(path, Buffer.alloc(bytes));
  } catch (error) {
    // Others wrote meanwhile: it is as full as it gets.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

function mountTmpfs(kilobytes: number): string {
  const path = fs.mkdtempSync(join(tmpdir(), 'millrace-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    fs.rmdirSync(path);
    throw error;
  }
  mounted.push(path);
  return path;
}

function unmountAll(): void {
  for (const path of mounted.splice(0)) {
    // Lazily, because a test that failed may have left a file open.
    execFileSync('umount', ['-l', path], { stdio: 'pipe' });
    fs.rmdirSync(path);
  }
}

function whyNot(): string | undefined {
  try {
    mountTmpfs(4);
    return undefined;
  } catch (error) {
    return `a tmpfs cannot be mounted here: ${String((error as { stderr?: unknown }).stderr ?? error).trim()}`;
  } finally {
    unmountAll();
  }
}

afterEach(unmountAll);
