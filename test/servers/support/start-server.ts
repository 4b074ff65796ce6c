import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe } from '@jest/globals';

/** How long a server may take to start on a busy machine, in milliseconds. */
const PATIENCE = 300_000;
/** How long it may take to stop before it is killed. */
const STOP_PATIENCE = 60_000;

/** The servers that `.ci/install-servers` builds. */
export const SERVERS_FOLDER =
  process.env.MILLRACE_TEST_SERVERS_DIR ?? join(homedir(), '.cache', 'millrace-test-servers');

/** A server that runs for the tests of a file, and is stopped after them. */
export interface Server {
  readonly child: ChildProcess;
  /** What it has written to standard output and standard error. */
  output(): string;
  /** Sends a signal, SIGTERM by default, and waits for the end. A server that does not end is killed. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const servers = new Set<Server>();
const folders = new Set<string>();
afterAll(async () => {
  await stopServers();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
});

/** A folder for the data of a server. It is removed after the tests of the file, when no server runs any more. */
export function serverFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`));
  folders.add(folder);
  return folder;
}

/** Stops all servers that run. After the tests of a file, that is done in any case. */
export async function stopServers(signal?: NodeJS.Signals): Promise<void> {
  await Promise.all([...servers].map((server) => server.stop(signal)));
}

/** The path of a program in `PATH`, in the folders of system programs or among the servers that were built for tests. */
export function programPath(name: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...['/usr/sbin', '/usr/local/sbin', '/lib/systemd', join(SERVERS_FOLDER, 'bin')],
  ];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The class path of a server in Java that `.ci/install-servers` has put together; undefined if there is none. */
export function classPath(name: string): string | undefined {
  const file = join(SERVERS_FOLDER, name, 'cp.txt');
  if (programPath('java') === undefined || !existsSync(file)) return undefined;
  const jars = readFileSync(file, 'utf8').trim();
  return jars.split(delimiter).every((jar) => existsSync(jar)) ? jars : undefined;
}

/**
 * `describe` for tests that need programs. Without them, the tests are skipped, and their names say what is missing, so
 * that the summary of `.ci/run` shows it.
 *
 * @example
 * skipWithout('nginx', 'openssl')('http behind nginx', () => { … });
 */
export function skipWithout(...programs: readonly string[]): (name: string, tests: () => void) => void {
  const isMissing = (name: string) => programPath(name) === undefined && classPath(name) === undefined;
  const missing = programs.filter(isMissing);
  if (missing.length === 0) return (name, tests) => describe(name, tests);
  return (name, tests) =>
    describe.skip(`${name} (needs ${missing.join(' and ')}, which is not installed)`, tests);
}

/** Whether a server is ready: its output matches, or the function returns true or a promise of it. It must not throw. */
export type Ready = RegExp | (() => boolean | Promise<boolean>);

/**
 * Starts a server and waits until it is ready. Fails with its output if it ends before that.
 *
 * @param program its name, as it is found in `PATH` or a folder of system programs.
 */
export async function startServer(
  program: string,
  args: readonly string[],
  ready: Ready,
  { cwd, env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Server> {
  const path = programPath(program) ?? program;
  const child = spawn(path, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  let hasEnded = false;
  const ended = Promise.race([once(child, 'close'), once(child, 'error')]).then(() => {
    hasEnded = true;
    servers.delete(server);
  });
  const server: Server = {
    child,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE);
      child.kill(signal);
      await ended;
      clearTimeout(timer);
    },
  };
  servers.add(server);
  const isReady = async () => (ready instanceof RegExp ? ready.test(output) : await ready());
  const end = performance.now() + PATIENCE;
  while (!(await isReady())) {
    if (hasEnded) throw new Error(`${program} ended before it was ready:\n${output}`);
    if (performance.now() > end) {
      await server.stop('SIGKILL');
      throw new Error(`${program} was not ready within ${PATIENCE} ms:\n${output}`);
    }
    await delay(20);
  }
  return server;
}

/** A port of the loopback interface that nothing listens to now. Prefer port 0 where a server can say what it got. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

/** Below the ports that Linux gives to clients: one of these may take the port of a server that is started again. */
const FIRST_PORT = 12_000;
const PORTS = 20_000;
