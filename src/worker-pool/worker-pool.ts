import { Worker } from 'node:worker_threads';
import { Observable, type Subscriber } from 'rxjs';
import { allowedV8Flags } from '../../operators/internal.ts';
import type {
  LineResult,
  LineTask,
  RefusedTask,
  WorkerMessage,
  WorkerProcessor,
  WorkerSetup,
} from './protocol.ts';

interface WorkerPoolOptions {
  readonly size: number;
  readonly processors: readonly WorkerProcessor[];
  /** What a worker runs. Default: what masks lines. */
  readonly file?: URL;
  /**
   * Told that a worker ended that was not to, or that none could be started. Another one takes its place unless there
   * were too many, or the machine has no thread for it.
   */
  readonly onLost: (error: unknown, isReplaced: boolean) => void;
  /** Told of each task that a worker could not do, ahead of the error of its Observable. */
  readonly onRefused?: (refused: RefusedTask) => void;
}

/** A task was not done, because its worker ended or could not do it. */
export class WorkerLost extends Error {}

/** Not before it is needed: in an application's bundle there may be no such place. */
const builtFile = () => new URL('./line-worker.js', import.meta.url);
/** Workers that end are replaced so often in a run: what ends all of them would do so forever. */
const REPLACEMENTS = 5;

/** Tasks that keep a worker busy until the main thread has time for it: one that it works on, and two that wait. */
const ENOUGH = 3;
interface Thread {
  readonly worker: Worker;
  /** The consumer of each task; undefined if its result is no longer needed. */
  readonly tasks: Map<number, Subscriber<LineResult> | undefined>;
  isReady: boolean;
}

/** Worker threads that mask lines and write them as JSON. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<Thread>();
  #replacements = REPLACEMENTS;
  #nextId = 0;
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    for (let i = 0; i < options.size; i++) this.#tryStart();
  }

  /** Whether there is a worker that takes tasks. */
  get isReady(): boolean {
    return this.#leastBusy() !== undefined;
  }

  /** Whether there is one that would start a task soon. */
  get isHungry(): boolean {
    const thread = this.#leastBusy();
    return thread !== undefined && thread.tasks.size < ENOUGH;
  }

  /** Emits what came of a task; errors with `WorkerLost` if it has to be done elsewhere. */
  run(lines: Omit<LineTask, 'id'>): Observable<LineResult> {
    return new Observable((subscriber) => {
      const thread = this.#leastBusy();
      if (thread === undefined) {
        subscriber.error(new WorkerLost());
        return undefined;
      }
      const id = this.#nextId++;
      thread.tasks.set(id, subscriber);
      // The copy is handed over. The lines themselves stay: they are needed again if the worker dies.
      const bytes = new Uint8Array(lines.bytes);
      thread.worker.postMessage({ ...lines, id, bytes } satisfies LineTask, [bytes.buffer]);
      return () => {
        if (thread.tasks.has(id)) thread.tasks.set(id, undefined);
      };
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const { worker } of this.#threads) void worker.terminate();
    this.#threads.clear();
  }

  #leastBusy(): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of this.#threads) {
      if (thread.isReady && (best === undefined || thread.tasks.size < best.tasks.size)) best = thread;
    }
    return best;
  }

  /** Whether there was a thread for it. Never throws: who calls this has tasks to hand back. */
  #tryStart(): boolean {
    try {
      this.#start();
      return true;
    } catch (error) {
      this.#options.onLost(error, false);
      return false;
    }
  }

  #start(): void {
    const { file = builtFile(), processors } = this.#options;
    const workerData: WorkerSetup = { processors, v8Flags: allowedV8Flags()?.url };
    const worker = new Worker(file, { workerData });
    const thread: Thread = { worker, tasks: new Map(), isReady: false };
    this.#threads.add(thread);
    let failure: unknown;
    worker.on('message', (message: WorkerMessage) => {
      if (message === 'ready') thread.isReady = true;
      else if ('member' in message) this.#refused(thread, message);
      else this.#finish(thread, message);
    });
    worker.on('error', (error) => {
      failure = error;
    });
    // A result that cannot be read would be waited for without end.
    worker.on('messageerror', (error) => {
      failure = error;
      void worker.terminate();
    });
    worker.on('exit', () => this.#lost(thread, failure));
  }

  #finish({ tasks }: Thread, result: LineResult): void {
    const subscriber = tasks.get(result.id);
    tasks.delete(result.id);
    subscriber?.next(result);
    subscriber?.complete();
  }

  #refused({ tasks }: Thread, refused: RefusedTask): void {
    const subscriber = tasks.get(refused.id);
    tasks.delete(refused.id);
    this.#options.onRefused?.(refused);
    subscriber?.error(new WorkerLost());
  }

  #lost(thread: Thread, error: unknown): void {
    this.#threads.delete(thread);
    if (this.#isClosed) return;
    const isReplaced = this.#replacements-- > 0 && this.#tryStart();
    this.#options.onLost(error, isReplaced);
    for (const subscriber of [...thread.tasks.values()]) subscriber?.error(new WorkerLost());
  }
}
