import { replaceFileSystem } from '../../operators/internal-files.ts';
import type { Logger } from '../sdk/context.ts';
import { loadState } from '../state/load-state.ts';
import { JournalStateStore, type StateStore } from '../state/state-store.ts';
import type { Crash } from './file-steps.ts';
import { ProcessFiles } from './process-files.ts';
import { VirtualDisk } from './virtual-disk.ts';
import type { PendingCalls } from './virtual-time.ts';

/** Where checkpoints are kept. */
const STATE_FOLDER = '/millrace-state';

/** A call of the process that has changed the disk. */
export interface DiskCall {
  readonly call: string;
  readonly path: string;
}

/**
 * A disk, and one process after the other that works on it: all files that are read and written by way of `fileSystem`
 * are on this disk, until `shutDown`.
 */
export class VirtualMachine implements PendingCalls {
  readonly disk = new VirtualDisk();
  /** The calls that have changed the disk. */
  readonly calls: DiskCall[] = [];
  /** Told of each of them, when it has. */
  onCall: (() => void) | undefined;
  #process: ProcessFiles | undefined;
  #restore: (() => void) | undefined;

  constructor() {
    this.disk.makeFolder(STATE_FOLDER);
    this.disk.syncAll();
  }

  /** Starts a process. The one before has ended. */
  boot(): void {
    this.#restore?.();
    this.#process = new ProcessFiles(this.disk, (call, path) => {
      this.calls.push({ call, path });
      this.onCall?.();
    });
    this.#restore = replaceFileSystem(this.#process.fileSystem);
  }

  /** The state folder of the process, as `openState` opens it. There is nobody to lock it against. */
  openState(logger: Logger): StateStore {
    const lock = { release: () => {} };
    return new JournalStateStore(STATE_FOLDER, lock, logger, loadState(STATE_FOLDER, logger));
  }

  /** What the process still calls has no effect. */
  crash(kind: Crash): void {
    this.#process?.kill();
    if (kind === 'power') this.disk.losePower();
  }

  runNext(): boolean {
    return this.#process?.runNext() ?? false;
  }

  end(): void {
    this.#process?.kill();
  }

  /** Gives Node's files back. */
  shutDown(): void {
    this.#restore?.();
    this.#restore = undefined;
  }

  /** What each file holds, without the checkpoints. */
  contents(): Map<string, string> {
    const paths = this.disk.paths().filter((path) => !path.startsWith(`${STATE_FOLDER}/`));
    return new Map(paths.map((path) => [path, this.disk.file(path, 'open').content.toString()]));
  }
}
