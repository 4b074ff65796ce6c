import { constants } from 'node:fs';
import { resolve } from 'node:path';
import type { FileSystem, FileWatch } from '../../operators/internal-files.ts';
import { type DiskChange, diskError, type VirtualDisk, VirtualFile, VirtualFolder } from './virtual-disk.ts';

type Done = (error: Error | null, result?: unknown) => void;
type RawPath = string | Buffer;
type Flags = number | string;

interface Descriptor {
  readonly inode: VirtualFile | VirtualFolder;
  readonly isAppending: boolean;
  position: number;
}

/** No real descriptor is as high: one that is closed by mistake when a test is over must not be another file. */
const FIRST_DESCRIPTOR = 2 ** 30;
const WRITE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const FLAGS: Readonly<Record<string, number>> = { r: constants.O_RDONLY, wx: WRITE_NEW };

/**
 * The files of a {@link VirtualDisk} as one process sees them, in the place of `node:fs`. A call with a callback waits
 * until `runNext` is called, so that the order of all calls is known, and the process can be killed between any two.
 */
export class ProcessFiles {
  readonly #disk: VirtualDisk;
  readonly #onChanged: (call: string, path: string) => void;
  readonly #calls: (() => void)[] = [];
  readonly #descriptors = new Map<number, Descriptor>();
  readonly #watches = new Map<FileWatch, { readonly file: VirtualFile; tell(change: DiskChange): void }>();
  #lastDescriptor = FIRST_DESCRIPTOR;
  #isKilled = false;
  /** Work that threads of Node have not done yet. */
  #worksLeft = 0;

  /** @param onChanged told of each call that has changed the disk, when it has */
  constructor(disk: VirtualDisk, onChanged: (call: string, path: string) => void = () => {}) {
    this.#disk = disk;
    this.#onChanged = onChanged;
    disk.onChange = (file, change) => {
      for (const watch of this.#watches.values()) if (watch.file === file) watch.tell(change);
    };
  }

  /** What takes the place of `node:fs`. */
  get fileSystem(): FileSystem {
    // Node's functions have overloads that are not called.
    return this as unknown as FileSystem;
  }

  /** Does the oldest call that waits; false if there is none, and no thread of Node works. */
  runNext(): boolean {
    const call = this.#calls.shift();
    call?.();
    return call !== undefined || (this.#worksLeft > 0 && !this.#isKilled);
  }

  /** Ends the process: calls that wait are never done, its descriptors are closed, and no later call does anything. */
  kill(): void {
    for (const descriptor of [...this.#descriptors.keys()]) this.closeSync(descriptor);
    this.#isKilled = true;
    this.#calls.length = 0;
    this.#watches.clear();
  }

  // Calls that return at once.

  openSync(path: RawPath, flags: Flags, _mode?: number): number {
    const bits = typeof flags === 'number' ? flags : (FLAGS[flags] as number);
    const name = String(path);
    if (this.#isKilled) return this.#lastDescriptor;
    const found = this.#disk.find(name);
    if (found !== undefined && (bits & constants.O_EXCL) !== 0) throw diskError('EEXIST', 'open', name);
    if (found === undefined && (bits & constants.O_CREAT) === 0) this.#disk.get(name, 'open');
    const isWriting = (bits & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
    if (isWriting && found instanceof VirtualFolder) throw diskError('EISDIR', 'open', name);
    const inode = found ?? this.#change('open', name, () => this.#disk.create(name, 'open'));
    inode.opened++;
    const isAppending = (bits & constants.O_APPEND) !== 0;
    this.#descriptors.set(++this.#lastDescriptor, { inode, isAppending, position: 0 });
    return this.#lastDescriptor;
  }

  closeSync(fd: number): void {
    if (this.#isKilled) return;
    const { inode } = this.#descriptor(fd, 'close');
    this.#descriptors.delete(fd);
    inode.opened--;
    this.#disk.freeIfUnused(inode);
  }

  fstatSync(fd: number, options?: StatOptions): unknown {
    return statsOf(this.#descriptor(fd, 'fstat').inode, options);
  }

  statSync(path: string, options: StatOptions & { throwIfNoEntry?: boolean } = {}): unknown {
    if (options.throwIfNoEntry === false && !this.existsSync(path)) return undefined;
    return statsOf(this.#disk.get(path, 'stat'), options);
  }

  existsSync(path: string): boolean {
    return this.#disk.find(path) !== undefined;
  }

  readFileSync(path: string, encoding: BufferEncoding): string {
    return this.#disk.file(path, 'open').content.toString(encoding);
  }

  writeFileSync(file: number | string, text: string | Buffer, options: { flag?: string } = {}): void {
    if (this.#isKilled) return;
    const bytes = Buffer.from(text);
    const fd = typeof file === 'number' ? file : this.openSync(file, options.flag ?? 'wx');
    try {
      for (let written = 0; written < bytes.length; ) {
        written += this.#write(fd, bytes.subarray(written), null);
      }
    } finally {
      if (typeof file !== 'number') this.closeSync(fd);
    }
  }

  renameSync(from: RawPath, to: RawPath): void {
    if (this.#isKilled) return;
    this.#change('rename', String(to), () => this.#disk.rename(String(from), String(to)));
  }

  rmSync(path: string, _options: { readonly force: true }): void {
    if (this.existsSync(path) && !this.#isKilled) this.#change('unlink', path, () => this.#disk.remove(path));
  }

  readonly realpathSync = {
    native: (path: string): string => {
      this.#disk.get(path, 'realpath');
      return resolve(path);
    },
  };

  // Calls with a callback.

  open(path: RawPath, flags: Flags, ...rest: [Done] | [mode: number | undefined, Done]): void {
    this.#later(rest, () => this.openSync(path, flags));
  }

  close(fd: number, done: Done): void {
    this.#later([done], () => this.closeSync(fd));
  }

  read(fd: number, bytes: Uint8Array, at: number, length: number, position: number | null, done: Done): void {
    this.#later([done], () => {
      const descriptor = this.#descriptor(fd, 'read');
      if (!(descriptor.inode instanceof VirtualFile)) throw diskError('EISDIR', 'read');
      const from = position ?? descriptor.position;
      const found = descriptor.inode.content.subarray(from, from + length);
      bytes.set(found, at);
      if (position === null) descriptor.position += found.length;
      return found.length;
    });
  }

  write(
    fd: number,
    bytes: Uint8Array,
    at: number,
    length: number,
    position: number | null,
    done: Done,
  ): void {
    this.#later([done], () => this.#write(fd, bytes.subarray(at, at + length), position));
  }

  writeFile(path: string, text: string, options: { flag?: string; flush?: boolean }, done: Done): void {
    this.#later([done], () => {
      this.writeFileSync(path, text, options);
      if (options.flush === true) this.#sync(this.#disk.get(path, 'fsync'));
    });
  }

  lstat(path: RawPath, ...rest: [Done] | [StatOptions, Done]): void {
    this.#later(rest, () => statsOf(this.#disk.get(String(path), 'lstat'), rest[0]));
  }

  stat(path: RawPath, ...rest: [Done] | [StatOptions, Done]): void {
    this.#later(rest, () => statsOf(this.#disk.get(String(path), 'stat'), rest[0]));
  }

  fstat(fd: number, ...rest: [Done] | [StatOptions, Done]): void {
    this.#later(rest, () => statsOf(this.#descriptor(fd, 'fstat').inode, rest[0]));
  }

  ftruncate(fd: number, length: number, done: Done): void {
    this.#later([done], () => {
      const { inode } = this.#descriptor(fd, 'ftruncate');
      if (!(inode instanceof VirtualFile)) throw diskError('EINVAL', 'ftruncate');
      this.#change('ftruncate', inode.path, () => this.#disk.resize(inode, length));
    });
  }

  fsync(fd: number, done: Done): void {
    this.#later([done], () => {
      this.#sync(this.#descriptor(fd, 'fsync').inode);
    });
  }

  fdatasync(fd: number, done: Done): void {
    this.fsync(fd, done);
  }

  mkdir(path: string, _mode: number, done: Done): void {
    this.#later([done], () => this.#change('mkdir', path, () => this.#disk.makeFolder(path)));
  }

  link(from: string, to: string, done: Done): void {
    this.#later([done], () => this.#change('link', to, () => this.#disk.link(from, to)));
  }

  rename(from: string, to: string, done: Done): void {
    this.#later([done], () => this.renameSync(from, to));
  }

  unlink(path: string, done: Done): void {
    this.#later([done], () => this.#change('unlink', path, () => this.#disk.remove(path)));
  }

  readdir(path: RawPath, ...rest: [Done] | [{ withFileTypes?: boolean; encoding?: 'buffer' }, Done]): void {
    this.#later(rest, () => {
      const folder = this.#disk.get(String(path), 'scandir');
      if (!(folder instanceof VirtualFolder)) throw diskError('ENOTDIR', 'scandir', String(path));
      const options = typeof rest[0] === 'function' ? {} : rest[0];
      return Array.from(folder.entries, ([name, inode]) => {
        const given = options.encoding === 'buffer' ? Buffer.from(name) : name;
        return options.withFileTypes === true
          ? { name: given, parentPath: folder.path, ...kindOf(inode) }
          : given;
      });
    });
  }

  /** Only of `/proc/self/fd/…`, by which Linux tells the path of a descriptor. */
  readlink(path: string, done: Done): void {
    this.#later([done], () => {
      const fd = /^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1];
      if (fd === undefined) throw diskError('EINVAL', 'readlink', path);
      const { inode } = this.#descriptor(Number(fd), 'readlink');
      return inode.links === 0 ? `${inode.path} (deleted)` : inode.path;
    });
  }

  readonly realpath = {
    native: (path: RawPath, _options: { readonly encoding: 'buffer' }, done: Done): void => {
      this.#later([done], () => Buffer.from(this.realpathSync.native(String(path))));
    },
  };

  /** Watches the file, not its name, as a watch of the kernel does: it stays on the file when that is renamed. */
  waitFor(work: Promise<unknown>): void {
    const end = () => {
      this.#worksLeft--;
    };
    this.#worksLeft++;
    work.then(end, end);
  }

  watchChanges(path: string, changed: (mayHaveMoved: boolean) => void): FileWatch {
    const file = this.#disk.file(path, 'watch');
    const watches = this.#watches;
    const watch: FileWatch = {
      get isAlive() {
        return watches.has(watch);
      },
      unwatch: () => watches.delete(watch),
    };
    const tell = (change: DiskChange) => {
      this.#calls.push(() => watch.isAlive && changed(change === 'moved'));
    };
    watches.set(watch, { file, tell });
    return watch;
  }

  /** Does `work` when its turn comes; the last of `rest` is the callback. */
  #later(rest: readonly unknown[], work: () => unknown): void {
    if (this.#isKilled) return;
    const done = rest.at(-1) as Done;
    this.#calls.push(() => {
      let result: unknown;
      try {
        result = work();
      } catch (error) {
        done(error as Error);
        return;
      }
      // What the killed process had asked for last is done, but it never gets to know.
      if (!this.#isKilled) done(null, result);
    });
  }

  #sync(inode: VirtualFile | VirtualFolder): void {
    this.#change('fsync', inode.path, () => this.#disk.sync(inode));
  }

  #write(fd: number, bytes: Uint8Array, position: number | null): number {
    const descriptor = this.#descriptor(fd, 'write');
    const { inode, isAppending } = descriptor;
    if (!(inode instanceof VirtualFile)) throw diskError('EISDIR', 'write');
    const at = isAppending ? inode.content.length : (position ?? descriptor.position);
    return this.#change('write', inode.path, () => {
      const count = this.#disk.write(inode, bytes, at);
      if (position === null) descriptor.position = at + count;
      return count;
    });
  }

  #change<T>(call: string, path: string, work: () => T): T {
    const result = work();
    this.#onChanged(call, path);
    return result;
  }

  #descriptor(fd: number, syscall: string): Descriptor {
    const descriptor = this.#descriptors.get(fd);
    if (descriptor === undefined) throw diskError('EBADF', syscall);
    return descriptor;
  }
}

interface StatOptions {
  readonly bigint?: boolean;
}

const DEVICE = 1n;

function statsOf(inode: VirtualFile | VirtualFolder, options?: StatOptions | Done): unknown {
  const { number, links, modified, changed, born } = inode;
  const size = inode instanceof VirtualFile ? BigInt(inode.content.length) : 0n;
  const isBig = typeof options === 'object' && options.bigint === true;
  const given = (value: bigint) => (isBig ? value : Number(value));
  const ms = (time: bigint) => given(time / 1_000_000n);
  // Written out: a test of thousands of files asks for the status of each many times.
  const stats = {
    ...kindOf(inode),
    dev: given(DEVICE),
    ino: given(number),
    nlink: given(BigInt(links)),
    size: given(size),
    mode: given(0o640n),
    mtimeMs: ms(modified),
    ctimeMs: ms(changed),
    birthtimeMs: ms(born),
  };
  return isBig ? Object.assign(stats, { mtimeNs: modified, ctimeNs: changed, birthtimeNs: born }) : stats;
}

const FILE = { isFile: () => true, isDirectory: () => false, isSymbolicLink: () => false };
const FOLDER = { isFile: () => false, isDirectory: () => true, isSymbolicLink: () => false };

function kindOf(inode: VirtualFile | VirtualFolder) {
  return inode instanceof VirtualFolder ? FOLDER : FILE;
}
