import { resolve } from 'node:path';
import { counted } from '../../operators/internal.ts';
import { type Duration, toMilliseconds } from './duration.ts';
import { type VirtualDisk, VirtualFile } from './virtual-disk.ts';

/** What is written to a file. Folders are made as they are needed. */
export interface FileText {
  readonly path: string;
  /** Lines, each with a newline after it. */
  readonly lines?: readonly string[] | undefined;
  /** Text as it is, such as a half line. */
  readonly text?: string | undefined;
  /** One line, in which `{n}` is the number of the line, from 1. */
  readonly line?: string | undefined;
  /** How often `line` is written. Default: once. */
  readonly times?: number | undefined;
  /** The time between two of them. Default: none. */
  readonly every?: Duration | undefined;
}

export interface FileMove {
  readonly from: string;
  readonly to: string;
}

/** How a process ends without notice: killed, so that what was written stays, or with the machine, as far as it was synced. */
export type Crash = 'process' | 'power';

/** What happens to the files of a test, or to the process. Exactly one of these. */
export interface FileAction {
  /** Adds to a file, which is created if it is not there. */
  readonly append?: FileText | undefined;
  /** Replaces what a file holds, as `>` of a shell does. */
  readonly write?: FileText | undefined;
  readonly rename?: FileMove | undefined;
  /** To a new file. */
  readonly copy?: FileMove | undefined;
  /** To nothing, or to `size` bytes. */
  readonly truncate?: string | { readonly path: string; readonly size: number } | undefined;
  readonly delete?: string | undefined;
  /** How many more bytes the process can write. */
  readonly free_space?: number | 'unlimited' | undefined;
  readonly crash?: Crash | undefined;
  /** Starts the process again from its checkpoint; one that runs is stopped first. */
  readonly restart?: true | undefined;
}

/** A {@link FileAction} at a time. */
export interface FileStep extends FileAction {
  /** A time from the start. Default: before it. */
  readonly at?: Duration | undefined;
}

/** A single action at a virtual time in milliseconds; undefined: before the start. */
interface PlannedFileAction {
  readonly at: number | undefined;
  readonly action: FileAction;
}

/** The actions of steps one by one: those that repeat are several. */
export function planSteps(steps: readonly FileStep[]): PlannedFileAction[] {
  return steps.flatMap(({ at, ...action }): PlannedFileAction[] => {
    const start = at === undefined ? undefined : toMilliseconds(at);
    const { append } = action;
    if (append?.line === undefined) return [{ at: start, action }];
    const { line, times = 1, every = 0, path } = append;
    return Array.from({ length: times }, (_, index) => ({
      at: start === undefined ? undefined : start + index * toMilliseconds(every),
      action: { append: { path, lines: [line.replaceAll('{n}', String(index + 1))] } },
    }));
  });
}

/**
 * Does what another program, or an administrator, does to files. That outlasts a power loss, and is not bound by
 * `free_space`.
 *
 * @throws an error of the disk, such as ENOENT for a file that is to be renamed and is not there
 */
export function changeDisk(disk: VirtualDisk, action: FileAction): void {
  const { append, write, rename, copy, truncate, free_space } = action;
  const space = disk.freeSpace;
  disk.freeSpace = Number.POSITIVE_INFINITY;
  if (append !== undefined) {
    const file = fileToWrite(disk, append.path);
    disk.write(file, textOf(append), file.content.length);
  }
  if (write !== undefined) {
    const file = fileToWrite(disk, write.path);
    disk.resize(file, 0);
    disk.write(file, textOf(write), 0);
  }
  if (rename !== undefined) {
    makeFolderOf(disk, rename.to);
    disk.rename(rename.from, rename.to);
  }
  if (copy !== undefined) {
    const { content } = disk.file(copy.from, 'open');
    const file = fileToWrite(disk, copy.to);
    disk.resize(file, 0);
    disk.write(file, content, 0);
  }
  if (truncate !== undefined) {
    const { path, size } = typeof truncate === 'string' ? { path: truncate, size: 0 } : truncate;
    disk.resize(disk.file(path, 'truncate'), size);
  }
  if (action.delete !== undefined) disk.remove(action.delete);
  disk.freeSpace = free_space === undefined ? space : free_space === 'unlimited' ? Infinity : free_space;
  for (const path of pathsOf(action)) persist(disk, path);
}

/** What a step does, in words for a drawing: `rename /var/log/app.log → /var/log/app.log.1`. */
export function actionText(action: FileAction): string {
  const { append, write, rename, copy, truncate, free_space, crash } = action;
  if (append !== undefined) return `append ${append.path}`;
  if (write !== undefined) return `write ${write.path}`;
  if (rename !== undefined) return `rename ${rename.from} → ${rename.to}`;
  if (copy !== undefined) return `copy ${copy.from} → ${copy.to}`;
  if (truncate !== undefined) return `truncate ${typeof truncate === 'string' ? truncate : truncate.path}`;
  if (action.delete !== undefined) return `delete ${action.delete}`;
  if (free_space !== undefined) return free_space === 'unlimited' ? 'disk has space' : spaceText(free_space);
  return crash === undefined ? 'restart' : crash === 'power' ? 'power loss' : 'crash';
}

const spaceText = (bytes: number) => (bytes === 0 ? 'disk full' : `${counted(bytes, 'byte')} free`);

function pathsOf({ append, write, rename, copy, truncate, delete: gone }: FileAction): string[] {
  const truncated = typeof truncate === 'object' ? truncate.path : truncate;
  const paths = [append?.path, write?.path, rename?.from, rename?.to, copy?.to, truncated, gone];
  return paths.filter((path) => path !== undefined);
}

function textOf({ lines, text, line }: FileText): Buffer {
  const all = lines ?? (line === undefined ? [] : [line]);
  return Buffer.from(text ?? all.map((one) => `${one}\n`).join(''));
}

function fileToWrite(disk: VirtualDisk, path: string): VirtualFile {
  if (disk.find(path) !== undefined) return disk.file(path, 'open');
  makeFolderOf(disk, path);
  return disk.create(path, 'open');
}

function makeFolderOf(disk: VirtualDisk, path: string): void {
  const folder = resolve(path, '..');
  if (disk.find(folder) !== undefined) return;
  makeFolderOf(disk, folder);
  disk.makeFolder(folder);
}

function persist(disk: VirtualDisk, path: string): void {
  const file = disk.find(path);
  if (file instanceof VirtualFile) disk.sync(file);
  const folder = disk.find(resolve(path, '..'));
  if (folder !== undefined) disk.sync(folder);
}
