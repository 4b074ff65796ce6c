import { basename, dirname, resolve } from 'node:path';
import { asyncScheduler } from 'rxjs';

/** A file or a folder of a {@link VirtualDisk}: names lead to it, and it lives while a name or a descriptor does. */
abstract class Inode {
  number: bigint;
  /** Names that lead to it. */
  links = 0;
  /** Descriptors that are open on it. */
  opened = 0;
  /** The path by which it was known last. */
  path: string;
  /** Nanoseconds of virtual time. */
  readonly born: bigint;
  modified: bigint;
  changed: bigint;

  constructor(number: bigint, path: string, now: bigint) {
    this.number = number;
    this.path = path;
    this.born = now;
    this.modified = now;
    this.changed = now;
  }
}

export class VirtualFile extends Inode {
  content: Buffer = Buffer.alloc(0);
  /** What is left of it after a power loss. */
  durable: Buffer = Buffer.alloc(0);
}

export class VirtualFolder extends Inode {
  readonly entries = new Map<string, VirtualFile | VirtualFolder>();
  /** The entries that are left after a power loss. */
  readonly durable = new Map<string, VirtualFile | VirtualFolder>();
  /** The names that came or went since the folder was synced. */
  readonly unsynced = new Set<string>();
  readonly parent: VirtualFolder | undefined;

  constructor(number: bigint, path: string, now: bigint, parent?: VirtualFolder) {
    super(number, path, now);
    this.parent = parent;
  }
}

/** What has become of a file: `moved` if a name of it came or went. */
export type DiskChange = 'changed' | 'moved';

const MESSAGES = {
  EBADF: 'bad file descriptor',
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
} as const;

/** An error as Node's functions for files report it. */
export function diskError(
  code: keyof typeof MESSAGES,
  syscall: string,
  path?: string,
): NodeJS.ErrnoException {
  const where = path === undefined ? '' : ` '${path}'`;
  return Object.assign(new Error(`${code}: ${MESSAGES[code]}, ${syscall}${where}`), {
    code,
    syscall,
    ...(path !== undefined && { path }),
  });
}

/**
 * Files in memory, as a test needs them: with inodes that are used again, with names that can change while a file is open,
 * with limited space, and with a cache that a power loss takes away. Times are those of virtual time. It outlives the
 * processes that use it.
 */
export class VirtualDisk {
  /** Bytes that may still be written. */
  freeSpace = Number.POSITIVE_INFINITY;
  /** Told of each change to a file. */
  onChange: ((file: VirtualFile, change: DiskChange) => void) | undefined;
  /** Inodes that a new file takes before it takes a new number, as ext4 does. */
  #freeNumbers: bigint[] = [];
  #lastNumber = 1n;
  #lastTime = 0n;
  readonly #root = new VirtualFolder(1n, '/', 0n);

  /** What is at a path; undefined if nothing is. */
  find(path: string): VirtualFile | VirtualFolder | undefined {
    let found: VirtualFile | VirtualFolder | undefined = this.#root;
    for (const name of namesOf(path)) {
      if (!(found instanceof VirtualFolder)) return undefined;
      found = found.entries.get(name);
    }
    return found;
  }

  /** @throws ENOENT, or ENOTDIR if a part of the path is a file */
  get(path: string, syscall: string): VirtualFile | VirtualFolder {
    const found = this.find(path);
    if (found !== undefined) return found;
    this.#folderOf(path, syscall);
    throw diskError('ENOENT', syscall, path);
  }

  /** @throws as {@link get}, or EISDIR */
  file(path: string, syscall: string): VirtualFile {
    const found = this.get(path, syscall);
    if (found instanceof VirtualFile) return found;
    throw diskError('EISDIR', syscall, path);
  }

  /** An empty file at a path where nothing is. */
  create(path: string, syscall: string): VirtualFile {
    const folder = this.#folderOf(path, syscall);
    const file = new VirtualFile(this.#newNumber(), resolve(path), this.#now());
    this.#enter(folder, path, file);
    return file;
  }

  makeFolder(path: string): void {
    if (this.find(path) !== undefined) throw diskError('EEXIST', 'mkdir', path);
    const parent = this.#folderOf(path, 'mkdir');
    this.#enter(parent, path, new VirtualFolder(this.#newNumber(), resolve(path), this.#now(), parent));
  }

  /** Gives a file one more name. */
  link(from: string, to: string): void {
    const file = this.file(from, 'link');
    if (this.find(to) !== undefined) throw diskError('EEXIST', 'link', to);
    this.#enter(this.#folderOf(to, 'link'), to, file);
    this.#tell(file, 'moved');
  }

  rename(from: string, to: string): void {
    const moved = this.get(from, 'rename');
    const target = this.#folderOf(to, 'rename');
    const replaced = this.find(to);
    if (replaced === moved) return;
    if (replaced instanceof VirtualFolder) throw diskError('EISDIR', 'rename', to);
    if (replaced !== undefined) this.#leave(to, replaced);
    this.#leave(from, moved, false);
    this.#enter(target, to, moved);
    if (moved instanceof VirtualFile) this.#tell(moved, 'moved');
  }

  remove(path: string): void {
    this.#leave(path, this.file(path, 'unlink'));
  }

  /** Writes at a position, as far as there is space. Returns how many bytes that were. */
  write(file: VirtualFile, bytes: Uint8Array, position: number): number {
    const more = Math.max(0, position + bytes.length - file.content.length);
    const missing = Math.max(0, more - this.freeSpace);
    const count = Math.max(0, bytes.length - missing);
    if (count === 0 && bytes.length > 0) throw diskError('ENOSPC', 'write');
    this.resize(file, Math.max(file.content.length, position + count));
    file.content.set(bytes.subarray(0, count), position);
    return count;
  }

  /** Truncates a file, or adds NULs to it. */
  resize(file: VirtualFile, length: number): void {
    const before = file.content;
    this.freeSpace += before.length - length;
    file.content =
      length <= before.length
        ? Buffer.from(before.subarray(0, length))
        : Buffer.concat([before, Buffer.alloc(length - before.length)]);
    file.modified = file.changed = this.#now();
    this.#tell(file, 'changed');
  }

  /** Makes what a file holds, or the names in a folder, outlast a power loss. */
  sync(inode: VirtualFile | VirtualFolder): void {
    if (inode instanceof VirtualFile) {
      inode.durable = Buffer.from(inode.content);
      return;
    }
    // Only the changes: a test may write thousands of files to a folder.
    for (const name of inode.unsynced) {
      const entry = inode.entries.get(name);
      inode.durable.delete(name);
      if (entry !== undefined) inode.durable.set(name, entry);
    }
    inode.unsynced.clear();
    // A file system with a journal keeps no folder without the one that it is in.
    const { parent } = inode;
    if (parent !== undefined && parent.durable.get(basename(inode.path)) !== inode) {
      parent.durable.set(basename(inode.path), inode);
      this.sync(parent);
    }
  }

  /** Makes everything outlast a power loss. */
  syncAll(inode: VirtualFile | VirtualFolder = this.#root): void {
    this.sync(inode);
    if (inode instanceof VirtualFolder) for (const entry of inode.entries.values()) this.syncAll(entry);
  }

  /** All that was not synced is gone. No process may have anything open. */
  losePower(): void {
    const before = this.#inodes();
    for (const inode of before) inode.links = 0;
    this.#restore(this.#root);
    const after = this.#inodes();
    this.freeSpace += sizeOf(before) - sizeOf(after);
    const numbers = new Set<bigint>();
    for (const inode of after) {
      // A file that is there again may have left its number to another one.
      if (numbers.has(inode.number)) inode.number = ++this.#lastNumber;
      numbers.add(inode.number);
    }
    const free = new Set([...this.#freeNumbers, ...Array.from(before, ({ number }) => number)]);
    this.#freeNumbers = [...free].filter((number) => !numbers.has(number));
  }

  /** Makes a folder, and what is in it, what was synced of it. */
  #restore(folder: VirtualFolder): void {
    folder.entries.clear();
    folder.unsynced.clear();
    for (const [name, entry] of folder.durable) {
      folder.entries.set(name, entry);
      entry.path = resolve(folder.path, name);
      entry.links++;
      if (entry instanceof VirtualFolder) this.#restore(entry);
      else entry.content = Buffer.from(entry.durable);
    }
  }

  /** Everything in a folder, each once. */
  #inodes(folder: VirtualFolder = this.#root): Set<VirtualFile | VirtualFolder> {
    const entries = [...folder.entries.values()];
    return new Set(
      entries.flatMap((entry) => (entry instanceof VirtualFolder ? [entry, ...this.#inodes(entry)] : entry)),
    );
  }

  /** The paths of all files, sorted. */
  paths(folder: VirtualFolder = this.#root): string[] {
    const paths = Array.from(folder.entries, ([name, entry]) => {
      const path = resolve(folder.path, name);
      return entry instanceof VirtualFolder ? this.paths(entry) : [path];
    });
    return paths.flat().sort();
  }

  /** A descriptor was closed, or a name is gone: an inode that has neither is free. */
  freeIfUnused({ number, links, opened }: VirtualFile | VirtualFolder): void {
    if (links === 0 && opened === 0) this.#freeNumbers.push(number);
  }

  #folderOf(path: string, syscall: string): VirtualFolder {
    let folder: VirtualFile | VirtualFolder | undefined = this.#root;
    for (const name of namesOf(dirname(resolve(path)))) {
      folder = folder.entries.get(name);
      if (folder === undefined) throw diskError('ENOENT', syscall, path);
      if (!(folder instanceof VirtualFolder)) throw diskError('ENOTDIR', syscall, path);
    }
    return folder;
  }

  #enter(folder: VirtualFolder, path: string, entry: VirtualFile | VirtualFolder): void {
    folder.entries.set(basename(path), entry);
    folder.unsynced.add(basename(path));
    folder.modified = folder.changed = entry.changed = this.#now();
    entry.path = resolve(path);
    entry.links++;
  }

  #leave(path: string, entry: VirtualFile | VirtualFolder, mayBeFree = true): void {
    const folder = this.#folderOf(path, 'unlink');
    folder.entries.delete(basename(path));
    folder.unsynced.add(basename(path));
    folder.modified = folder.changed = entry.changed = this.#now();
    entry.links--;
    if (!mayBeFree || !(entry instanceof VirtualFile)) return;
    if (entry.links === 0) this.freeSpace += entry.content.length;
    this.freeIfUnused(entry);
    this.#tell(entry, 'moved');
  }

  #newNumber(): bigint {
    return this.#freeNumbers.pop() ?? ++this.#lastNumber;
  }

  /** Never the same twice, and never 0, by which a file system says that it does not know. */
  #now(): bigint {
    const now = BigInt(Math.floor(asyncScheduler.now() * 1e6)) + 1n;
    this.#lastTime = now > this.#lastTime ? now : this.#lastTime + 1n;
    return this.#lastTime;
  }

  #tell(file: VirtualFile, change: DiskChange): void {
    this.onChange?.(file, change);
  }
}

/** Bytes that files hold. */
function sizeOf(inodes: Iterable<VirtualFile | VirtualFolder>): number {
  let size = 0;
  for (const inode of inodes) size += inode instanceof VirtualFile ? inode.content.length : 0;
  return size;
}

function namesOf(path: string): string[] {
  return resolve(path).split('/').filter(Boolean);
}
