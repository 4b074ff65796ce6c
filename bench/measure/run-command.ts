import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ProcessTree, type Usage } from './process-tree.ts';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The file that standard output goes to. Without: nowhere. */
  readonly stdout?: string;
}

export interface Run extends Usage {
  /** From before the start to the end, in milliseconds. */
  readonly wallMs: number;
}

const SAMPLE_MS = 20;
const POLL_MS = 5;
/** How long a daemon may be silent before it counts as stuck, in milliseconds. */
const STUCK_MS = 60_000;

/**
 * Runs a command to its end.
 *
 * @throws Error with its standard error if it fails.
 */
export async function runToEnd(command: Command): Promise<Run> {
  const started = start(command);
  const sampling = setInterval(() => started.tree.sample(), SAMPLE_MS);
  try {
    await started.ended;
  } finally {
    clearInterval(sampling);
  }
  return { wallMs: performance.now() - started.at, ...started.tree.usage };
}

/**
 * Runs a daemon, which ends by itself only on a problem, until `isDone`; then stops it. The time ends when the work
 * is done, not with the process.
 *
 * @param progress a number that changes as long as the daemon works.
 * @throws Error if it ends before, or if nothing happens for a minute.
 */
export async function runUntil(
  command: Command,
  progress: () => number,
  isDone: (progress: number) => boolean,
): Promise<Run> {
  const started = start(command);
  let hasEnded = false;
  const ended = started.ended.finally(() => {
    hasEnded = true;
  });
  ended.catch(() => {});
  try {
    let last = progress();
    let changedAt = performance.now();
    let sampledAt = 0;
    while (!isDone(last)) {
      await pause(POLL_MS);
      const now = performance.now();
      if (now - sampledAt >= SAMPLE_MS) {
        started.tree.sample();
        sampledAt = now;
      }
      const current = progress();
      if (current !== last) changedAt = now;
      last = current;
      if (hasEnded) await ended.then(() => Promise.reject(new Error(`${command.command} ended too early`)));
      if (now - changedAt > STUCK_MS) throw new Error(`${command.command} has stopped at ${current}`);
    }
    const wallMs = performance.now() - started.at;
    started.tree.sample();
    return { wallMs, ...started.tree.usage };
  } finally {
    started.child.kill('SIGTERM');
    await ended.catch(() => {});
  }
}

/** The size of a file in bytes; 0 while there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

interface Started {
  readonly at: number;
  readonly child: ChildProcess;
  readonly tree: ProcessTree;
  /** Fails if the command cannot be started, or ends with another code than 0. */
  readonly ended: Promise<void>;
}

function start({ command, args, env, stdout }: Command): Started {
  const output = stdout === undefined ? undefined : openSync(stdout, 'w');
  const at = performance.now();
  const child = spawn(command, args, {
    // Byte for byte, as an engineer in a hurry sets it: some peers are several times slower with another locale.
    env: { ...process.env, LC_ALL: 'C', ...env },
    stdio: ['ignore', output ?? 'ignore', 'pipe'],
  });
  if (output !== undefined) closeSync(output);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  // A daemon would run on for ever.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => {
      process.off('exit', kill);
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}:\n${stderr}`));
    });
  });
  return { at, child, tree: new ProcessTree(child.pid ?? 0), ended };
}
