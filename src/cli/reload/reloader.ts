import { isDeepStrictEqual } from 'node:util';
import { concatMap, defer, EMPTY, type Observable } from 'rxjs';
import { ConfigError, problemLine } from '../../config/config-error.ts';
import { loadConfig } from '../../config/load-config.ts';
import { Manager, type ManagerOptions } from '../../engine/manager.ts';
import type { Host, Logger } from '../../sdk/context.ts';
import { safeReason } from '../../sdk/errors.ts';
import { configFiles } from '../config-files.ts';
import { counted } from '../format.ts';
import type { RunState } from '../run-state.ts';
import { selectPipelines } from '../select-pipelines.ts';
import { type PipelineChanges, pipelineChanges } from './changed-pipelines.ts';
import type { Fleet } from './fleet.ts';

export interface ReloaderOptions {
  /** As they stand on the command line. */
  readonly files: readonly string[];
  /** The pipelines asked for; all that are enabled if there are none. */
  readonly pipelines: readonly string[];
  readonly state: RunState;
  readonly logger: Logger;
  /** For the Managers, which get a host and a state of their own. */
  readonly manager: Omit<ManagerOptions, 'host' | 'state'>;
}

interface Loaded {
  readonly manager: Manager;
  readonly host: Host;
  readonly names: readonly string[];
}

/** Loads the configuration of a run: at the start, and again whenever that is asked for. */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #fleet: Fleet;
  #last: Loaded | undefined;

  constructor(fleet: Fleet, options: ReloaderOptions) {
    this.#fleet = fleet;
    this.#options = options;
  }

  /** Starts nothing. @throws MillraceError for all that is wrong */
  async load(): Promise<Loaded> {
    const { files, pipelines, state, logger, manager: options } = this.#options;
    const { once = false } = options;
    const loaded = await loadConfig(await configFiles(files), { once, logger, ignoreTests: true });
    const { config, host: newHost, warnings } = loaded;
    for (const warning of warnings) logger.warn(problemLine(warning));
    const names = selectPipelines(config, pipelines, files);
    const last = this.#last;
    // The bus of a host is the pipelines' that run on: those that join them want its events as well.
    const isSameHost = isDeepStrictEqual(last?.manager.config.host_config, config.host_config);
    const host = isSameHost && last !== undefined ? last.host : newHost;
    const store = await state.storeFor(config, names);
    return { manager: new Manager(config, { ...options, host, state: store }), host, names };
  }

  /** The first load: all starts. @throws MillraceError for all that is wrong */
  start({ manager, host, names }: Loaded): void {
    this.#last = { manager, host, names };
    this.#fleet.start(manager, names);
  }

  /** What is wrong with the new configuration is logged, and everything runs on with the old one. Never fails. */
  reload(): Observable<unknown> {
    return defer(() => this.#loadAgain()).pipe(
      concatMap((loaded) => {
        if (loaded === undefined) return EMPTY;
        const changes = pipelineChanges(this.#fleet.running(), loaded.manager.config, loaded.names);
        this.#options.logger.info(`configuration reloaded: ${changesText(changes)}`);
        if (Object.values(changes).every((names) => names.length === 0)) return EMPTY;
        this.#last = loaded;
        return this.#fleet.change(loaded.manager, changes);
      }),
    );
  }

  async #loadAgain(): Promise<Loaded | undefined> {
    try {
      return await this.load();
    } catch (error) {
      const { logger } = this.#options;
      const problems =
        error instanceof ConfigError ? error.problems.map((problem) => problemLine(problem)) : [];
      const [first = safeReason(error), ...others] = problems;
      logger.error(`the new configuration was refused, all pipelines run on with the old one: ${first}`);
      for (const other of others) logger.error(other);
      return undefined;
    }
  }
}

function changesText(changes: PipelineChanges): string {
  const parts = Object.entries(changes).flatMap(([how, names]: [string, readonly string[]]) =>
    names.length === 0 ? [] : `${counted(names.length, 'pipeline')} ${how} (${names.join(', ')})`,
  );
  return parts.length === 0 ? 'no pipeline has changed' : parts.join(', ');
}
