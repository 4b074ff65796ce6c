import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ROOT, upToDateBuild } from './build.ts';
import type { CliResult } from './cli.ts';

export interface Command {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process that has the built command line loaded, and runs one command after the other. */
export class LoadedCli {
  readonly #child: ChildProcess;
  readonly #endOfOutput: string;
  readonly #output = { stdout: '', stderr: '' };
  readonly #ended: Promise<undefined>;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(child: ChildProcess, endOfOutput: string) {
    this.#child = child;
    this.#endOfOutput = endOfOutput;
    this.#ended = once(child, 'exit').then(() => undefined);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#output[name] += text;
      });
    }
  }

  static async start(): Promise<LoadedCli> {
    const folder = dirname(await upToDateBuild());
    const endOfOutput = randomUUID();
    const child = fork(join(ROOT, 'test/support/loaded-cli-process.mjs'), [folder, endOfOutput], {
      cwd: ROOT,
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const cli = new LoadedCli(child, endOfOutput);
    await cli.#answer();
    return cli;
  }

  /** Those that are asked for at the same time run one after the other. */
  run(command: Command): Promise<CliResult> {
    const result = this.#last.then(() => this.#run(command));
    this.#last = result.catch(() => {});
    return result;
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  async #run(command: Command): Promise<CliResult> {
    Object.assign(this.#output, { stdout: '', stderr: '' });
    this.#child.send(command);
    const { code } = await this.#answer();
    return { code, stdout: await this.#all('stdout'), stderr: await this.#all('stderr') };
  }

  async #answer(): Promise<{ readonly code: number }> {
    const answer = await Promise.race([once(this.#child, 'message'), this.#ended]);
    if (answer === undefined) throw new Error(`the process has ended:\n${this.#output.stderr}`);
    return answer[0];
  }

  async #all(name: 'stdout' | 'stderr'): Promise<string> {
    while (!this.#output[name].endsWith(this.#endOfOutput)) await once(this.#child[name] as Readable, 'data');
    return this.#output[name].slice(0, -this.#endOfOutput.length);
  }
}
