import { join } from 'node:path';
import zlib from 'node:zlib';
import { asyncScheduler, type Subscription } from 'rxjs';
import { fileSystem, fsCall } from '../../operators/internal-files.ts';
import type { LogPosition } from './segment.ts';

const { crc32 } = zlib;

/** Milliseconds that positions are gathered for. A crash repeats what was released in that time. */
const WRITE_AFTER = 50;

/** Up to where the events of a log are released, in a file. Where that cannot be read, all events are read again. */
export class ReleasedPosition {
  readonly #path: string;
  #position: LogPosition;
  #writing: Subscription | undefined;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, position: LogPosition) {
    this.#path = path;
    this.#position = position;
  }

  /** Reads the position in a folder, or starts at the first event. */
  static open(folder: string): ReleasedPosition {
    const path = join(folder, 'released');
    return new ReleasedPosition(path, read(path));
  }

  get position(): LogPosition {
    return this.#position;
  }

  move(position: LogPosition): void {
    this.#position = position;
    this.#writing ??= asyncScheduler.schedule(() => {
      this.#writing = undefined;
      this.#written = this.#written.then(() => this.#write());
    }, WRITE_AFTER);
  }

  async close(): Promise<void> {
    this.#writing?.unsubscribe();
    await this.#written;
    await this.#write();
  }

  /** Never rejects: a position that cannot be written makes a crash repeat events, and loses none. */
  async #write(): Promise<void> {
    const temporary = `${this.#path}.new`;
    const text = encode(this.#position);
    try {
      await fsCall((done) => fileSystem.writeFile(temporary, text, { mode: 0o600 }, done));
      await fsCall((done) => fileSystem.rename(temporary, this.#path, done));
    } catch {}
  }
}

function encode({ segment, offset }: LogPosition): string {
  const text = `${segment} ${offset}`;
  return `${text} ${crc32(text)}\n`;
}

function read(path: string): LogPosition {
  const start = { segment: 0, offset: 0 };
  if (!fileSystem.existsSync(path)) return start;
  const text = fileSystem.readFileSync(path, 'latin1');
  const [segment, offset] = text.split(' ').map(Number);
  const position = { segment: segment as number, offset: offset as number };
  return text === encode(position) ? position : start;
}
