import type { Observable } from 'rxjs';
import { type Host, type Logger, silentLogger } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { HostEvent } from '../sdk/events.ts';
import type { ConfigProblem } from '../sdk/plugin.ts';
import { BeaconBus } from './beacon-bus.ts';
import { builtInBeacons } from './built-in-beacons.ts';
import { builtInFunctions } from './built-in-functions.ts';
import { FunctionTable, loadUserFunctions } from './functions.ts';
import { type HostSettings, readHostConfig } from './host-config.ts';
import type { HostFunction } from './host-function.ts';

interface HostOptions {
  /** Each beacon is read once, and then `events` completes. Default: false. */
  readonly once?: boolean;
  /** Told of beacons that cannot be read. Default: silent. */
  readonly logger?: Logger;
}

interface StandaloneHostOptions extends HostOptions {
  /** The folder that the modules of `host_config.functions` are relative to. */
  readonly baseDir: string;
}

/** The machine that this process runs on: its beacons are the event bus. */
class StandaloneHost implements Host {
  readonly id: string;
  readonly role: string;
  readonly #bus: BeaconBus;
  readonly #functions: FunctionTable;

  constructor(settings: HostSettings, functions: readonly HostFunction[], options: HostOptions) {
    const { id, role, beacons } = settings;
    const { once = false, logger = silentLogger } = options;
    this.id = id;
    this.role = role;
    this.#bus = new BeaconBus({ id, beacons, once, logger });
    this.#functions = new FunctionTable([...builtInFunctions, ...functions]);
  }

  events(patterns: readonly string[]): Observable<HostEvent> {
    return this.#bus.events(patterns);
  }

  /** The names that a beacon of this host can have. Patterns that name others can never match. */
  beacons(): readonly string[] {
    return [...builtInBeacons.keys()];
  }

  functions(): readonly string[] {
    return this.#functions.names();
  }

  call(fn: string, args: readonly unknown[], kwargs: Readonly<Record<string, unknown>>): Observable<unknown> {
    return this.#functions.call(fn, args, kwargs);
  }
}

/**
 * The host of a standalone process, with the beacons and the user's own functions of `host_config`. Starts
 * nothing: a beacon is read while `events` has a subscriber.
 *
 * All problems are reported together, with paths inside `host_config`. The host leaves out invalid entries.
 * A promise, because the user's modules are loaded by `import()`.
 *
 * @example
 * const { host } = await createStandaloneHost({ id: 'web-1', beacons: { loadavg: {} } }, { baseDir: '.' });
 * const { tag } = await firstValueFrom(host.events(['host/beacon/web-1/loadavg/**']));
 * tag; // 'host/beacon/web-1/loadavg/sample'
 */
export async function createStandaloneHost(
  hostConfig: Readonly<Record<string, unknown>>,
  options: StandaloneHostOptions,
): Promise<{ readonly host: Host; readonly problems: readonly ConfigProblem[] }> {
  const { settings, problems } = readHostConfig(hostConfig);
  const loaded = await loadUserFunctions(settings.functions, options.baseDir);
  return {
    host: new StandaloneHost(settings, loaded.functions, options),
    problems: [...problems, ...loaded.problems],
  };
}

/**
 * The standalone host with the built-in functions only, for programs that configure a Manager without a file.
 *
 * @throws MillraceError `MILLRACE_HOST_CONFIG` if `host_config` is wrong, or names modules, which only
 * `loadConfig` loads.
 */
export function defaultHost(hostConfig: Readonly<Record<string, unknown>>, options: HostOptions = {}): Host {
  const { settings, problems } = readHostConfig(hostConfig);
  if (problems.length > 0) {
    const lines = problems.map(({ path, message, suggestion }) => {
      const hint = suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`;
      return `host_config.${path.join('.')}: ${message}${hint}`;
    });
    throw new MillraceError('MILLRACE_HOST_CONFIG', lines.join('\n'));
  }
  const namespaces = Object.keys(settings.functions);
  if (namespaces.length > 0) {
    const message = `host_config.functions names modules (${namespaces.join(', ')}), which are loaded by loadConfig only; pass its host: new Manager(config, { host })`;
    throw new MillraceError('MILLRACE_HOST_CONFIG', message);
  }
  return new StandaloneHost(settings, [], options);
}
