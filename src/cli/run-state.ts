import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isoNow } from '../../operators/internal.ts';
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
   * The store for these pipelines of the configuration in `files`. Says so if another configuration has saved what they
   * resume from.
   *
   * @throws MillraceError if the folder cannot be used, another process uses it, or a pipeline needs one
   */
  async storeFor(
    { pipelines, collectors }: AnalyticsConfig,
    names: readonly string[],
    files: readonly string[],
  ): Promise<StateStore> {
    const users = names.filter((name) =>
      pipelines[name]?.collect.some(
        (collector) => collectors[collector]?.loaded_plugin.traits?.usesState !== false,
      ),
    );
    if (this.#store !== undefined) {
      this.#claim(this.#store, users, files);
      return this.#store;
    }
    if (this.#folder === undefined) {
      const exact = names.find((name) => pipelines[name]?.exactly_once);
      if (exact === undefined) return this.#memory;
      throw new UsageError(
        `--no-state: pipeline ${exact} says "exactly_once: true", which requires a state folder. ` +
          'Leave out --no-state, or set exactly_once to false.',
      );
    }
    if (users.length === 0) return this.#memory;
    this.#store = await openFolder(this.#folder, this.#logger, ', or none with --no-state');
    this.#claim(this.#store, users, files);
    return this.#store;
  }

  /** The pipelines that have checkpoints. */
  get pipelines(): ReadonlySet<string> {
    return this.#store === undefined ? new Set() : pipelinesWithCheckpoints(this.#store);
  }

  /** Notes which configuration the checkpoints of these pipelines are from. */
  #claim(store: StateStore, names: readonly string[], files: readonly string[]): void {
    const resumed = pipelinesWithCheckpoints(store);
    const paths = files.map((file) => resolve(file));
    for (const name of names) {
      const state = store.of(name, OWNER.scope);
      const owner = state.get(OWNER.key) as Owner | undefined;
      const isOwn = owner === undefined || owner.files.some((file) => paths.includes(file));
      if (!isOwn && resumed.has(name)) {
        this.#logger.warn(
          `${name}: resuming from checkpoints that ${owner.files.join(', ')} saved in a run of ${owner.since}, under the ` +
            'same name of a pipeline: what that has read of the same files is not read again. If it is another ' +
            'configuration, give this one another name of the pipeline, or another folder with --state-dir',
        );
      }
      if (owner === undefined || !isDeepStrictEqual(owner.files, paths)) {
        state.set(OWNER.key, { files: paths, since: isoNow() } satisfies Owner);
      }
    }
  }

  /** To be called when everything has stopped. */
  async close(): Promise<void> {
    await this.#store?.close();
  }
}

/** Where a pipeline's state has its configuration, beside what its collectors remember. */
const OWNER = { scope: 'configuration', key: 'saved_by' } as const;

/** The configuration that the checkpoints of a pipeline are from: JSON. */
type Owner = {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** When it was first run with these checkpoints: ISO 8601 UTC. */
  readonly since: string;
};

function pipelinesWithCheckpoints(store: StateStore): Set<string> {
  const checkpoints = store.entries().filter(({ collector }) => collector !== OWNER.scope);
  return new Set(checkpoints.map(({ pipeline }) => pipeline));
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
