import { asyncScheduler } from 'rxjs';
import { z } from 'zod';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager, type ManagerOptions } from '../../src/engine/manager.ts';
import type { Host, Logger, PipelineRunContext } from '../../src/sdk/context.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import type { CollectPlugin, ForwardPlugin, ProcessPlugin } from '../../src/sdk/plugin.ts';
import { marbles } from './marbles.ts';
import { parseNow } from './parse-now.ts';

type Args = { ctx: PipelineRunContext; event: CollectedEvent };
type CollectFn = (args: { ctx: PipelineRunContext }) => unknown;
type EventFn = (args: Args) => unknown;

export interface TestPlugins {
  readonly collect: Readonly<Record<string, CollectFn | CollectPlugin>>;
  readonly process?: Readonly<Record<string, EventFn | ProcessPlugin>>;
  readonly forward: Readonly<Record<string, EventFn | ForwardPlugin>>;
  /** Settings of the pipeline `main`, which has all of the above. */
  readonly pipeline?: Readonly<Record<string, unknown>>;
  readonly options?: ManagerOptions;
}

/** A host without events and functions. */
export const bareHost: Host = {
  id: 'test-host',
  role: 'test',
  events: () => {
    throw new Error('this host has no events');
  },
  functions: () => ['test.ping'],
  call: () => [true],
};

const anyConfig = () => z.looseObject({ plugin: z.string() });

/** A manager of one pipeline, `main`, whose plugins are functions of the test. */
export function testManager({
  collect,
  process = {},
  forward,
  pipeline = {},
  options = {},
}: TestPlugins): Manager {
  const tables = { collect, process, forward };
  const names: ['collect' | 'process' | 'forward', string][] = [];
  for (const kind of ['collect', 'process', 'forward'] as const) {
    for (const [name, given] of Object.entries(tables[kind])) {
      const plugin = typeof given === 'function' ? { get_config_schema: anyConfig, [kind]: given } : given;
      registerPlugin(kind, `my_${name}`, plugin as never);
      names.push([kind, `my_${name}`]);
    }
  }
  const entries = (table: object) =>
    Object.fromEntries(Object.keys(table).map((name) => [name, { plugin: `my_${name}` }]));
  try {
    const config = parseNow({
      collectors: entries(collect),
      processors: entries(process),
      forwarders: entries(forward),
      pipelines: {
        main: {
          collect: Object.keys(collect),
          process: Object.keys(process),
          forward: Object.keys(forward),
          restart: false,
          ...pipeline,
        },
      },
      host_config: {},
    });
    return new Manager(config, { host: bareHost, ...options });
  } finally {
    for (const [kind, name] of names) unregisterPlugin(kind, name);
  }
}

/** A logger that keeps what it is told. */
export function recordingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const log = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  return { lines, error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug') };
}

/** Runs a manager of `main` in virtual time; its states as `time state`. */
export function states(plugins: TestPlugins, during: (manager: Manager) => void = () => {}) {
  const seen: string[] = [];
  const logger = recordingLogger();
  let manager: Manager | undefined;
  marbles(({ flush }) => {
    manager = testManager({ ...plugins, options: { logger, random: () => 0.5, ...plugins.options } });
    manager.states$.subscribe(({ state }) => seen.push(`${asyncScheduler.now()} ${state}`));
    during(manager);
    manager.start();
    flush();
  });
  return { seen, logger, manager: manager as Manager };
}
