import { nameListing } from '../../checks/describe.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Logger } from '../../sdk/context.ts';
import { nearest } from '../../sdk/nearest.ts';
import type { PipelineStats } from '../../sdk/status.ts';
import { outputClosed } from '../closed-output.ts';
import { coloursFor } from '../colours.ts';
import type { ReplayOptions } from '../commands/replay.ts';
import { configFiles } from '../config-files.ts';
import { ExitCode, UsageError } from '../exit-code.ts';
import { keepAlive } from '../keep-alive.ts';
import { createLogger } from '../logger.ts';
import { findDeadLetters } from '../replay/dead-letter-file.ts';
import { ReplayPasses } from '../replay/replay-passes.ts';
import { replaySource } from '../replay/replay-source.ts';
import { replayTargets } from '../replay/replay-targets.ts';
import { countsText, type Survey, surveyDeadLetters } from '../replay/survey.ts';
import { reportResults } from '../run-report.ts';
import { selectPipelines } from '../select-pipelines.ts';
import { signalExitCode, stopSignals } from '../stop-signals.ts';
import type { PipelineResult } from '../summary.ts';

/** `millrace replay DEAD-LETTERS --pipeline NAME FILE…` */
export async function replay(
  deadLetters: string,
  args: readonly string[],
  options: ReplayOptions,
): Promise<number> {
  const { logLevel: level, logFormat: format, pipeline: name, from = name } = options;
  const { allForwarders = false, drainTimeout, giveUpAfter } = options;
  const colours = coloursFor(process.stderr);
  const write = (line: string) => process.stderr.write(line);
  const logger = createLogger({ level, format, colours, terminal: process.stderr.isTTY === true, write });
  const files = await configFiles(args);
  const { config, host } = await loadConfig(files, { once: true, logger, ignoreTests: true });
  selectPipelines(config, [name], files);
  if (config.pipelines[name]?.exactly_once) {
    throw new UsageError(
      `--pipeline ${name}: it says "exactly_once: true", and its next run would cut off what a replay appends to ` +
        `its output. Add a pipeline without it, with the same process and another forward, and replay with ` +
        `--pipeline THAT --from ${name}.`,
    );
  }
  const file = findDeadLetters(deadLetters);
  const passes = new ReplayPasses(config, name, { host, logger, once: true, drainTimeout, giveUpAfter });
  const signals = stopSignals().subscribe((signal) => {
    if (passes.isStopped) process.exit(signalExitCode(signal));
    logger.info(`${signal}: stopping; up to ${drainTimeout} s for what is in flight`);
    passes.stop();
  });
  void outputClosed(process.stdout).then(() => passes.stop());
  const alive = keepAlive();
  const survey = await surveyDeadLetters(file, { from, logger });
  warnOfNoEntries(survey, { deadLetters, from, logger });
  const targetOf = replayTargets(config, { pipeline: name, from, allForwarders, logger });
  const targets = new Set(survey.plugins.map(targetOf));
  const results: PipelineResult[] = [];
  let sent = 0;
  let isComplete = true;
  for (const target of targets) {
    const source = replaySource(file, { from, isWanted: (failed) => targetOf(failed) === target });
    results.push(...(await passes.run(target, source.plugin)));
    sent += source.progress.sent;
    isComplete &&= source.progress.isComplete;
  }
  alive.unsubscribe();
  signals.unsubscribe();

  if (results.length > 0) reportResults(results, { level, format, colours, logger, write });
  const rest = isComplete ? '' : '; the rest was not read, and a new replay begins at the first line';
  logger.info(`${deadLetters}: ${countsText(sent, survey)}${rest}`);
  const isGood =
    isComplete &&
    survey.withheld + survey.unreadable === 0 &&
    results.every(({ state, stats }) => state === 'completed' && failuresIn(stats) === 0);
  return isGood ? ExitCode.ok : ExitCode.failed;
}

/** A name that no entry has is more likely a problem than a pipeline that failed on nothing. */
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

/** Events that were not delivered; what a processor filters out on purpose was. */
function failuresIn({ dead_lettered, dropped, given_up }: PipelineStats): number {
  const { filtered: _, ...lost } = dropped;
  return Object.values(lost).reduce((sum, count) => sum + count, dead_lettered + given_up);
}
