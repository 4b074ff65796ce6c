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
import { accessLines, logLines, secretLines, structuredLines } from './log-generator.ts';
import { GENERATED, ROOT } from './places.ts';

/** A change of the generator makes another file. */
const GENERATOR = createHash('sha256')
  .update(readFileSync(join(ROOT, 'bench/log-generator.ts')))
  .digest('hex')
  .slice(0, 12);

/** The path of a file with the first `lines` lines of the log. Kept for the next run, by the generator's hash. */
export function logFile(lines: number): string {
  return generated(`log-${lines}-${GENERATOR}.log`, () => joined(logLines(lines)));
}

/** The path of a log as JSON with this many lines, which is generated on first use. */
export function structuredFile(lines: number): string {
  return generated(`log-${lines}-${GENERATOR}.ndjson`, () => joined(structuredLines(lines)));
}

/** The path of an access log with this many lines, which is generated on first use. */
export function accessFile(lines: number): string {
  return generated(`access-${lines}-${GENERATOR}.log`, () => joined(accessLines(lines)));
}

/** The path of a log as JSON that has secrets, with this many lines, which is generated on first use. */
export function secretsFile(lines: number): string {
  return generated(`secrets-${lines}-${GENERATOR}.ndjson`, () => joined(secretLines(lines)));
}

/** The same for the events that a `file` collector makes of the log. */
export function eventsFile(lines: number): string {
  const source = logFile(lines);
  const eventOf = (line: string) => {
    const event = { timestamp: '2026-01-01T00:00:00.000Z', data: { line, source }, backfill: true };
    return JSON.stringify(event);
  };
  const events = function* () {
    for (const line of logLines(lines)) yield eventOf(line);
  };
  return generated(`log-${lines}-${GENERATOR}.events`, () => joined(events()));
}

function generated(name: string, texts: () => Iterable<string>): string {
  mkdirSync(GENERATED, { recursive: true });
  const path = join(GENERATED, name);
  if (!existsSync(path)) writeInPlace(path, texts());
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
