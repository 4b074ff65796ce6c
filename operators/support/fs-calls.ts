import { fileSystem } from './file-system.ts';

/** Calls a function of `fs` that takes a callback. Not `fs.promises`: the files here are plain descriptors. */
export function fsCall<T = void>(
  call: (done: (error: Error | null, result?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error === null ? resolve(result as T) : reject(error)));
  });
}

/** Fills `bytes` from `position` on; returns fewer if the file ends before. */
export async function readAt(fd: number, position: number, bytes: Buffer): Promise<Buffer> {
  let read = 0;
  while (read < bytes.length) {
    const [from, length] = [position + read, bytes.length - read];
    const count = await fsCall<number>((done) => fileSystem.read(fd, bytes, read, length, from, done));
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

/** How much of some bytes was written, and what prevented the rest. */
export interface WriteResult {
  /** Bytes. */
  readonly written: number;
  readonly error?: NodeJS.ErrnoException;
}

/** Appends all of `bytes`, in as many writes as it takes. Never rejects. */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<WriteResult> {
  let written = 0;
  try {
    do {
      const [at, length] = [written, bytes.length - written];
      written += await fsCall<number>((done) => fileSystem.write(fd, bytes, at, length, null, done));
    } while (written < bytes.length);
    return { written };
  } catch (error) {
    return { written, error: error as NodeJS.ErrnoException };
  }
}

/** Never rejects: a write is confirmed, or reported as failed, before its file is closed. */
export function closeFile(fd: number): Promise<void> {
  return fsCall((done) => fileSystem.close(fd, () => done(null)));
}

/** Never rejects. */
export function removeFile(path: string): Promise<void> {
  return fsCall((done) => fileSystem.unlink(path, () => done(null)));
}

/** Whether a path leads to nothing. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
