import { execFile } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The repository's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = join(ROOT, 'dist');
const BIN = join(DIST, 'src/cli/bin.js');
/** As old as the sources that dist was last built from. */
const STAMP = join(DIST, '.built');
const LOCK = join(ROOT, 'node_modules/.millrace-build-lock');
const LOCK_EXPIRES_MS = 600_000;

let built: Promise<string> | undefined;

/**
 * The path of the built command line, built first if a source is newer. Test files run in several processes: a
 * lock lets one of them build.
 */
export function upToDateBuild(): Promise<string> {
  built ??= buildIfOld().then(() => BIN);
  return built;
}

async function buildIfOld(): Promise<void> {
  while (!isFresh()) {
    if (!takeLock()) {
      await pause(50);
      continue;
    }
    try {
      if (!isFresh()) await build();
    } finally {
      rmSync(LOCK, { force: true });
    }
  }
}

async function build(): Promise<void> {
  const newest = newestSource();
  // JavaScript only: types are the type check's business.
  await promisify(execFile)(process.execPath, ['build.mjs'], { cwd: ROOT });
  writeFileSync(STAMP, '');
  utimesSync(STAMP, newest / 1000, newest / 1000);
}

function isFresh(): boolean {
  return existsSync(BIN) && existsSync(STAMP) && Math.ceil(statSync(STAMP).mtimeMs) >= newestSource();
}

function newestSource(): number {
  const files = ['src', 'operators', 'plugins', 'redact', 'build'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => !/^dist(?:\/|$)/.test(name))
      .map((name) => join(ROOT, folder, name)),
  );
  files.push(join(ROOT, 'tsconfig.json'), join(ROOT, 'build.mjs'), join(ROOT, 'package.json'));
  return Math.floor(Math.max(...files.map((file) => statSync(file).mtimeMs)));
}

function takeLock(): boolean {
  try {
    closeSync(openSync(LOCK, 'wx'));
    return true;
  } catch {
    // One that a killed process left behind.
    const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LOCK_EXPIRES_MS) rmSync(LOCK, { force: true });
    return false;
  }
}
