import { firstValueFrom } from 'rxjs';
import { loadConfig } from '../config/load-config.ts';
import { Manager } from '../engine/manager.ts';
import { nameListing } from '../sdk/checks/describe.ts';
import { rememberVariables, variablesOf } from '../sdk/checks/shown-values.ts';
import { type AnalyticsConfig, forwardersOf, type PluginConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { nearest } from '../sdk/nearest.ts';
import type { CollectPlugin } from '../sdk/plugin.ts';
import type { PipelineStats } from '../sdk/status.ts';
import type { ReplayOptions } from './commands.ts';
import { configFiles, FOR_A_RUN, selectPipelines } from './config-files.ts';
import {
  countsText,
  type FailedPlugin,
  findDeadLetters,
  replaySource,
  type Survey,
  surveyDeadLetters,
} from './dead-letters.ts';
import { ExitCode, UsageError } from './errors.ts';
import { keepAlive, outputClosed, signalExitCode, stopSignals } from './signals.ts';
import { type PipelineResult, pipelineResults, RunTimes, standardError } from './summary.ts';

/** `millrace replay DEAD-LETTERS --pipeline NAME FILE…` */
export async function replay(
  deadLetters: string,
  args: readonly string[],
  options: ReplayOptions,
): Promise<number> {
  const { pipeline: name, from = name, allForwarders = false, drainTimeout, giveUpAfter } = options;
  const { logger, report } = standardError(options);
  const files = await configFiles(args);
  const { config, host } = await loadConfig(files, { once: true, logger, ...FOR_A_RUN });
  selectPipelines(config, [name], files);
  if (config.pipelines[name]?.exactly_once) {
    throw new UsageError(
      `--pipeline ${name} has "exactly_once: true": its next run would cut off what a replay appends to its output. ` +
        'Add a pipeline without it, with the same process and another forward, and replay with ' +
        `--pipeline THAT --from ${name}.`,
    );
  }
  const file = findDeadLetters(deadLetters);
  let manager: Manager | undefined;
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    manager?.stop();
  };
  const signals = stopSignals().subscribe((signal) => {
    if (isStopped) process.exit(signalExitCode(signal));
    logger.info(`${signal}: stopping; up to ${drainTimeout} s to drain events in flight`);
    stop();
  });
  void outputClosed(process.stdout).then(stop);
  const alive = keepAlive();
  const survey = await surveyDeadLetters(file, { from, logger });
  warnOfNoEntries(survey, { deadLetters, from, logger });
  const targetOf = replayTargets(config, { pipeline: name, from, allForwarders, logger });
  const results: PipelineResult[] = [];
  let sent = 0;
  let isComplete = true;
  // One run for each target.
  for (const target of new Set(survey.plugins.map(targetOf))) {
    const source = replaySource(file, { from, accepts: (failed) => targetOf(failed) === target });
    if (!isStopped) {
      const one = replayConfig(config, name, { plugin: source.plugin, target });
      manager = new Manager(one, { host, logger, once: true, drainTimeout, giveUpAfter });
      const times = new RunTimes(manager.states$);
      manager.start(name);
      await firstValueFrom(manager.finished$);
      results.push(...pipelineResults(one, [name], manager, times));
    }
    sent += source.progress.sent;
    isComplete &&= source.progress.isComplete;
  }
  alive.unsubscribe();
  signals.unsubscribe();

  if (results.length > 0) report(results);
  const again = results.reduce((sum, { stats }) => sum + stats.dead_lettered, 0);
  const counts = countsText(sent, again, survey);
  const rest = isComplete ? '' : '; the rest was not read, and a new replay starts at the first line';
  logger.info(`${deadLetters}: ${counts}${rest}`);
  const isGood =
    isComplete &&
    survey.withheld + survey.unreadable === 0 &&
    results.every(({ state, stats }) => state === 'completed' && failuresIn(stats) === 0);
  return isGood ? ExitCode.ok : ExitCode.failed;
}

/** Warns if no entry is of the pipeline: its name is then probably misspelled. */
function warnOfNoEntries(
  { plugins, withheld, others }: Survey,
  { deadLetters, from, logger }: { deadLetters: string; from: string; logger: Logger },
): void {
  if (plugins.length + withheld > 0 || others.size === 0) return;
  const names = [...others.keys()];
  const near = nearest(from, names);
  const hint =
    near === undefined ? `it has entries of ${nameListing(names)}` : `did you mean \`--from ${near}\`?`;
  logger.warn(`${deadLetters}: no entry is of pipeline ${from}; ${hint}`);
}

/** The number of events that were not delivered, except for those that were dropped on purpose. */
function failuresIn({ dead_lettered, dropped, given_up }: PipelineStats): number {
  const { filtered: _, no_route: __, ...lost } = dropped;
  return Object.values(lost).reduce((sum, count) => sum + count, dead_lettered + given_up);
}

const COLLECTOR = 'dead_letters';

/** The configuration with only the pipeline `name`, which collects with `plugin`, forwards to `target` and runs once. */
function replayConfig(
  config: AnalyticsConfig,
  name: string,
  { plugin, target }: { readonly plugin: CollectPlugin; readonly target: ReplayTarget },
): AnalyticsConfig {
  const pipeline = config.pipelines[name] as AnalyticsConfig['pipelines'][string];
  const forward = pipeline.forward.filter(
    (route) => target === ALL || target === (typeof route === 'string' ? route : route.to),
  );
  const replaced = { ...config };
  const entry = Object.defineProperties(
    { plugin: 'replay' },
    { name: { value: COLLECTOR }, parent: { value: replaced }, loaded_plugin: { value: plugin } },
  ) as unknown as PluginConfig<CollectPlugin>;
  rememberVariables(replaced, variablesOf(config));
  return Object.assign(replaced, {
    collectors: { [COLLECTOR]: Object.freeze(entry) },
    pipelines: { [name]: { ...pipeline, collect: [COLLECTOR], forward, restart: false } },
  });
}

interface ReplayTargetOptions {
  /** The pipeline that entries are sent through. */
  readonly pipeline: string;
  /** The pipeline that they come from. */
  readonly from: string;
  readonly allForwarders: boolean;
  readonly logger: Logger;
}

/** All forwarders of the pipeline. */
export const ALL = Symbol('all forwarders');
type ReplayTarget = string | typeof ALL;

/**
 * Where an entry goes depends on the plugin that failed: to the forwarder that failed on it, because the others have it, and
 * to all forwarders if it was a processor.
 */
function replayTargets(
  config: AnalyticsConfig,
  { pipeline, from, allForwarders, logger }: ReplayTargetOptions,
): (failed: FailedPlugin) => ReplayTarget {
  const found = config.pipelines[pipeline];
  const forwarders = found === undefined ? [] : forwardersOf(found);
  if (allForwarders || forwarders.length === 1) return () => ALL;
  const processors = [pipeline, from].flatMap((name) => config.pipelines[name]?.process ?? []);
  const told = new Set<string>();
  return ({ plugin, pluginKind }) => {
    const isProcessor = pluginKind === undefined ? processors.includes(plugin) : pluginKind === 'process';
    if (isProcessor) return ALL;
    if (forwarders.includes(plugin)) return plugin;
    if (!told.has(plugin)) {
      told.add(plugin);
      logger.info(
        `\`${plugin}\` is not a forwarder of pipeline ${pipeline}: events that it failed on go to all forwarders`,
      );
    }
    return ALL;
  };
}
