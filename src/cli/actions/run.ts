import { firstValueFrom } from 'rxjs';
import { loadConfig } from '../../config/load-config.ts';
import { Manager } from '../../manager.ts';
import { abandonWriters, outputClosed, writersToOutput } from '../closed-output.ts';
import { coloursFor } from '../colours.ts';
import type { RunOptions } from '../commands/run.ts';
import { ExitCode } from '../exit-code.ts';
import { liveLine } from '../live-line.ts';
import { createLogger } from '../logger.ts';
import { pipelineResults, reportResults } from '../run-report.ts';
import { RunTimes } from '../run-times.ts';
import { selectPipelines } from '../select-pipelines.ts';
import { StatusTerminal } from '../status-terminal.ts';
import { signalExitCode, stopSignals } from '../stop-signals.ts';

/** `millrace run FILE…`: runs pipelines until all of them have ended. */
export async function run(files: readonly string[], options: RunOptions): Promise<number> {
  const { logLevel: level, logFormat: format, once = false, pipeline = [], drainTimeout } = options;
  const terminal = new StatusTerminal(process.stderr);
  const colours = coloursFor(process.stderr);
  const write = (line: string) => terminal.write(line);
  const logger = createLogger({ level, format, colours, terminal: terminal.isTerminal, write });
  const { config, host } = await loadConfig(files, { once, logger });
  const names = selectPipelines(config, pipeline, files);
  const manager = new Manager(config, { host, logger, once, drainTimeout });
  const times = new RunTimes();
  times.follow(manager.states$);

  const writers = writersToOutput(config, names);
  // Events on the same terminal show well enough that it runs, and would garble the live line.
  const showsLive =
    terminal.isTerminal && format === 'pretty' && !(writers.length > 0 && process.stdout.isTTY);
  const live = showsLive ? liveLine(manager, (text) => terminal.live(text)) : undefined;
  for (const end of ['exit', 'uncaughtExceptionMonitor']) process.once(end, () => terminal.live(''));

  let stopping = false;
  const signals = stopSignals().subscribe((signal) => {
    if (stopping) process.exit(signalExitCode(signal));
    stopping = true;
    logger.info(
      `${signal}: stopping; up to ${drainTimeout} s for what is in flight; a second signal exits at once`,
    );
    manager.stop();
  });
  const readerLeft = outputClosed(process.stdout).then(() => {
    logger.info('standard output was closed by its reader: stopping');
    manager.stop();
    const others = names.filter((name) => !writers.includes(name));
    return firstValueFrom(abandonWriters(others.map((name) => manager.stop(name))));
  });
  for (const name of names) manager.start(name);
  await Promise.race([firstValueFrom(manager.finished$), readerLeft]);

  live?.unsubscribe();
  terminal.live('');
  signals.unsubscribe();
  const results = pipelineResults(config, names, manager, times);
  reportResults(results, { level, format, colours, logger, write });
  return results.some(({ state }) => state === 'failed') ? ExitCode.failed : ExitCode.ok;
}
