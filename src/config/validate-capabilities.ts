import { relative, resolve } from 'node:path';
import { batchingOf } from '../sdk/batching.ts';
import { isMapping, type Path } from '../sdk/checks/problem.ts';
import { diskBufferOf, forwardersOf, type PipelineConfig } from '../sdk/config.ts';
import { moduleUrlOf } from '../sdk/import-module.ts';
import {
  type ConfigProblem,
  isMask,
  needsOrder,
  type PluginKind,
  type ProcessPlugin,
} from '../sdk/plugin.ts';
import { secretsIn } from '../sdk/secret.ts';
import type { ValidEntries, ValidEntry } from './build-config.ts';
import { isBuiltinPlugin, type PluginOf } from './registry.ts';
import { NOUNS, namesIn } from './validate-pipelines.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** A pipeline as it is written, with its path. Values of a wrong type are left to the schemas. */
interface Written {
  readonly pipeline: Mapping;
  readonly path: Path;
  readonly entries: ValidEntries;
}

/**
 * The problems with the valid entries of a kind that a pipeline names.
 *
 * @param messageFor the message for an entry, undefined if nothing is wrong with it. `shown` is such as
 * "`web`, a `file` collector".
 */
function checkEach<K extends PluginKind>(
  kind: K,
  { pipeline, path, entries }: Written,
  messageFor: (entry: ValidEntry<PluginOf[K]>, shown: string, index: number) => string | undefined,
): ConfigProblem[] {
  return namesIn(pipeline[kind]).flatMap(({ name, at }, index) => {
    const entry = entries[kind].get(name);
    if (entry === undefined) return [];
    const shown = `\`${name}\`, a \`${entry.data.plugin}\` ${NOUNS[kind]}`;
    const message = messageFor(entry, shown, index);
    return message === undefined ? [] : [{ path: [...path, kind, ...at], message }];
  });
}

/**
 * Checks what `exactly_once` requires: collectors that resume exactly, and one output file that can be cut back and that
 * nothing else writes to, in the order of collection.
 */
export function validateExactlyOnce(pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || pipeline.exactly_once !== true) return [];
    const written: Written = { pipeline, path: ['pipelines', name], entries };
    return [
      ...checkEach('collect', written, ({ plugin }, shown) =>
        plugin.traits?.resumes === true
          ? undefined
          : `${shown}, cannot resume where a crash cut the output; \`exactly_once\` requires one that can, such as \`file\``,
      ),
      ...checkForwarder(written),
      // What is delivered of an event could be cut between its lines, of which some are read again and others are not.
      ...checkEach('process', written, ({ plugin }, shown) =>
        plugin.joinLines === undefined
          ? undefined
          : `${shown}, joins lines; \`exactly_once\` requires that each event comes from one line: after a crash, the lines of one could be read in part`,
      ),
      ...checkOrder(written),
      ...checkSharing(name, pipelines, entries),
    ];
  });
}

function checkForwarder(written: Written): ConfigProblem[] {
  const { length } = namesIn(written.pipeline.forward);
  if (length > 1) {
    const message = `found ${length} forwarders; \`exactly_once\` requires one: what is delivered is cut in one place`;
    return [{ path: [...written.path, 'forward'], message }];
  }
  return checkEach('forward', written, (entry, shown) =>
    entry.plugin.exactly !== undefined || entry.plugin.traits?.deduplicates === true
      ? undefined
      : `the output of ${shown}, cannot be cut back after a crash; \`exactly_once\` requires one that can, such as \`disk\` with \`filename\`, or one that stores nothing twice, such as \`nats\``,
  );
}

function checkOrder({ pipeline, path }: Written): ConfigProblem[] {
  if (pipeline.ordered !== false) return [];
  const message =
    'found false; `exactly_once` requires true: in another order the output cannot be cut in one place';
  return [{ path: [...path, 'ordered'], message }];
}

/** Lines of others after the last commit would be cut off after a crash. */
function checkSharing(own: string, pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  const output = forwardersIn(pipelines[own])
    .map((name) => entries.forward.get(name))
    .map((entry) => (entry?.plugin.exactly === undefined ? undefined : writtenBy(entry)))
    .find((found) => found !== undefined);
  if (output === undefined) return [];
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    const others =
      name === own ? deadLettersOf(pipeline) : [...forwardersIn(pipeline), ...deadLettersOf(pipeline)];
    if (!others.some((other) => writtenBy(entries.forward.get(other)) === output)) return [];
    const who = name === own ? 'its own dead letter' : `pipeline \`${name}\``;
    const message = `${shownPath(output)} is also written to by ${who}; \`exactly_once\` requires a file of its own: what others write would be cut off after a crash`;
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

function writtenBy(entry: ValidEntry<PluginOf['forward']> | undefined): string | undefined {
  return entry?.plugin.traits?.writes?.({ config: entry.data as never });
}

function shownPath(file: string): string {
  const below = relative('', file);
  return below.startsWith('..') ? file : below;
}

/** Refuses a processor that joins lines where those before it may pass on lines of a file in another order. */
export function validateJoining(pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || pipeline.ordered !== false) return [];
    const written: Written = { pipeline, path: ['pipelines', name], entries };
    return checkEach('process', written, ({ plugin }, shown, index) =>
      plugin.joinLines === undefined || index === 0
        ? undefined
        : `${shown}, joins lines; behind another processor, that requires \`ordered: true\`: in another order, lines of different events would be joined`,
    );
  });
}

/** Checks what `workers` requires: lines to hand on, and processors that can run in worker threads. */
export function validateWorkers(pipelines: Mapping, entries: ValidEntries): ConfigProblem[] {
  return Object.entries(pipelines).flatMap(([name, pipeline]) => {
    if (!isMapping(pipeline) || typeof pipeline.workers !== 'number' || pipeline.workers <= 1) return [];
    const written: Written = { pipeline, path: ['pipelines', name], entries };
    return [...checkLineCollectors(written), ...checkProcessors(written)];
  });
}

function checkLineCollectors({ pipeline, path, entries }: Written): ConfigProblem[] {
  const collectors = namesIn(pipeline.collect).map(({ name }) => entries.collect.get(name));
  const mayEmitLines = collectors.some(
    (entry) => entry === undefined || entry.plugin.traits?.emitsLines === true,
  );
  if (collectors.length === 0 || mayEmitLines) return [];
  const message =
    'no collector here emits lines; `workers` requires one that does, such as `file`: other events stay in the main thread';
  return [{ path: [...path, 'workers'], message }];
}

function checkProcessors(written: Written): ConfigProblem[] {
  const { process } = written.pipeline;
  if (namesIn(process).length === 0 && (process === undefined || Array.isArray(process))) {
    const message =
      'there is no processor here; `workers` requires one: otherwise workers have nothing to do';
    return [{ path: [...written.path, 'workers'], message }];
  }
  return checkEach('process', written, ({ plugin, data }, shown) => {
    const problem = problemOf(plugin, data as never);
    return problem && `${shown}, ${problem}`;
  });
}

function problemOf(plugin: ProcessPlugin, config: never): string | undefined {
  if (plugin.traits?.pure !== true) {
    return 'cannot run in a worker, which `workers` requires: it does not declare the trait `pure`';
  }
  if (needsOrder(plugin, config)) {
    return 'cannot run in a worker: with this configuration, it needs all lines of a file in their order; remove `workers`';
  }
  if (secretsIn(config).length > 0) {
    return 'has a secret among its settings, which stays in the main thread; remove `workers`';
  }
  if (isBuiltinPlugin('process', plugin) || moduleUrlOf(plugin) !== undefined) return undefined;
  return 'was registered by the program, and a worker cannot load it; `workers` requires a module of its own';
}

/** Two listeners on one address would take it from each other, and which pipeline gets it would be left to chance. */
export function validateListeners(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { collect }: ValidEntries,
): ConfigProblem[] {
  const owners = new Map<string, string>();
  return [...pipelines].flatMap(([pipeline, config]) =>
    config.collect.flatMap((name, index): ConfigProblem[] => {
      const entry = config.enabled ? collect.get(name) : undefined;
      const address = entry?.plugin.traits?.listens?.({ config: entry.data as never });
      if (address === undefined) return [];
      const owner = owners.get(address);
      owners.set(address, `\`${name}\` of pipeline \`${pipeline}\``);
      if (owner === undefined) return [];
      const message = `\`${name}\` listens on ${address}, as ${owner} does: only one can; use one pipeline with several forwarders, or another \`listen\``;
      return [{ path: ['pipelines', pipeline, 'collect', index], message }];
    }),
  );
}

/** Checks what a buffer on disk requires: a folder of its own, and with `reject` a collector that answers its senders. */
export function validateBuffers(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { collect }: ValidEntries,
): ConfigProblem[] {
  const owners = new Map<string, string>();
  return [...pipelines].flatMap(([name, pipeline]): ConfigProblem[] => {
    const buffer = diskBufferOf(pipeline);
    if (buffer === undefined) return [];
    const at = (field: string) => ['pipelines', name, 'buffer', field];
    const problems: ConfigProblem[] = [];
    if (pipeline.exactly_once) {
      const message =
        '`exactly_once` and a buffer on disk exclude each other: after a crash, some events of the buffer come again';
      problems.push({ path: at('type'), message });
    }
    const folder = resolve(buffer.path);
    const owner = owners.get(folder);
    owners.set(folder, name);
    if (owner !== undefined) {
      const message = `pipeline \`${owner}\` has the same folder; each buffer needs one of its own`;
      problems.push({ path: at('path'), message });
    }
    if (buffer.when_full !== 'reject') return problems;
    const entries = pipeline.collect.map((collector) => collect.get(collector));
    // Batches of the others wait for room, which is `wait`.
    const canReject = (entry: (typeof entries)[number]) => entry?.plugin.traits?.answers === true;
    if (entries.includes(undefined) || entries.some(canReject)) return problems;
    const listed = new Intl.ListFormat('en-GB').format(
      pipeline.collect.map((collector) => `\`${collector}\``),
    );
    const message = `no collector of the pipeline can tell its senders what to send again, as \`http\` and \`otlp\` can, so \`reject\` would do what \`wait\` does (there is ${listed}); use \`wait\`, or \`drop_oldest\``;
    problems.push({ path: at('when_full'), message });
    return problems;
  });
}

/** `max_in_flight` of a pipeline that does not set it: events. */
const EVENTS_IN_FLIGHT = 1000;
/**
 * The default if lines do not have to become events. Blocks of some thousand lines take two thirds of the processor time
 * of smaller ones, and two of them are needed to mask one while the other is written. A buffer on disk confirms as many at a
 * time as are in flight.
 */
const LINES_IN_FLIGHT = 10_000;
/**
 * The largest default, for lines whose forwarder takes large batches. Each event in flight may come twice after a crash, so more
 * have to be asked for.
 */
const MOST_LINES_IN_FLIGHT = 200_000;

/** `max_in_flight` of a pipeline that does not set it. */
export function defaultInFlight(
  pipeline: Omit<PipelineConfig, 'max_in_flight'>,
  { collect, process, forward }: ValidEntries,
): number {
  const { workers, exactly_once } = pipeline;
  const areLines =
    !exactly_once &&
    pipeline.collect.every((name) => collect.get(name)?.plugin.traits?.emitsLines) &&
    (pipeline.process ?? []).every((name) => process.get(name)?.plugin.mapLines) &&
    forwardersOf(pipeline).every((name) => forward.get(name)?.plugin.forwardJsonLines);
  if (areLines) {
    const inCalls = forwardersOf(pipeline).map((name) => eventsInCalls(forward.get(name)));
    return Math.max(LINES_IN_FLIGHT, Math.min(MOST_LINES_IN_FLIGHT, Math.max(...inCalls)));
  }
  return workers > 1 || diskBufferOf(pipeline) !== undefined ? LINES_IN_FLIGHT : EVENTS_IN_FLIGHT;
}

/** The events that calls of a forwarder hold at a time, at most; 0 if its calls have no limits. */
function eventsInCalls(entry: ValidEntry<PluginOf['forward']> | undefined): number {
  const { events = 0, concurrency = 0 } = batchingOf(entry?.data ?? {}) ?? {};
  return events * concurrency;
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
      const wanted = eventsInCalls(forward.get(forwarder));
      // Each worker adds as many.
      if (wanted <= pipeline.workers * pipeline.max_in_flight) return [];
      const calls = concurrency === 1 ? '' : `${concurrency} batches of `;
      const message =
        `${calls}${events} ${events === 1 ? 'event' : 'events'} of \`${forwarder}\` do not fit into \`max_in_flight\`, which is ` +
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
  const emitsLines = (entry: string) => collect.get(entry)?.plugin.traits?.emitsLines === true;
  const masks = (entry: string) => isMask(process.get(entry)?.plugin);
  const delivers = (entry: string) => forward.get(entry)?.plugin.traits?.discards !== true;
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
      config.collect.flatMap((name, index) =>
        collect.get(name)?.plugin.traits?.readsStdin === true ? [{ pipeline, name, index }] : [],
      ),
    );
  const [first, ...others] = readers;
  return others.map(({ pipeline, name, index }) => ({
    path: ['pipelines', pipeline, 'collect', index],
    message:
      `\`${name}\` reads standard input, which \`${first?.name}\` of pipeline \`${first?.pipeline}\` reads already: ` +
      'only one collector can; use one pipeline with several forwarders',
  }));
}
