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
import { applicationLines, base64Lines, proseLines, webLines } from './service-logs.ts';

/** A change of a generator makes another file. */
const GENERATOR = hashOf('bench/log-generator.ts');
const SERVICE_LOGS = hashOf('bench/log-generator.ts', 'bench/service-logs.ts');

function hashOf(...files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 12);
}

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

const SERVICE_LINES = { web: webLines, application: applicationLines, prose: proseLines };

/** The path of a log of a service with about so many bytes, which is generated on first use. */
export function serviceLogFile(kind: keyof typeof SERVICE_LINES, bytes: number): string {
  const linesOf = SERVICE_LINES[kind];
  const [sample = ''] = joined(linesOf(1000));
  const lines = Math.round((bytes / sample.length) * 1000);
  return generated(`${kind}-${lines}-${SERVICE_LOGS}.log`, () => joined(linesOf(lines)));
}

/** The path of a file with long lines of base64, which is generated on first use. */
export function longLinesFile(lines: number, length: number): string {
  const made = () => [...base64Lines(lines, length)].map((line) => `${line}\n`);
  return generated(`base64-${lines}-${length}-${SERVICE_LOGS}.log`, made);
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
