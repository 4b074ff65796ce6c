import fs from 'node:fs';
import { nonTextFormat } from '../../../operators/files/follow/file-head.ts';
import { UsageError } from '../exit-code.ts';

/** A file of dead letters as it is now: what the replay itself adds to it is not part of it. */
export interface DeadLetterFile {
  readonly path: string;
  readonly size: number;
}

const HEAD_BYTES = 1024;

function headOf(path: string): Buffer {
  const fd = fs.openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, fs.readSync(fd, head));
  } finally {
    fs.closeSync(fd);
  }
}

/** @throws UsageError if there is no such file, or it cannot be read, or is no text */
export function findDeadLetters(path: string): DeadLetterFile {
  try {
    fs.accessSync(path, fs.constants.R_OK);
    const stats = fs.statSync(path);
    if (!stats.isFile())
      throw new UsageError(`${path}: it is no file; replay wants one that a dead letter wrote`);
    const foreign = nonTextFormat(headOf(path));
    if (foreign !== undefined)
      throw new UsageError(
        `${path}: it looks like ${foreign.name}; expected JSON, one object a line: ${foreign.advice}`,
      );
    return { path, size: stats.size };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = (error as NodeJS.ErrnoException).message;
    throw new UsageError(`cannot read dead letters: ${reason}`);
  }
}

/** Its lines, read as they are asked for. An async generator: collectors that are one are pulled by demand. */
export async function* linesOf({ path, size }: DeadLetterFile): AsyncGenerator<string> {
  if (size === 0) return;
  let rest = '';
  for await (const chunk of fs.createReadStream(path, { encoding: 'utf8', end: size - 1 })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
  if (rest !== '') yield rest;
}
