import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  auditTime,
  concatMap,
  debounce,
  defer,
  distinctUntilChanged,
  EMPTY,
  merge,
  type Observable,
  skip,
  startWith,
  timer,
} from 'rxjs';
import { isGlob } from '../../operators/internal-files.ts';
import type { Admin } from '../admin/admin.ts';
import { ConfigError, problemLine } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import { Manager, type ManagerOptions } from '../engine/manager.ts';
import { type AnalyticsConfig, forwardersOf } from '../sdk/config.ts';
import type { Host, Logger } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import { changesIn, configFiles, FOR_A_RUN, selectPipelines } from './config-files.ts';
import { counted } from './format.ts';
import type { ReloadablePipelines } from './reloadable-pipelines.ts';
import type { RunState } from './run-state.ts';

interface ReloaderOptions {
  /** The configuration files as given on the command line. */
  readonly files: readonly string[];
  /** The pipelines asked for; all that are enabled if there are none. */
  readonly pipelines: readonly string[];
  readonly state: RunState;
  /** Serves metrics and health, if a configuration asks for it. */
  readonly admin: Admin;
  readonly logger: Logger;
  /** Watches pipelines, so that they can be recorded, if `admin` serves recordings. */
  readonly observer: NonNullable<ManagerOptions['observer']>;
  /** For the Managers, which get a host and a state of their own. */
  readonly manager: Omit<ManagerOptions, 'host' | 'state' | 'metrics' | 'observer'>;
}

interface Loaded {
  readonly manager: Manager;
  readonly host: Host;
  readonly names: readonly string[];
}

/** Loads the configuration of a run: at the start, and again whenever that is asked for. */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #fleet: ReloadablePipelines;
  #last: Loaded | undefined;

  constructor(fleet: ReloadablePipelines, options: ReloaderOptions) {
    this.#fleet = fleet;
    this.#options = options;
  }

  /** Starts nothing. @throws MillraceError for all that is wrong */
  async load(): Promise<Loaded> {
    const { files, pipelines, state, admin, logger, observer, manager: options } = this.#options;
    const { once = false } = options;
    const given = await configFiles(files);
    const loaded = await loadConfig(given, { once, logger, ...FOR_A_RUN });
    const { config, host: newHost, warnings } = loaded;
    for (const warning of warnings) logger.warn(problemLine(warning));
    const names = selectPipelines(config, pipelines, files);
    const last = this.#last;
    // Pipelines that keep running get the events of the last host, and so must those that are started beside them.
    const isSameHost = isDeepStrictEqual(last?.manager.config.host_config, config.host_config);
    const host = isSameHost && last !== undefined ? last.host : newHost;
    const store = await state.storeFor(config, names, given);
    await admin.open(config.admin);
    const { metrics } = admin;
    const watched = admin.records ? { observer } : {};
    const manager = new Manager(config, { ...options, ...watched, host, state: store, metrics });
    return { manager, host, names };
  }

  /** The first load: all starts. @throws MillraceError for all that is wrong */
  start({ manager, host, names }: Loaded): void {
    this.#last = { manager, host, names };
    this.#fleet.start(manager, names);
  }

  /** Logs the errors of a new configuration, and keeps the old one running then. Never fails. */
  reload(): Observable<unknown> {
    return defer(() => this.#loadAgain()).pipe(
      concatMap((loaded) => {
        if (loaded === undefined) return EMPTY;
        const changes = pipelineChanges(this.#fleet, loaded.manager.config, loaded.names);
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
  const { failed, ...others } = changes;
  const parts = Object.entries({ ...others, 'started again': failed }).flatMap(([how, names]) =>
    names.length === 0 ? [] : `${counted(names.length, 'pipeline')} ${how} (${names.join(', ')})`,
  );
  return parts.length === 0 ? 'no pipeline has changed' : parts.join(', ');
}

/** What a new configuration changes of the pipelines that run. */
export interface PipelineChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  /** Unchanged pipelines that have failed: the cause may be gone. */
  readonly failed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Compares what each running pipeline is made of, its own settings, the entries that it uses and the host's, with what
 * `next` makes of it. `names` are the pipelines that are to run from now on.
 */
function pipelineChanges(
  fleet: ReloadablePipelines,
  next: AnalyticsConfig,
  names: readonly string[],
): PipelineChanges {
  const running = fleet.running();
  const states = fleet.states();
  const isChanged = (name: string) => {
    const config = running.get(name);
    return config !== undefined && !isDeepStrictEqual(partsOf(config, name), partsOf(next, name));
  };
  return {
    added: names.filter((name) => !running.has(name)),
    changed: names.filter(isChanged),
    failed: names.filter((name) => running.has(name) && !isChanged(name) && states[name]?.state === 'failed'),
    removed: [...running.keys()].filter((name) => !names.includes(name)),
  };
}

/** With each entry its plugin: the same settings may be those of another one. */
function partsOf(config: AnalyticsConfig, name: string): unknown[] {
  const { collectors, processors, forwarders, pipelines, host_config } = config;
  const pipeline = pipelines[name];
  if (pipeline === undefined) return [];
  const { collect, process = [], delivery } = pipeline;
  const sinks = [
    ...forwardersOf(pipeline),
    ...(delivery.dead_letter === undefined ? [] : [delivery.dead_letter]),
  ];
  const entries = [
    ...collect.map((entry) => collectors[entry]),
    ...process.map((entry) => processors[entry]),
    ...sinks.map((entry) => forwarders[entry]),
  ];
  return [pipeline, host_config, ...entries.flatMap((entry) => [entry, entry?.loaded_plugin])];
}

/** Editors write a file in several steps. */
const SETTLED_MS = 100;

/**
 * Emits when the content of one of the files has changed. Folders are watched, because editors and configuration
 * management tools replace a file, or a symbolic link on its path.
 *
 * @param before the {@link digestOf} the files before they were loaded
 */
export function fileChanges(args: readonly string[], before: string): Observable<unknown> {
  return defer(() => {
    return merge(...watchedFolders(args).map(changesIn)).pipe(
      // Logs may be written to the same folder all the time, which must not delay this forever.
      auditTime(SETTLED_MS),
      startWith(undefined),
      concatMap(() => digestOf(args)),
      startWith(before),
      distinctUntilChanged(),
      skip(1),
      // `debounceTime` reads the system's clock, which may be set back meanwhile.
      debounce(() => timer(SETTLED_MS)),
    );
  });
}

/** Where files may change, or be added to a folder or a glob. */
function watchedFolders(args: readonly string[]): string[] {
  const folders = args.map((arg) => {
    const path = resolve(arg);
    if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
    let folder = dirname(path);
    while (isGlob(folder)) folder = dirname(folder);
    return folder;
  });
  return [...new Set(folders)];
}

/** Of the names and contents of the files. Those that cannot be read or found count as empty: the reload says why. */
export async function digestOf(args: readonly string[]): Promise<string> {
  const files = await configFiles(args).catch(() => []);
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`${file}\0`);
    try {
      hash.update(fs.readFileSync(file)).update('\0');
    } catch {
      hash.update('\0');
    }
  }
  return hash.digest('hex');
}
