import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach } from '@jest/globals';
import { ROOT, upToDateBuild } from './build.ts';
import { LoadedCli } from './loaded-cli.ts';

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface CliResult {
  /** The exit code, or 128 + the signal's number as shells count. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process under test. Killed at the end of the test if it still runs. */
export class CliProcess {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<CliResult>;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.#ended = once(child, 'close').then(([code]) => ({
      code: code as number,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
    running.add(child);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends a signal again and again until the process has ended. */
  async killUntilEnded(signal: NodeJS.Signals): Promise<CliResult> {
    const again = setInterval(() => this.kill(signal), 20);
    return this.#ended.finally(() => clearInterval(again));
  }

  ended(): Promise<CliResult> {
    return this.#ended;
  }

  /**
   * Resolves when the process has ended, or has slept through a quarter of a second without using the processor: what it
   * had to do is done. A process that waits for the processor on a busy machine does not sleep.
   */
  async isIdle(): Promise<void> {
    const look = () => {
      const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8');
      const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return { state, used: fields.slice(10, 12).join() };
    };
    for (let before = ''; this.child.exitCode === null; ) {
      const { state, used } = look();
      if (state === 'S' && used === before) return;
      before = used;
      await delay(250);
    }
  }

  /** Waits until a stream shows what is looked for; fails at once if the process ends before it does. */
  async shows(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<void> {
    const over = this.#ended.then(() => true);
    while (!pattern.test(this[stream])) {
      const next = new Promise<boolean>((resolve) => {
        this.child[stream]?.once('data', () => resolve(false));
      });
      if ((await Promise.race([next, over])) && !pattern.test(this[stream])) {
        throw new Error(`ended without ${pattern} on ${stream}:\n${this.stdout}\n${this.stderr}`);
      }
    }
  }
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();
afterEach(() => {
  for (const child of running) if (child.exitCode === null) child.kill('SIGKILL');
  running.clear();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
});

/** A folder of its own for one test, with these files in it. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
  folders.add(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Starts the built command line. */
export async function startCli(args: readonly string[], options: CliOptions = {}): Promise<CliProcess> {
  return startProcess(process.execPath, [await upToDateBuild(), ...args], options);
}

/** Runs the built command line to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return (await startCli(args, options)).ended();
}

/**
 * Runs the built command line to its end, in a process that the tests of a file share, since most of the time that a
 * process of its own takes is spent on loading. Not for what is about the process: signals, standard input, terminals,
 * crashes, memory, and plugins that leave something running. Nor for what has to outlive the process: a test of the state
 * folder has one restart with processes of its own. Modules stay loaded, so not for files of plugins that change between
 * runs either.
 */
export async function runCommand(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const command = { args, cwd: options.cwd ?? ROOT, env: environment(options) };
  loadedCli ??= LoadedCli.start();
  const cli = await loadedCli;
  return cli.run(command);
}

let loadedCli: Promise<LoadedCli> | undefined;
afterAll(async () => (await loadedCli)?.end());

/** Runs a shell script to its end. In it, `millrace` is the built command line. */
export async function runShell(script: string, options: CliOptions = {}): Promise<CliResult> {
  const millrace = `millrace() { '${process.execPath}' '${await upToDateBuild()}' "$@"; }`;
  return startProcess('bash', ['-c', `${millrace}\n${script}`], options).ended();
}

/** Any other process, under the same conditions: no colours, and an environment that the test decides. */
export function startProcess(command: string, args: readonly string[], options: CliOptions = {}): CliProcess {
  const env = environment(options);
  return new CliProcess(
    spawn(command, args, { cwd: options.cwd ?? ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}

/** Each has checkpoints of its own, and none those of the user. */
function environment({ env }: CliOptions): Record<string, string | undefined> {
  return { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: folderWith(), ...env };
}
