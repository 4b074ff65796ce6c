import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  interval,
  last,
  merge,
  type Observable,
  ReplaySubject,
  take,
  takeWhile,
  tap,
} from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { PluginError, safeReason } from '../../src/sdk/index.ts';

export interface Command {
  /** The program, and its arguments. No shell sees them. */
  readonly command: readonly string[];
  readonly cwd?: string | undefined;
  /** What its environment has beside {@link INHERITED}. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** How a program ended: one of both is set. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a child gets of the environment of this process, which may hold secrets that are not meant for it. */
export const INHERITED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/;

/** Milliseconds that a process has to end after SIGTERM. */
const GRACE = 5000;
/** Milliseconds between two looks at whether its children have ended too. */
const LOOK = 50;

/** Process groups that have not ended: they end with this process, however it does. */
const running = new Set<number>();
const killRunning = () => {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
};

/** A program that runs, in a process group of its own, with nothing to read on its standard input. */
export class ChildProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Emits how it ended, and completes. Errors if it cannot be started. */
  readonly end$: Observable<ProcessEnd>;
  readonly #pid: number | undefined;
  /** Completes when it and its children have ended. */
  #stopped$: ReplaySubject<never> | undefined;

  /** Starts it. */
  constructor({ command, cwd, env }: Command) {
    const [program = '', ...args] = command;
    const end$ = new ReplaySubject<ProcessEnd>(1);
    this.end$ = end$.asObservable();
    const child: ChildProcessByStdio<null, Readable, Readable> = spawn(program, args, {
      cwd,
      env: { ...inherited(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.#pid = child.pid;
    if (child.pid !== undefined) track(child.pid);
    child.once('error', (cause) => {
      if (child.pid === undefined) end$.error(new PluginError(cannotStart(program, cwd, cause), { cause }));
    });
    child.once('exit', (code, signal) => {
      end$.next({ code, signal });
      end$.complete();
      // What it has started and left would hold its output open.
      this.stop().subscribe();
    });
  }

  /**
   * Sends SIGTERM to the program and to all that it has started, at once, and SIGKILL to what is left after
   * {@link GRACE}. Completes when they have ended. Their output can still be read.
   */
  stop(): Observable<never> {
    if (this.#stopped$ === undefined) {
      this.#stopped$ = new ReplaySubject<never>(1);
      const pid = this.#pid;
      (pid === undefined ? EMPTY : stopGroup(pid, this.end$)).subscribe(this.#stopped$);
    }
    return this.#stopped$;
  }
}

/** Completes when the process and its group have ended, or were killed. Zombies that nobody reaps still count as a group. */
function stopGroup(pid: number, end$: Observable<ProcessEnd>): Observable<never> {
  return defer(() => {
    if (!signalGroup(pid, 'SIGTERM')) return EMPTY;
    // A process that is halted gets the signal only when it goes on.
    signalGroup(pid, 'SIGCONT');
    const gone$ = interval(LOOK).pipe(takeWhile(() => signalGroup(pid, 0)));
    const ended$ = concat(end$, gone$).pipe(last());
    const killed$ = longTimer(GRACE).pipe(tap(() => signalGroup(pid, 'SIGKILL')));
    return merge(ended$, killed$).pipe(take(1));
  }).pipe(ignoreElements(), tap({ complete: () => untrack(pid) }));
}

/** Whether there is such a group. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function track(pid: number): void {
  if (running.size === 0) process.on('exit', killRunning);
  running.add(pid);
}

function untrack(pid: number): void {
  running.delete(pid);
  if (running.size === 0) process.off('exit', killRunning);
}

function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name)));
}

/** Node.js names the program also where its folder is missing. */
function cannotStart(program: string, cwd: string | undefined, cause: unknown): string {
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `cannot start \`${program}\`: its \`cwd\`, ${cwd}, is not a folder`;
  return `cannot start \`${program}\`: ${safeReason(cause)}`;
}

/** How a program ended, in words. */
export function endText({ code, signal }: ProcessEnd): string {
  return signal === null ? `exit code ${code}` : `the signal ${signal}`;
}
