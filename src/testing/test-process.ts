import { asyncScheduler, forkJoin } from 'rxjs';
import { loadGlob } from '../../operators/internal-files.ts';
import type { Manager } from '../engine/manager.ts';
import { MillraceError } from '../sdk/errors.ts';
import { durationText, toMilliseconds } from './duration.ts';
import { actionText, type Crash, changeDisk, type FileAction, planSteps } from './file-steps.ts';
import type { PipelineRun } from './pipeline-run.ts';
import type { PipelineTest } from './pipeline-test.ts';
import type { TestPipelineOptions } from './test-pipeline.ts';
import { VirtualMachine } from './virtual-machine.ts';
import { VirtualTime } from './virtual-time.ts';

/** How long pipelines run on after the last step: rotated files are done with after 5 s. */
const AFTER_LAST_STEP = 60_000;
/** Milliseconds from a crash after a call to the next start. */
const DOWN_FOR = 1000;
/** Milliseconds that a process runs which was started when the time of the test was over. */
const RUN_AT_LEAST = 10_000;

type Options = Pick<TestPipelineOptions, 'files' | 'once' | 'until' | 'crashAfter'>;

/**
 * Runs pipelines on virtual files, all in one process, which crashes and starts again when the steps say so: what they are
 * to remember is in a state folder on the same disk.
 *
 * @param longest milliseconds of real time
 */
export async function runOnFiles(
  tests: readonly PipelineTest[],
  options: Options,
  longest?: number,
): Promise<PipelineRun[]> {
  VirtualTime.requireNode();
  // What is loaded while virtual time stands still would come in another instant.
  await loadGlob();
  const machine = new VirtualMachine();
  const plan = (time: VirtualTime) => new TestProcess(tests, options, machine, time).run();
  try {
    return await VirtualTime.runCalls(machine, plan, longest);
  } finally {
    machine.shutDown();
  }
}

/** What runs until it is stopped or killed. */
interface Running {
  readonly managers: readonly Manager[];
  onEnd(): void;
}

/** The process that runs the pipelines of a test, each with a Manager of its own, and what the steps of the test do to it. */
class TestProcess {
  readonly #tests: readonly PipelineTest[];
  readonly #options: Options;
  readonly #machine: VirtualMachine;
  readonly #time: VirtualTime;
  readonly #planned: ReturnType<typeof planSteps>;
  /** When everything is stopped: virtual milliseconds. */
  readonly #limit: number;
  readonly #actions: { readonly at: number; readonly text: string }[] = [];
  #running: Running | undefined;

  constructor(tests: readonly PipelineTest[], options: Options, machine: VirtualMachine, time: VirtualTime) {
    this.#tests = tests;
    this.#options = options;
    this.#machine = machine;
    this.#time = time;
    this.#planned = planSteps(options.files ?? []);
    const last = Math.max(0, ...this.#planned.map(({ at = 0 }) => at));
    this.#limit = toMilliseconds(options.until ?? last + AFTER_LAST_STEP);
  }

  /** Starts it, and returns what tells what became of the pipelines when time has passed. */
  run(): () => PipelineRun[] {
    const time = this.#time;
    this.#machine.onCall = () => this.#called();
    for (const { at, action } of this.#planned) {
      if (at === undefined) this.#act(action);
      else time.planAnyway(at, () => this.#act(action));
    }
    time.planAnyway(this.#limit, () => this.#stop());
    time.onPassed = (at) => {
      for (const test of this.#tests) test.passed(at);
    };
    this.#start();
    return () => {
      const disk = { contents: this.#machine.contents(), calls: this.#machine.calls };
      return this.#tests.map((test) => test.runOn(this.#actions, disk));
    };
  }

  #start(): void {
    this.#machine.boot();
    for (const test of this.#tests) test.processStarted();
    const [first] = this.#tests as readonly [PipelineTest];
    const state = this.#machine.openState(first.logger);
    const { once = false } = this.#options;
    const managers = this.#tests.map((test) => test.open(once, state));
    const process: Running = { managers, onEnd: () => {} };
    this.#running = process;
    forkJoin(managers.map(({ finished$ }) => finished$)).subscribe(async () => {
      await state.close();
      if (this.#running !== process) return;
      this.#running = undefined;
      process.onEnd();
    });
    for (const [index, test] of this.#tests.entries()) test.start(managers[index] as Manager);
    if (asyncScheduler.now() < this.#limit) return;
    this.#time.planAnyway(asyncScheduler.now() + RUN_AT_LEAST, () => this.#stop());
  }

  #stop(): void {
    for (const manager of this.#running?.managers ?? []) manager.stop();
  }

  #restart(): void {
    if (this.#running === undefined) {
      this.#start();
      return;
    }
    // A little later: what the process that stops has asked for last is done before another one starts.
    this.#running.onEnd = () => this.#time.planAnyway(asyncScheduler.now(), () => this.#start());
    this.#stop();
  }

  #crash(kind: Crash): void {
    if (this.#running === undefined) return;
    this.#running = undefined;
    for (const test of this.#tests) test.processKilled();
    this.#time.forget();
    this.#machine.crash(kind);
  }

  #act(action: FileAction): void {
    const at = asyncScheduler.now();
    this.#actions.push({ at, text: actionText(action) });
    try {
      if (action.crash !== undefined) this.#crash(action.crash);
      else if (action.restart !== undefined) this.#restart();
      else changeDisk(this.#machine.disk, action);
    } catch (error) {
      const message = `files, at ${durationText(at)}, ${actionText(action)}: ${(error as Error).message}`;
      throw new MillraceError('MILLRACE_TEST_FILE', message);
    }
  }

  /** A call has changed the disk. */
  #called(): void {
    const { crashAfter } = this.#options;
    if (this.#machine.calls.length !== crashAfter?.call) return;
    const { kind = 'process' } = crashAfter;
    this.#actions.push({ at: asyncScheduler.now(), text: actionText({ crash: kind }) });
    this.#crash(kind);
    this.#time.planAnyway(asyncScheduler.now() + DOWN_FOR, () => this.#act({ restart: true }));
  }
}
