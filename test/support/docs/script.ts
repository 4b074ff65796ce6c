import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { upToDateBuild } from '../build.ts';

export interface ScriptResult {
  readonly code: number;
  /** Standard output and standard error together, as a terminal shows them. */
  readonly output: string;
}

const TIMEOUT_MS = 450_000;

/** Makes a folder with the command `millrace`. A shell function would not do: `timeout millrace` runs a file. */
async function commandFolder(cwd: string): Promise<string> {
  const folder = join(cwd, '.bin');
  const script = `#!/bin/sh\nexec '${process.execPath}' '${await upToDateBuild()}' "$@"\n`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'millrace'), script, { mode: 0o755 });
  return folder;
}

/**
 * Runs a shell script, in which `millrace` and `npx millrace` are the built command line, and `kubectl` prints the log
 * of an example instead of asking a cluster.
 */
export async function runScript(
  script: string,
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<ScriptResult> {
  const prelude = [
    'exec 2>&1',
    `PATH='${await commandFolder(cwd)}':"$PATH"`,
    'npx() { if [ "$1" = millrace ]; then shift; millrace "$@"; else command npx "$@"; fi; }',
    'kubectl() { cat examples/data/app.log; }',
    'set -eo pipefail',
  ];
  // Checkpoints belong to the page, never to the user.
  const XDG_STATE_HOME = join(cwd, '.state');
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME, ...variables };
  // A process group of its own: what a script leaves running is ended with it.
  const child = spawn('bash', ['-c', [...prelude, script].join('\n')], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const pid = child.pid as number;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill(-pid, 'SIGKILL');
  }, TIMEOUT_MS);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  if (isLate) throw new Error(`did not end within ${TIMEOUT_MS / 1000} s:\n${script}\n${output}`);
  return { code: code as number, output };
}
