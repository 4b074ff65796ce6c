import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { joined } from './lines-of.ts';
import { logLines } from './log-generator.ts';
import { GENERATED, ROOT } from './places.ts';

/** A change of the generator makes another file. */
const GENERATOR = createHash('sha256')
  .update(readFileSync(join(ROOT, 'bench/log-generator.ts')))
  .digest('hex')
  .slice(0, 12);

/** The path of a file with the first `lines` lines of the log. Kept for the next run, by the generator's hash. */
export function logFile(lines: number): string {
  mkdirSync(GENERATED, { recursive: true });
  const path = join(GENERATED, `log-${lines}-${GENERATOR}.log`);
  if (!existsSync(path)) writeInPlace(path, joined(logLines(lines)));
  return path;
}

/** A file that is there is complete: it is written beside its place first. */
function writeInPlace(path: string, texts: Iterable<string>): void {
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, 'w');
  try {
    for (const text of texts) writeSync(file, text);
    renameSync(draft, path);
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}
