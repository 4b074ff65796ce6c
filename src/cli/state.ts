import fs from 'node:fs';
import { resolve } from 'node:path';
import { asyncScheduler } from 'rxjs';
import { toRawPath } from '../../operators/internal-files.ts';
import { readBufferStatus } from '../buffer/read-buffer-status.ts';
import { loadConfig } from '../config/load-config.ts';
import { diskBufferOf } from '../sdk/config.ts';
import { printable } from '../sdk/printable.ts';
import type { StateEntry } from '../state/journal.ts';
import { readState } from '../state/open-state.ts';
import type { ForgetOptions, GlobalOptions, StateOptions } from './commands.ts';
import { configFiles } from './config-files.ts';
import { ExitCode, UsageError } from './errors.ts';
import { count, duration, table } from './format.ts';
import { noticesIn } from './notices.ts';
import { defaultStateFolder, openFolder } from './run-state.ts';
import { standardError } from './summary.ts';
import { coloursFor } from './terminal.ts';

/** `millrace state`: a table of all checkpoints. */
export async function listState(options: GlobalOptions & StateOptions): Promise<number> {
  const folder = folderOf(options);
  const checkpoints = checkpointsOf(await readState(folder));
  if (checkpoints.length === 0) {
    const notify = await noticesIn(options.logFormat);
    notify({ level: 'info', text: `${printable(folder)}: no checkpoints` });
    return ExitCode.ok;
  }
  const head = ['PIPELINE', 'COLLECTOR', 'OFFSET', 'SIZE', 'BEHIND', 'KEY', 'PATH'];
  const [first, ...lines] = table([head, ...checkpoints.map(row)]);
  process.stdout.write(`${[coloursFor(process.stdout).bold(first as string), ...lines].join('\n')}\n`);
  return ExitCode.ok;
}

/** `millrace state --config FILE`: a table of the buffers on disk. */
export async function listBuffers(file: string): Promise<number> {
  const files = await configFiles([file]);
  const { config } = await loadConfig(files, { ignoreTests: true });
  const rows = await Promise.all(
    Object.entries(config.pipelines).flatMap(([name, pipeline]) => {
      const buffer = diskBufferOf(pipeline);
      return buffer === undefined ? [] : bufferRow(name, buffer.path);
    }),
  );
  if (rows.length === 0) {
    process.stdout.write(`${printable(files.join(' + '))}: no pipeline has a buffer on disk\n`);
    return ExitCode.ok;
  }
  const [first, ...lines] = table([['PIPELINE', 'EVENTS', 'BYTES', 'OLDEST', 'PATH'], ...rows]);
  process.stdout.write(`${[coloursFor(process.stdout).bold(first as string), ...lines].join('\n')}\n`);
  return ExitCode.ok;
}

async function bufferRow(pipeline: string, path: string): Promise<string[]> {
  const { events, bytes, oldest } = await readBufferStatus(path);
  const age = oldest === undefined ? '-' : duration(Math.max(0, asyncScheduler.now() - oldest));
  return [pipeline, count(events), count(bytes), age, path].map(printable);
}

/** `millrace state forget PATH|KEY` */
export async function forgetState(file: string, options: ForgetOptions): Promise<number> {
  const { pipeline, collector } = options;
  const folder = folderOf(options);
  const isMeant = (checkpoint: Checkpoint) =>
    [file, resolve(file)].some((name) => name === checkpoint.key || name === resolve(checkpoint.path)) &&
    (pipeline ?? checkpoint.pipeline) === checkpoint.pipeline &&
    (collector ?? checkpoint.collector) === checkpoint.collector;
  // Checked before the folder is opened, which would create it.
  if (!checkpointsOf(await readState(folder)).some(isMeant)) throw unknown(file, options, folder);

  const store = await openFolder(folder, standardError(options).logger);
  const forgotten = checkpointsOf(store.entries()).filter(isMeant);
  for (const { pipeline, collector, key } of forgotten) store.forget({ pipeline, collector, key });
  await store.close();
  for (const { pipeline, collector, path, offset } of forgotten) {
    process.stdout.write(
      `${printable(`${pipeline}: ${collector}: forgot ${path}, read up to ${count(offset)}`)}\n`,
    );
  }
  return ExitCode.ok;
}

function folderOf({ stateDir }: StateOptions): string {
  if (stateDir === undefined) return defaultStateFolder();
  const folder = resolve(stateDir);
  // A folder that does not exist is most likely misspelled.
  const there = fs.statSync(folder, { throwIfNoEntry: false });
  if (there?.isDirectory()) return folder;
  const wrong = there === undefined ? 'does not exist' : 'is not a folder';
  throw new UsageError(`${printable(folder)} ${wrong}; give --state-dir the one that \`millrace run\` has`);
}

function row(checkpoint: Checkpoint): string[] {
  const { pipeline, collector, key, path, offset } = checkpoint;
  const size = sizeNow(checkpoint);
  const sizes = typeof size === 'number' ? [count(size), count(Math.max(0, size - offset))] : [size, '-'];
  return [pipeline, collector, count(offset), ...sizes, key, path].map(printable);
}

function unknown(file: string, { pipeline, collector }: ForgetOptions, folder: string): UsageError {
  const who = [
    pipeline === undefined ? '' : ` of pipeline ${pipeline}`,
    collector === undefined ? '' : ` of collector ${collector}`,
  ].join('');
  return new UsageError(
    `${printable(`${folder}: there is no checkpoint${who} for the path or key ${file}`)}. ` +
      '`millrace state` lists those of a folder; --state-dir chooses another one.',
  );
}

/** The offset of a collector in a file. */
interface Checkpoint {
  readonly pipeline: string;
  readonly collector: string;
  /** Device and inode, which identify the file even if it is renamed. */
  readonly key: string;
  /** Where it was seen last. */
  readonly path: string;
  /** Bytes. */
  readonly offset: number;
}

/** The entries that are checkpoints. */
function checkpointsOf(entries: readonly StateEntry[]): Checkpoint[] {
  return entries.flatMap(({ pipeline, collector, key, value }) => {
    if (typeof value !== 'object' || value === null || !('offset' in value) || !('path' in value)) return [];
    const { path, offset } = value;
    if (typeof path !== 'string' || typeof offset !== 'number') return [];
    return { pipeline, collector, key, path, offset };
  });
}

/** The size of the file if it is still at its path, else why it is not known. */
function sizeNow({ key, path }: Checkpoint): number | 'gone' | 'another file' | 'unreadable' {
  try {
    const { dev, ino, size } = fs.statSync(toRawPath(path), { bigint: true });
    return `${dev}:${ino}` === key ? Number(size) : 'another file';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'unreadable';
  }
}
