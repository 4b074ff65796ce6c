import { closeSync, openSync, readSync } from 'node:fs';

const LF = 0x0a;
const PIECE_LINES = 10_000;

/**
 * The bytes of a file in blocks of whole lines. A last line without its end gets none of its own: it is in the last
 * block as it stands.
 *
 * @param size of a block, in bytes, at most; a longer line makes a longer block.
 */
export function* blocksOf(path: string, size: number): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const block = Buffer.allocUnsafe(rest.length + size);
      rest.copy(block);
      const read = readSync(file, block, rest.length, size, null);
      const filled = block.subarray(0, rest.length + read);
      if (read === 0) {
        if (filled.length > 0) yield filled;
        return;
      }
      const end = filled.lastIndexOf(LF) + 1;
      if (end > 0) yield filled.subarray(0, end);
      rest = filled.subarray(end);
    }
  } finally {
    closeSync(file);
  }
}

/** The lines of a file, without their ends. */
export function* linesOf(path: string): Generator<string> {
  for (const block of blocksOf(path, 1 << 20)) {
    const lines = block.toString().split('\n');
    if (lines.at(-1) === '') lines.pop();
    yield* lines;
  }
}

/** The lines with their ends, many in each text. */
export function* joined(lines: Iterable<string>): Generator<string> {
  let piece: string[] = [];
  for (const line of lines) {
    piece.push(line);
    if (piece.length < PIECE_LINES) continue;
    yield `${piece.join('\n')}\n`;
    piece = [];
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`;
}

/** How many lines a file has. */
export function countLines(path: string): number {
  return lineCounter(path)();
}

/** Counts the lines of a file that grows: each call reads only what has been added since the last one. */
export function lineCounter(path: string): () => number {
  const block = Buffer.allocUnsafe(1 << 20);
  let offset = 0;
  let count = 0;
  return () => {
    const file = openSync(path, 'r');
    try {
      for (;;) {
        const read = block.subarray(0, readSync(file, block, 0, block.length, offset));
        if (read.length === 0) return count;
        offset += read.length;
        for (let at = read.indexOf(LF); at !== -1; at = read.indexOf(LF, at + 1)) count++;
      }
    } finally {
      closeSync(file);
    }
  };
}
