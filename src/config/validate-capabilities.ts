import { batchingOf } from '../sdk/batching.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import { forwardersOf, type PipelineConfig } from '../sdk/config.ts';
import { moduleUrlOf } from '../sdk/import-module.ts';
import type {
  CollectPlugin,
  ConfigProblem,
  ForwardPlugin,
  PluginKind,
  ProcessPlugin,
} from '../sdk/plugin.ts';
import { secretsIn } from '../sdk/secret.ts';
import type { ValidEntry } from './build-config.ts';
import { isBuiltinPlugin } from './registry.ts';
import { namesIn } from './validate-pipelines.ts';

/** The entries of each kind that passed their schemas. */
export type ValidEntries = Readonly<Record<PluginKind, ReadonlyMap<string, ValidEntry>>>;

type Mapping = Readonly<Record<string, unknown>>;

/**
 * Checks what `exactly_once` requires: collectors that resume exactly, and one output file that can be cut back and that
 * nothing else writes to, in the order of collection. Values of a wrong type are left to the schemas.
 */
export function validateExactlyOnce(pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || pipeline.exactly_once !== true) return [];
    const path: Path = ['pipelines', name];
    return [
      ...checkCollectors(pipeline, entries, path),
      ...checkForwarder(pipeline, entries, path),
      ...checkJoining(pipeline, entries, path),
      ...checkAttempts(pipeline, entries, path),
      ...checkOrder(pipeline, path),
      ...checkSharing(name, pipelines, entries),
    ];
  });
}

function checkCollectors(pipeline: Mapping, entries: ValidEntries, path: Path): ConfigProblem[] {
  return namesIn(pipeline.collect).flatMap(({ name, at }) => {
    const entry = entries.collect.get(name);
    if (entry === undefined || (entry.plugin as CollectPlugin).resumes === true) return [];
    const message = `\`${name}\` is a \`${entry.data.plugin}\` collector, which cannot resume where a crash cut the output; \`exactly_once\` requires one that can, such as \`file\``;
    return [{ path: [...path, 'collect', ...at], message }];
  });
}

function checkForwarder(pipeline: Mapping, entries: ValidEntries, path: Path): ConfigProblem[] {
  const forwarders = namesIn(pipeline.forward);
  if (forwarders.length > 1) {
    const message = `found ${forwarders.length} forwarders; \`exactly_once\` requires one: what is delivered is cut in one place`;
    return [{ path: [...path, 'forward'], message }];
  }
  return forwarders.flatMap(({ name, at }) => {
    const entry = entries.forward.get(name);
    if (entry === undefined || exactFileOf(entry) !== undefined) return [];
    if ((entry.plugin as ForwardPlugin).deduplicates === true) return [];
    const message = `the output of \`${name}\`, a \`${entry.data.plugin}\` forwarder, cannot be cut back after a crash; \`exactly_once\` requires one that can, such as \`disk\` with \`filename\`, or one that stores nothing twice, such as \`nats\``;
    return [{ path: [...path, 'forward', ...at], message }];
  });
}

/** What is delivered of an event could be cut between its lines, of which some are read again and others are not. */
function checkJoining(pipeline: Mapping, entries: ValidEntries, path: Path): ConfigProblem[] {
  return namesIn(pipeline.process).flatMap(({ name, at }) => {
    const entry = entries.process.get(name);
    if ((entry?.plugin as ProcessPlugin | undefined)?.joinLines === undefined) return [];
    const message = `\`${name}\`, a \`${entry?.data.plugin}\` processor, joins lines; \`exactly_once\` requires that each event comes from one line: after a crash, the lines of one could be read in part`;
    return [{ path: [...path, 'process', ...at], message }];
  });
}

/** The halves of a call that failed would be sent under ids that nothing has noted, and so twice after a crash. */
function checkAttempts(pipeline: Mapping, entries: ValidEntries, path: Path): ConfigProblem[] {
  const attempts = isMapping(pipeline.delivery) ? pipeline.delivery.attempts : undefined;
  if (typeof attempts !== 'number' || attempts <= 1) return [];
  return namesIn(pipeline.forward).flatMap(({ name }) => {
    const entry = entries.forward.get(name);
    if ((entry?.plugin as ForwardPlugin | undefined)?.deduplicates !== true) return [];
    const message = `found ${attempts}; with \`${name}\`, a \`${entry?.data.plugin}\` forwarder, \`exactly_once\` requires 1 or no limit: after more attempts, a call would be sent in halves, and these twice after a crash`;
    return [{ path: [...path, 'delivery', 'attempts'], message }];
  });
}

function checkOrder(pipeline: Mapping, path: Path): ConfigProblem[] {
  if (pipeline.ordered !== false) return [];
  const message =
    'found false; `exactly_once` requires true: in another order the output cannot be cut in one place';
  return [{ path: [...path, 'ordered'], message }];
}

/** Lines of others behind the last commit would be cut off after a crash. */
function checkSharing(own: string, pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  const output = forwardersIn(pipelines[own])
    .map((name) => exactFileOf(entries.forward.get(name)))
    .find((found) => found !== undefined);
  if (output === undefined) return [];
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    const others =
      name === own ? deadLettersOf(pipeline) : [...forwardersIn(pipeline), ...deadLettersOf(pipeline)];
    if (!others.some((other) => exactFileOf(entries.forward.get(other)) === output)) return [];
    const who = name === own ? 'its own dead letter' : `pipeline \`${name}\``;
    const message = `${output} is also written to by ${who}; \`exactly_once\` requires a file of its own: what others write would be cut off after a crash`;
    return [{ path: ['pipelines', own, 'forward'], message }];
  });
}

function forwardersIn(pipeline: unknown): string[] {
  return isMapping(pipeline) ? namesIn(pipeline.forward).map(({ name }) => name) : [];
}

function deadLettersOf(pipeline: unknown): string[] {
  const delivery = isMapping(pipeline) ? pipeline.delivery : undefined;
  return isMapping(delivery) ? namesIn(delivery.dead_letter).map(({ name }) => name) : [];
}

function exactFileOf(entry: ValidEntry | undefined): string | undefined {
  const plugin = entry?.plugin as ForwardPlugin | undefined;
  return plugin?.exactFile?.({ config: entry?.data as never });
}

/** Refuses a processor that joins lines where those before it may pass on lines of a file in another order. */
export function validateJoining(pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([pipeline, settings]) => {
    if (!isMapping(settings) || settings.ordered !== false) return [];
    return namesIn(settings.process)
      .slice(1)
      .flatMap(({ name, at }) => {
        const entry = entries.process.get(name);
        if ((entry?.plugin as ProcessPlugin | undefined)?.joinLines === undefined) return [];
        const message = `\`${name}\`, a \`${entry?.data.plugin}\` processor, joins lines; behind another processor, that requires \`ordered: true\`: in another order, lines of different events would be joined`;
        return [{ path: ['pipelines', pipeline, 'process', ...at], message }];
      });
  });
}

/**
 * Checks what `workers` requires: lines to hand on, and processors that can run in worker threads. Values of a wrong type
 * are left to the schemas.
 */
export function validateWorkers(
  pipelines: Readonly<Record<string, unknown>>,
  entries: ValidEntries,
): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || typeof pipeline.workers !== 'number' || pipeline.workers <= 1) return [];
    const path: Path = ['pipelines', name];
    return [
      ...checkLineCollectors(pipeline.collect, entries, path),
      ...checkProcessors(pipeline.process, entries, path),
    ];
  });
}

function checkLineCollectors(collect: unknown, entries: ValidEntries, path: Path): ConfigProblem[] {
  const collectors = namesIn(collect).map(({ name }) => entries.collect.get(name));
  const mayEmitLines = (entry: ValidEntry | undefined) =>
    entry === undefined || (entry.plugin as CollectPlugin).emitsLines === true;
  if (collectors.length === 0 || collectors.some(mayEmitLines)) return [];
  const message =
    'no collector here emits lines; `workers` requires one that does, such as `file`: other events stay in the main thread';
  return [{ path: [...path, 'workers'], message }];
}

function checkProcessors(process: unknown, entries: ValidEntries, path: Path): ConfigProblem[] {
  const processors = namesIn(process);
  if (processors.length === 0 && (process === undefined || Array.isArray(process))) {
    const message =
      'there is no processor here; `workers` requires one: otherwise workers have nothing to do';
    return [{ path: [...path, 'workers'], message }];
  }
  return processors.flatMap(({ name, at }) => {
    const entry = entries.process.get(name);
    if (entry === undefined) return [];
    const problem = problemOf(entry.plugin as ProcessPlugin, entry.data as never);
    if (problem === undefined) return [];
    const message = `\`${name}\`, a \`${entry.data.plugin}\` processor, ${problem}`;
    return [{ path: [...path, 'process', ...at], message }];
  });
}

function problemOf(plugin: ProcessPlugin, config: never): string | undefined {
  if (plugin.runsInWorkers !== true) {
    return 'cannot run in a worker, which `workers` requires: it does not declare `runsInWorkers`';
  }
  const need = plugin.needsOrder?.({ config });
  if (need !== undefined) {
    const { field, instead } = typeof need === 'string' ? { field: need, instead: 'turn that off' } : need;
    return `cannot run in a worker with \`${field}\`, which needs all lines of a file in their order; remove \`workers\`, or ${instead}`;
  }
  if (secretsIn(config).length > 0) {
    return 'has a secret among its settings, which stays in the main thread; remove `workers`';
  }
  if (isBuiltinPlugin('process', plugin) || moduleUrlOf(plugin) !== undefined) return undefined;
  return 'was registered by the program, and a worker cannot load it; `workers` requires a module of its own';
}

/** `max_in_flight` of a pipeline that does not set it: events. */
const EVENTS_IN_FLIGHT = 1000;
/**
 * The same where lines need not become events. Blocks of some thousand lines take two thirds of the processor time of
 * smaller ones, and two of them are needed to mask one while the other is written.
 */
const LINES_IN_FLIGHT = 10_000;

/** `max_in_flight` of a pipeline that does not set it. */
export function defaultInFlight(
  pipeline: Omit<PipelineConfig, 'max_in_flight'>,
  { collect, process, forward }: ValidEntries,
): number {
  const { workers, exactly_once } = pipeline;
  const areLines =
    !exactly_once &&
    pipeline.collect.every((name) => (collect.get(name)?.plugin as CollectPlugin | undefined)?.emitsLines) &&
    (pipeline.process ?? []).every(
      (name) => (process.get(name)?.plugin as ProcessPlugin | undefined)?.mapLines,
    ) &&
    forwardersOf(pipeline).every(
      (name) => (forward.get(name)?.plugin as ForwardPlugin | undefined)?.forwardJsonLines,
    );
  return areLines || workers > 1 ? LINES_IN_FLIGHT : EVENTS_IN_FLIGHT;
}

/** Warns of batches that a pipeline never fills, because fewer events are in flight. */
export function validateBatching(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { forward }: ValidEntries,
): ConfigProblem[] {
  return [...pipelines].flatMap(([name, pipeline]) =>
    forwardersOf(pipeline).flatMap((forwarder): ConfigProblem[] => {
      const batching = batchingOf(forward.get(forwarder)?.data ?? {});
      if (batching === undefined) return [];
      const { events, concurrency } = batching;
      const wanted = events * concurrency;
      // Each worker adds as many.
      if (wanted <= pipeline.workers * pipeline.max_in_flight) return [];
      const calls = concurrency === 1 ? '' : `${concurrency} batches of `;
      const message =
        `${calls}${events} events of \`${forwarder}\` do not fit into \`max_in_flight\`, which is ` +
        `${pipeline.max_in_flight}: smaller batches leave when that many are in flight; ` +
        `set \`max_in_flight: ${wanted}\` or more, or a smaller \`batch.events\``;
      return [{ path: ['pipelines', name, 'forward'], severity: 'warning', message }];
    }),
  );
}

/**
 * Warns of a pipeline that takes events of a collector which another pipeline masks, and delivers them without some of
 * those masks; and of one without any mask that delivers lines to a forwarder to which another delivers masked lines. Two
 * pipelines of which each has a mask of its own are taken to be intended. Only enabled pipelines count, and forwarders that
 * discard events do not.
 */
export function validateMaskedRoutes(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { collect, process, forward }: ValidEntries,
): ConfigProblem[] {
  const emitsLines = (entry: string) =>
    (collect.get(entry)?.plugin as CollectPlugin | undefined)?.emitsLines === true;
  const masks = (entry: string) => (process.get(entry)?.plugin as ProcessPlugin | undefined)?.masks === true;
  const delivers = (entry: string) =>
    (forward.get(entry)?.plugin as ForwardPlugin | undefined)?.discards !== true;
  const routes = [...pipelines]
    .filter(([, { enabled }]) => enabled)
    .map(([name, pipeline]) => ({
      name,
      collect: pipeline.collect,
      masks: new Set(pipeline.process?.filter(masks)),
      forwarders: forwardersOf(pipeline).filter(delivers),
    }));
  return routes.flatMap((route) => {
    const aroundMasks = route.collect.flatMap((collector): ConfigProblem[] => {
      if (route.forwarders.length === 0) return [];
      const masksMore = (other: typeof route) =>
        other.collect.includes(collector) &&
        other.masks.size > route.masks.size &&
        [...route.masks].every((mask) => other.masks.has(mask));
      const masked = routes.filter(masksMore).sort((a, b) => b.masks.size - a.masks.size)[0];
      if (masked === undefined) return [];
      const missing = listOf([...masked.masks].filter((mask) => !route.masks.has(mask)));
      const message =
        `events of \`${collector}\` reach ${listOf(route.forwarders)} without ${missing}, which pipeline ` +
        `\`${masked.name}\` applies to them: secrets that are masked there are delivered here; add ${missing} to ` +
        `\`process\`, or, if this is intended, give \`${route.name}\` a collector entry of its own`;
      return [{ path: ['pipelines', route.name, 'collect'], severity: 'warning', message }];
    });
    const lines = route.collect.filter(emitsLines);
    if (aroundMasks.length > 0 || route.masks.size > 0 || lines.length === 0) return aroundMasks;
    return route.forwarders.flatMap((forwarder): ConfigProblem[] => {
      const masked = routes.find(
        (other) =>
          other.masks.size > 0 && other.forwarders.includes(forwarder) && other.collect.some(emitsLines),
      );
      if (masked === undefined) return [];
      const message =
        `lines of ${listOf(lines)} reach \`${forwarder}\` without a mask, while pipeline \`${masked.name}\` masks the ` +
        `lines that it delivers there by ${listOf([...masked.masks])}; add a mask to \`process\`, or, if this is ` +
        `intended, give \`${route.name}\` a forwarder entry of its own`;
      return [{ path: ['pipelines', route.name, 'forward'], severity: 'warning', message }];
    });
  });
}

function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names.map((name) => `\`${name}\``));
}

/** Refuses configurations in which two collectors would share the lines of standard input. Each line is read once. */
export function validateStdin(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { collect }: ValidEntries,
): ConfigProblem[] {
  const readers = [...pipelines]
    .filter(([, { enabled }]) => enabled)
    .flatMap(([pipeline, config]) =>
      config.collect.flatMap((name, index) => {
        const plugin = collect.get(name)?.plugin as CollectPlugin | undefined;
        return plugin?.readsStdin === true ? [{ pipeline, name, index }] : [];
      }),
    );
  const [first, ...others] = readers;
  return others.map(({ pipeline, name, index }) => ({
    path: ['pipelines', pipeline, 'collect', index],
    message:
      `\`${name}\` reads standard input, which \`${first?.name}\` of pipeline \`${first?.pipeline}\` reads already: ` +
      'only one collector can; use one pipeline with several forwarders',
  }));
}
