import fs from 'node:fs';
import { resolve } from 'node:path';
import { printable } from '../../sdk/printable.ts';
import { readState } from '../../state/open-state.ts';
import { type Checkpoint, checkpointsOf, sizeNow } from '../checkpoint.ts';
import { coloursFor } from '../colours.ts';
import type { ForgetOptions } from '../commands/state.ts';
import { ExitCode, UsageError } from '../exit-code.ts';
import { count, table } from '../format.ts';
import { createLogger } from '../logger.ts';
import { noticesIn } from '../notices.ts';
import type { GlobalOptions } from '../program.ts';
import { openFolder } from '../run-state.ts';
import { defaultStateFolder, type StateOptions } from '../state-folder.ts';

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

/** `millrace state forget PATH|KEY` */
export async function forgetState(wanted: string, options: ForgetOptions): Promise<number> {
  const { pipeline, collector, logLevel: level, logFormat: format } = options;
  const folder = folderOf(options);
  const isWanted = (checkpoint: Checkpoint) =>
    [wanted, resolve(wanted)].some((name) => name === checkpoint.key || name === resolve(checkpoint.path)) &&
    (pipeline ?? checkpoint.pipeline) === checkpoint.pipeline &&
    (collector ?? checkpoint.collector) === checkpoint.collector;
  // Looked for before the folder is opened, which makes it if it is not there.
  if (!checkpointsOf(await readState(folder)).some(isWanted)) throw unknown(wanted, options, folder);

  const colours = coloursFor(process.stderr);
  const write = (line: string) => process.stderr.write(line);
  const logger = createLogger({ level, format, colours, terminal: process.stderr.isTTY === true, write });
  const store = await openFolder(folder, logger);
  const forgotten = checkpointsOf(store.entries()).filter(isWanted);
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
  // One that was asked for and is not there is more likely a problem than a clean start.
  const there = fs.statSync(folder, { throwIfNoEntry: false });
  if (there?.isDirectory()) return folder;
  const wrong = there === undefined ? 'does not exist' : 'is no folder';
  throw new UsageError(`${printable(folder)} ${wrong}; give --state-dir the one that \`millrace run\` has`);
}

function row(checkpoint: Checkpoint): string[] {
  const { pipeline, collector, key, path, offset } = checkpoint;
  const size = sizeNow(checkpoint);
  const sizes = typeof size === 'number' ? [count(size), count(Math.max(0, size - offset))] : [size, '-'];
  return [pipeline, collector, count(offset), ...sizes, key, path].map(printable);
}

function unknown(wanted: string, { pipeline, collector }: ForgetOptions, folder: string): UsageError {
  const who = [
    pipeline === undefined ? '' : ` of pipeline ${pipeline}`,
    collector === undefined ? '' : ` of collector ${collector}`,
  ].join('');
  return new UsageError(
    `${printable(`${folder}: there is no checkpoint${who} for the path or key ${wanted}`)}. ` +
      '`millrace state` lists those of a folder; --state-dir chooses another one.',
  );
}
