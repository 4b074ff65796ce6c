import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { openState } from '../state/open-state.ts';
import type { StateStore } from '../state/state-store.ts';
import { memoryStore } from '../state/state-store.ts';
import type { StateOptions } from './commands.ts';
import { UsageError } from './errors.ts';

/** The state of all pipelines of a process. It is kept on disk as soon as a pipeline has a collector that uses it. */
export class RunState {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  /** A pipeline that a reload restarts resumes from it. */
  readonly #memory = memoryStore();
  #store: StateStore | undefined;

  /** Without a folder, state is kept in memory. */
  constructor(folder: string | undefined, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /**
   * The store for these pipelines.
   *
   * @throws MillraceError if the folder cannot be used, another process uses it, or a pipeline needs one
   */
  async storeFor({ pipelines, collectors }: AnalyticsConfig, names: readonly string[]): Promise<StateStore> {
    const isUsed = names.some((name) =>
      pipelines[name]?.collect.some((collector) => collectors[collector]?.loaded_plugin.usesState !== false),
    );
    if (this.#store !== undefined) return this.#store;
    if (this.#folder === undefined) {
      const exact = names.find((name) => pipelines[name]?.exactly_once);
      if (exact === undefined) return this.#memory;
      throw new UsageError(
        `--no-state: pipeline ${exact} says "exactly_once: true", which requires a state folder. ` +
          'Leave out --no-state, or set exactly_once to false.',
      );
    }
    if (!isUsed) return this.#memory;
    this.#store = await openFolder(this.#folder, this.#logger, ', or none with --no-state');
    return this.#store;
  }

  /** The pipelines that have checkpoints. */
  get pipelines(): ReadonlySet<string> {
    return new Set(this.#store?.entries().map(({ pipeline }) => pipeline));
  }

  /** To be called when everything has stopped. */
  async close(): Promise<void> {
    await this.#store?.close();
  }
}

/** Opens the state folder. An error names --state-dir as a remedy, followed by `alternative`. */
export async function openFolder(folder: string, logger: Logger, alternative = ''): Promise<StateStore> {
  try {
    return await openState(folder, { logger });
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    throw new MillraceError(error.code, `${error.message} with --state-dir${alternative}`, { cause: error });
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The folder of checkpoints; undefined with `--no-state`. */
export function stateFolder(options: StateOptions, env: Env = process.env): string | undefined {
  if (options.state === false) return undefined;
  return options.stateDir === undefined ? defaultStateFolder(env) : resolve(options.stateDir);
}

/** The user's state folder. The XDG base directory specification says to ignore a relative `XDG_STATE_HOME`. */
export function defaultStateFolder(env: Env = process.env): string {
  const { XDG_STATE_HOME: base = '' } = env;
  return join(isAbsolute(base) ? base : join(homedir(), '.local', 'state'), 'millrace');
}
