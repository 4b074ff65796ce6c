import { firstValueFrom } from 'rxjs';
import { loadConfig } from '../../config/load-config.ts';
import { Manager } from '../../manager.ts';
import type { PipelineStats } from '../../models/index.ts';
import { outputClosed } from '../closed-output.ts';
import { coloursFor } from '../colours.ts';
import type { ReplayOptions } from '../commands/replay.ts';
import { ExitCode, UsageError } from '../exit-code.ts';
import { keepAlive } from '../keep-alive.ts';
import { createLogger } from '../logger.ts';
import { findDeadLetters } from '../replay/dead-letter-file.ts';
import { replayConfig } from '../replay/replay-config.ts';
import { countsText, replaySource } from '../replay/replay-source.ts';
import { pipelineResults, reportResults } from '../run-report.ts';
import { RunTimes } from '../run-times.ts';
import { selectPipelines } from '../select-pipelines.ts';
import { signalExitCode, stopSignals } from '../stop-signals.ts';

/** `millrace replay DEAD-LETTERS --pipeline NAME FILE…` */
export async function replay(
  deadLetters: string,
  files: readonly string[],
  options: ReplayOptions,
): Promise<number> {
  const { logLevel: level, logFormat: format, pipeline: name, from = name, drainTimeout } = options;
  const colours = coloursFor(process.stderr);
  const write = (line: string) => process.stderr.write(line);
  const logger = createLogger({ level, format, colours, terminal: process.stderr.isTTY === true, write });
  const { config, host } = await loadConfig(files, { once: true, logger, ignoreTests: true });
  selectPipelines(config, [name], files);
  if (config.pipelines[name]?.exactly_once) {
    throw new UsageError(
      `--pipeline ${name}: it says "exactly_once: true", and its next run would cut off what a replay appends to ` +
        `its output. Add a pipeline without it, with the same process and another forward, and replay with ` +
        `--pipeline THAT --from ${name}.`,
    );
  }
  const { plugin, counts } = replaySource(findDeadLetters(deadLetters), { from, logger });
  const replayed = replayConfig(config, name, plugin);
  const manager = new Manager(replayed, { host, logger, once: true, drainTimeout });
  const times = new RunTimes();
  times.follow(manager.states$);

  let stopping = false;
  const signals = stopSignals().subscribe((signal) => {
    if (stopping) process.exit(signalExitCode(signal));
    stopping = true;
    logger.info(`${signal}: stopping; up to ${drainTimeout} s for what is in flight`);
    manager.stop();
  });
  void outputClosed(process.stdout).then(() => manager.stop());
  const alive = keepAlive();
  manager.start(name);
  await firstValueFrom(manager.finished$);
  alive.unsubscribe();
  signals.unsubscribe();

  const [result] = pipelineResults(replayed, [name], manager, times);
  if (result !== undefined) reportResults([result], { level, format, colours, logger, write });
  const rest = counts.isComplete ? '' : '; the rest was not read, and a new replay begins at the first line';
  logger.info(`${deadLetters}: ${countsText(counts)}${rest}`);
  const isGood =
    result?.state === 'completed' && counts.isComplete && counts.withheld + counts.unreadable === 0;
  return isGood && failuresIn(result.stats) === 0 ? ExitCode.ok : ExitCode.failed;
}

/** Events that were not delivered; what a processor filters out on purpose was. */
function failuresIn({ dead_lettered, dropped, given_up }: PipelineStats): number {
  const { filtered: _, ...lost } = dropped;
  return Object.values(lost).reduce((sum, count) => sum + count, dead_lettered + given_up);
}
