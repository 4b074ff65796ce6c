import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { StateEntry } from '../../../src/state/journal.ts';
import { readState } from '../../../src/state/open-state.ts';
import { upToDateBuild } from '../../support/build.ts';
import { type CliProcess, type CliResult, folderWith, startProcess } from '../../support/cli.ts';
import { eventually } from '../../support/eventually.ts';
import { byForm } from './form.ts';
import { KEY_RULE, Oracle, type Places, type Verdict } from './oracle.ts';

// Longer than jest.config.ts allows: each test is many runs of a process.
jest.setTimeout(byForm({ short: 600_000, long: 30 * 60_000 }));

/** How long a condition may take on a machine that is busy, in milliseconds. After a long outage, forwarders wait up to 60 s. */
export const PATIENCE = byForm({ short: 300_000, long: 300_000 });

/** The mask of every pipeline of the suite; an entry of `processors`. */
export const MASK = `mask: { plugin: regex_mask, rules: { KEY: '${KEY_RULE}' } }`;

/** Settings of {@link fileToDisk}. */
export interface FileToDisk {
  /** Default: `in/*.log*`. */
  readonly paths?: string;
  /** More settings of the pipeline, as in `exactly_once: true`. */
  readonly pipeline?: string;
  /** Default: true. */
  readonly backfill?: boolean;
  /** More settings of the collector. */
  readonly collector?: string;
  /** The forwarder. Default: `disk` to `out/out.jsonl`. */
  readonly forwarder?: string;
  /** Seconds that a random delay of each event may take; 0: no delay. */
  readonly delay?: number;
}

/** The pipeline `main`, from files by the mask to a file. */
export function fileToDisk(settings: FileToDisk = {}): string {
  const { paths = 'in/*.log*', backfill = true, delay = 0 } = settings;
  const { forwarder = 'plugin: disk, path: out, filename: out.jsonl' } = settings;
  const more = (text?: string) => (text === undefined ? '' : `, ${text}`);
  const slow = `slow: { plugin: test, delay_range: { minimum: 0, maximum: ${delay} } }`;
  return `
collectors:
  log: { plugin: file, paths: ['${paths}'], backfill: ${backfill}${more(settings.collector)} }
processors:
  ${MASK}
  ${delay > 0 ? slow : ''}
forwarders:
  out: { ${forwarder} }
pipelines:
  main: { collect: log, process: [mask${delay > 0 ? ', slow' : ''}], forward: out${more(settings.pipeline)} }
host_config: {}
`;
}

/**
 * One configuration in a folder of its own, the processes that run it one after the other, and the oracle over all of
 * them. Outputs are in `out/`, dead letters in `dead/`, checkpoints in `state/`; all of it is removed after the test.
 */
export class Trial {
  readonly oracle: Oracle;
  readonly folder: string;
  /** More variables for the processes that are started from now on. */
  env: Readonly<Record<string, string>> = {};
  /** The command and first arguments that start them, ahead of Node. */
  launcher: readonly string[] = [];
  readonly #processes: CliProcess[] = [];

  constructor(config: string, files: Readonly<Record<string, string>> = {}, oracle = new Oracle()) {
    this.oracle = oracle;
    this.folder = folderWith({ 'p.yaml': config, ...files });
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** The text of a file; empty if there is none. */
  text(name: string): string {
    return fs.existsSync(this.path(name)) ? fs.readFileSync(this.path(name), 'utf8') : '';
  }

  /** Replaces a file. */
  write(name: string, text: string): void {
    fs.writeFileSync(this.path(name), text);
  }

  append(name: string, text: string | Buffer): void {
    fs.mkdirSync(dirname(this.path(name)), { recursive: true });
    fs.appendFileSync(this.path(name), text);
  }

  /** Appends the next lines of the oracle, in two writes that part one of them, as writers do. */
  appendLines(name: string, count: number): void {
    const text = this.oracle.lines(count);
    const at = this.oracle.between(0, text.length);
    this.append(name, text.slice(0, at));
    this.append(name, text.slice(at));
  }

  rename(from: string, to: string): void {
    fs.renameSync(this.path(from), this.path(to));
  }

  /** Any command of the built program, in the folder of the trial. */
  async start(...args: string[]): Promise<CliProcess> {
    const [command = '', ...rest] = [...this.launcher, process.execPath, await upToDateBuild(), ...args];
    const child = startProcess(command, rest, { cwd: this.folder, env: this.env });
    this.#processes.push(child);
    return child;
  }

  /** `millrace run`, as soon as it follows the files that there are. */
  async run(...args: string[]): Promise<CliProcess> {
    const child = await this.start('run', 'p.yaml', '--state-dir', 'state', ...args);
    await child.shows('stderr', /following \d+ files?/);
    return child;
  }

  /** `millrace run --once`, to its end. */
  async runOnce(...args: string[]): Promise<CliResult> {
    return (await this.start('run', 'p.yaml', '--state-dir', 'state', '--once', ...args)).ended();
  }

  /** Different lines that have come out so far. */
  get delivered(): number {
    return this.oracle.found([this.path('out')]).size;
  }

  /** Bytes in all outputs: a cheap measure of progress. */
  get outputBytes(): number {
    if (!fs.existsSync(this.path('out'))) return 0;
    const sizeOf = (name: string) =>
      fs.statSync(this.path('out', name), { throwIfNoEntry: false })?.size ?? 0;
    return fs.readdirSync(this.path('out')).reduce((sum, name) => sum + sizeOf(name), 0);
  }

  /**
   * Waits until every line that was written has come out at least once. If some may be lost, it waits until no more come, and
   * at least all others have.
   */
  async allDelivered(mayBeLost = 0): Promise<void> {
    // Some are slow on purpose: as long as lines come, they are waited for. They are counted when none has come for a
    // moment, because counting holds up the servers that run in the process of the test.
    let counted = -1;
    do {
      await this.until(() => this.outputBytes !== counted);
      do {
        counted = this.outputBytes;
        await delay(200);
      } while (this.outputBytes !== counted);
    } while (this.delivered < this.oracle.written - mayBeLost);
  }

  /** Waits until the checkpoints say that every file is read to its end: no crash undoes it. */
  async allAcknowledged(): Promise<void> {
    await this.allDelivered();
    let positions: readonly StateEntry[] = [];
    const isElsewhere = ({ key, value }: StateEntry) => {
      const { path, offset } = value as { path?: string; offset?: number };
      if (path === undefined || offset === undefined) return false;
      const stats = fs.statSync(join(this.folder, path), { throwIfNoEntry: false });
      return stats !== undefined && `${stats.dev}:${stats.ino}` === key && offset !== stats.size;
    };
    const end = performance.now() + PATIENCE;
    do {
      if (performance.now() > end) throw new Error(`not acknowledged within ${PATIENCE} ms`);
      positions = await readState(this.path('state'));
    } while (positions.length === 0 || positions.some(isElsewhere));
  }

  /** Waits for a condition, with the patience of the suite. */
  async until(condition: () => unknown): Promise<void> {
    try {
      await eventually(condition, PATIENCE);
    } catch (error) {
      const { stderr = '' } = this.#processes.at(-1) ?? {};
      const state = JSON.stringify(this.verdict());
      throw new Error(`${(error as Error).message}\n${state}\n${stderr}`, { cause: error });
    }
  }

  /** The oracle's, over all that is in the folder and all that its processes said. */
  verdict(places: Partial<Places> = {}): Verdict {
    return this.oracle.verdict({
      outputs: [this.path('out')],
      others: [this.path('dead'), this.path('state')],
      logs: Object.fromEntries(
        this.#processes.map(({ stdout, stderr }, n) => [`process ${n}`, stdout + stderr]),
      ),
      ...places,
    });
  }
}

/** Ends a process by a signal, SIGKILL if none is given, and waits for its end. */
export async function kill(child: CliProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<CliResult> {
  child.kill(signal);
  return child.ended();
}

/** What a trial has to come to, unless a test says otherwise. */
export const FLAWLESS = { lost: 0, doubled: 0, torn: 0, leaks: [] };
