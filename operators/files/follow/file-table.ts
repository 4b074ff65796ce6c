import { FollowedFile, type FoundFile, type LineMemory, type StartPosition } from './followed-file.ts';
import type { FileId } from './regular-file.ts';

/** The followed files by identity and by path, and the bytes left to read in them. */
export class FileTable {
  readonly #byId = new Map<FileId, FollowedFile>();
  /** Where each path led when it was last looked at. */
  readonly #byPath = new Map<string, FollowedFile>();
  readonly #memory: LineMemory;
  #unread = 0;

  constructor(memory: LineMemory) {
    this.#memory = memory;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Bytes known of and not read, over all files. */
  get unread(): number {
    return this.#unread;
  }

  get(id: FileId): FollowedFile | undefined {
    return this.#byId.get(id);
  }

  at(path: string): FollowedFile | undefined {
    const file = this.#byPath.get(path);
    return file !== undefined && this.#byId.get(file.id) === file ? file : undefined;
  }

  /** The paths that led to files when they were last looked at. */
  paths(): Iterable<string> {
    return this.#byPath.keys();
  }

  files(): Iterable<FollowedFile> {
    return this.#byId.values();
  }

  add(found: FoundFile, start: StartPosition): FollowedFile {
    const file = new FollowedFile(found, start, this.#memory);
    this.#byId.set(file.id, file);
    this.count(file);
    return file;
  }

  /** Says that `path` leads to `file`. A file whose own path leads elsewhere by now takes this one. */
  lead(path: string, file: FollowedFile): void {
    this.#byPath.set(path, file);
    if (this.#byPath.get(file.path) !== file) file.path = path;
  }

  /**
   * Forgets the paths that led nowhere, when all were looked at: `seen` has the paths of each file that was found.
   * A path whose file is nowhere to be found stays with it, so that the next file there comes after it.
   */
  prune(seen: ReadonlyMap<FollowedFile, ReadonlySet<string>>): void {
    for (const [path, file] of this.#byPath) {
      const paths = seen.get(file);
      const isLost = paths === undefined ? this.#byId.get(file.id) !== file : !paths.has(path);
      if (isLost) this.#byPath.delete(path);
    }
    for (const [file, paths] of seen) {
      const [first] = paths;
      if (first !== undefined && !paths.has(file.path)) file.path = first;
    }
  }

  /** Brings the sum of unread bytes up to date after a change to `file`. */
  count(file: FollowedFile): void {
    this.#unread += file.unread - file.counted;
    file.counted = file.unread;
  }

  remove(file: FollowedFile): void {
    this.#unread -= file.counted;
    file.counted = 0;
    this.#byId.delete(file.id);
    file.lines.drop();
  }

  /** Frees what is held of lines. */
  close(): void {
    for (const file of this.#byId.values()) file.lines.drop();
  }
}
