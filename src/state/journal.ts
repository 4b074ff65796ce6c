import { dirname } from 'node:path';
import zlib from 'node:zlib';
import { counted } from '../../operators/internal.ts';
import { fileSystem, fsCall, syncFolder } from '../../operators/internal-files.ts';
import type { StateValue } from '../sdk/context.ts';
import { writeReplacement } from './replace-file.ts';

// Not a named import, which would keep an older Node.js from loading the module that names the required version.
const { crc32 } = zlib;

/** The version of what is written below, and the latest that is read. A later one is refused, never rewritten. */
export const FORMAT = 2;
const HEX_DIGITS = 8;

/** One value that one collector of one pipeline remembers. */
export interface StateEntry {
  readonly pipeline: string;
  readonly collector: string;
  readonly key: string;
  readonly value: StateValue;
}

/** A value that was set, or without `value` one that was deleted. */
export type StateChange = Omit<StateEntry, 'value'> & { readonly value?: StateValue };

/** All entries as of one commit. Each commit has a higher sequence number than the one before it. */
export interface Snapshot {
  readonly sequence: number;
  readonly entries: readonly StateEntry[];
}

/** What a journal holds up to its end, or up to the first record that is damaged. */
export interface JournalContent extends Snapshot {
  /** 0 if there is no readable header. */
  readonly format: number;
  /** Undefined for a whole journal. */
  readonly damage?: string;
}

interface Header {
  readonly format: number;
  readonly sequence: number;
  readonly entries: number;
}

interface Commit {
  readonly sequence: number;
  readonly changes: readonly StateChange[];
}

/**
 * A file of lines, each a checksum and a JSON document: a header, all entries at that time, then one line per commit.
 * A commit whose line was torn by a crash did not happen.
 */
export class Journal {
  readonly #path: string;
  readonly #file: number;
  readonly #identity: { readonly dev: bigint; readonly ino: bigint };
  readonly #snapshotBytes: number;
  /** Until it is done, the descriptor stays open. */
  readonly #synced: Promise<void>;
  #commitBytes = 0;

  private constructor(path: string, file: number, snapshotBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#identity = fileSystem.fstatSync(file, { bigint: true });
    this.#snapshotBytes = snapshotBytes;
    // What it started with outlasts a power loss, so that a file that is rotated meanwhile is known. If the disk refuses,
    // the copy that follows within seconds reports it.
    this.#synced = this.#sync().catch(() => {});
  }

  /** Replaces the journal at `path`. Whatever happens, the old or the new one is there. */
  static create(path: string, snapshot: Snapshot): Journal {
    const text = snapshotText(snapshot);
    const { file, temporary } = writeReplacement(path, text);
    try {
      fileSystem.renameSync(temporary, path);
    } catch (error) {
      fileSystem.closeSync(file);
      fileSystem.rmSync(temporary, { force: true });
      throw error;
    }
    return new Journal(path, file, Buffer.byteLength(text));
  }

  /** Whether a new journal is needed: this one is much longer than its entries, or no longer at its path. */
  get isUsedUp(): boolean {
    return this.#commitBytes > Math.max(1024 * 1024, 4 * this.#snapshotBytes) || !this.#isAtPath();
  }

  /** The commit survives the death of the process at once, and that of the machine once the system has flushed it. */
  append(commit: Commit): void {
    const line = encode(commit);
    fileSystem.writeFileSync(this.#file, line);
    this.#commitBytes += line.length;
  }

  /** Nothing is appended any more. Resolves when the file is closed. */
  async close(): Promise<void> {
    const files = fileSystem;
    await this.#synced.then(() => files.closeSync(this.#file)).catch(() => {});
  }

  async #sync(): Promise<void> {
    await fsCall((done) => fileSystem.fsync(this.#file, done));
    await syncFolder(dirname(this.#path));
  }

  #isAtPath(): boolean {
    const found = fileSystem.statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return found?.ino === this.#identity.ino && found.dev === this.#identity.dev;
  }
}

/** A journal without commits. */
export function snapshotText({ sequence, entries }: Snapshot): string {
  const header: Header = { format: FORMAT, sequence, entries: entries.length };
  return [header, ...entries].map(encode).join('');
}

/** Reads a journal, or a copy of one. Undefined if there is none. */
export function readJournal(path: string): JournalContent | undefined {
  let text: string;
  try {
    text = fileSystem.readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  // What follows the last newline is a commit that a crash has torn.
  const lines = text.split('\n').slice(0, -1);
  const header = decode<Header>(lines[0]);
  if (header === undefined) return { format: 0, sequence: -1, entries: [], damage: 'it has no header' };
  const { format } = header;
  if (format > FORMAT) return { format, sequence: -1, entries: [] };
  const firstCommit = 1 + header.entries;
  const entries = new Map<string, StateEntry>();
  let sequence = header.sequence ?? 0;
  let read = 1;
  for (; read < lines.length; read++) {
    const record = decode<StateEntry | Commit>(lines[read]);
    if (record === undefined) break;
    if (read < firstCommit) {
      apply(entries, record as StateEntry);
    } else {
      const commit = record as Commit;
      for (const change of commit.changes) apply(entries, change);
      sequence = commit.sequence;
    }
  }
  const content = { format, sequence, entries: [...entries.values()] };
  if (read < firstCommit) {
    return {
      format,
      sequence: -1,
      entries: [],
      damage: `it has ${read - 1} of ${counted(header.entries, 'entry')}`,
    };
  }
  return read === lines.length ? content : { ...content, damage: 'a record does not match its checksum' };
}

function apply(entries: Map<string, StateEntry>, change: StateChange): void {
  const { pipeline, collector, key, value } = change;
  const name = JSON.stringify([pipeline, collector, key]);
  if (value === undefined) entries.delete(name);
  else entries.set(name, { pipeline, collector, key, value });
}

function encode(record: Header | StateEntry | Commit): string {
  const json = JSON.stringify(record);
  return `${checksum(json)} ${json}\n`;
}

/** Undefined for a line that is damaged or missing. */
function decode<T>(line = ''): T | undefined {
  const json = line.slice(HEX_DIGITS + 1);
  return line.startsWith(`${checksum(json)} `) ? JSON.parse(json) : undefined;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(HEX_DIGITS, '0');
}
