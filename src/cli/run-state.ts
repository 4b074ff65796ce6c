import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import { openState } from '../state/open-state.ts';
import type { StateStore } from '../state/state-store.ts';
import { UsageError } from './exit-code.ts';
import { memoryStore } from './memory-store.ts';

/** What the pipelines of one process remember: on disk from the first pipeline on whose collectors use it. */
export class RunState {
  readonly #folder: string | undefined;
  readonly #logger: Logger;
  readonly #memory = memoryStore();
  #store: StateStore | undefined;

  /** Without a folder, nothing outlives the process. */
  constructor(folder: string | undefined, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /**
   * The store for these pipelines.
   *
   * @throws MillraceError if its folder cannot be used, another process has it, or a pipeline cannot do without it
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
        `--no-state: pipeline ${exact} says "exactly_once: true", which wants a state folder. ` +
          'Leave out --no-state, or set exactly_once to false.',
      );
    }
    if (!isUsed) return this.#memory;
    this.#store = await openFolder(this.#folder, this.#logger, ', or none with --no-state');
    return this.#store;
  }

  /** To be called when everything has stopped. */
  async close(): Promise<void> {
    await this.#store?.close();
  }
}

/** {@link openState}, whose refusal names the option that helps; `alternative` adds what else does. */
export async function openFolder(folder: string, logger: Logger, alternative = ''): Promise<StateStore> {
  try {
    return await openState(folder, { logger });
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    throw new MillraceError(error.code, `${error.message} with --state-dir${alternative}`, { cause: error });
  }
}
