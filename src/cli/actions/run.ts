import { concatMap, EMPTY, firstValueFrom, fromEvent, merge, Subject } from 'rxjs';
import { readMemory } from '../../../operators/files/follow/memory-budget.ts';
import { abandonWriters, outputClosed, writersToOutput } from '../closed-output.ts';
import { coloursFor } from '../colours.ts';
import type { RunOptions } from '../commands/run.ts';
import { hasTerminal } from '../controlling-terminal.ts';
import { ExitCode } from '../exit-code.ts';
import { keepAlive } from '../keep-alive.ts';
import { liveLine } from '../live-line.ts';
import { createLogger } from '../logger.ts';
import { Fleet } from '../reload/fleet.ts';
import { digestOf, fileChanges } from '../reload/reload-requests.ts';
import { Reloader } from '../reload/reloader.ts';
import { runExitCode } from '../run-exit-code.ts';
import { pipelineResults, reportResults } from '../run-report.ts';
import { RunState } from '../run-state.ts';
import { RunTimes } from '../run-times.ts';
import { stateFolder } from '../state-folder.ts';
import { StatusTerminal } from '../status-terminal.ts';
import { signalExitCode, stopSignals } from '../stop-signals.ts';

/** `millrace run FILE…`: runs pipelines until all of them have ended. */
export async function run(files: readonly string[], options: RunOptions): Promise<number> {
  const { logLevel: level, logFormat: format, once = false, pipeline = [], watch } = options;
  const { drainTimeout, giveUpAfter } = options;
  readMemory.limit = options.readMemory * 1024 * 1024;
  const terminal = new StatusTerminal(process.stderr);
  const colours = coloursFor(process.stderr);
  const write = (line: string) => terminal.write(line);
  const logger = createLogger({ level, format, colours, terminal: terminal.isTerminal, write });
  const state = new RunState(stateFolder(options), logger);
  const reopen$ = new Subject<void>();
  const fleet = new Fleet();
  const reloader = new Reloader(fleet, {
    files,
    pipelines: pipeline,
    state,
    logger,
    manager: { logger, once, drainTimeout, giveUpAfter, reopen$ },
  });

  const stopped$ = new Subject<void>();
  let hasStarted = false;
  let stopping = false;
  const stop = (why: string) => {
    stopping = true;
    const drain = `up to ${drainTimeout} s for what is in flight; a second signal exits at once`;
    logger.info(`${why}: stopping; ${hasStarted ? drain : 'nothing was started yet'}`);
    fleet.stop();
    stopped$.next();
  };
  // Ahead of loading, which may take long: a signal must not end the process in the midst of it.
  const signals = stopSignals().subscribe((signal) => {
    if (stopping) process.exit(signalExitCode(signal));
    stop(signal);
  });
  const hadTerminal = hasTerminal();
  let isReloadDue = false;
  // Until the process ends: without it, a hang-up would end it.
  fromEvent(process, 'SIGHUP').subscribe(() => {
    if (stopping) return;
    if (hadTerminal && !hasTerminal()) stop('the terminal was closed');
    else if (hasStarted) reopen$.next();
    else isReloadDue = true;
  });
  try {
    const load = async () => {
      const digest = watch === true ? await digestOf(files) : undefined;
      return { ...(await reloader.load()), digest };
    };
    const loaded = await Promise.race([firstValueFrom(stopped$), load()]);
    if (loaded === undefined || stopping) return ExitCode.ok;
    const { digest } = loaded;
    const times = new RunTimes();
    times.follow(fleet.states$);

    const writers = () => [...fleet.configs()].flatMap(([name, config]) => writersToOutput(config, [name]));
    // Events on the same terminal show well enough that it runs, and would garble the live line.
    const garbles = process.stdout.isTTY && writersToOutput(loaded.manager.config, loaded.names).length > 0;
    const showsLive = terminal.isTerminal && format === 'pretty' && !garbles;
    const live = showsLive ? liveLine(fleet, (text) => terminal.live(text)) : undefined;
    for (const end of ['exit', 'uncaughtExceptionMonitor']) process.once(end, () => terminal.live(''));

    const reloads = merge(reopen$, digest === undefined ? EMPTY : fileChanges(files, digest))
      .pipe(concatMap(() => (stopping ? EMPTY : reloader.reload())))
      .subscribe();
    const readerLeft = outputClosed(process.stdout).then(() => {
      logger.info('standard output was closed by its reader: stopping');
      fleet.stop();
      const theirs = writers();
      const others = fleet.names.filter((name) => !theirs.includes(name));
      return firstValueFrom(abandonWriters(others.map((name) => fleet.stopThose([name]))));
    });
    const alive = keepAlive();
    reloader.start(loaded);
    hasStarted = true;
    if (isReloadDue) reopen$.next();
    await Promise.race([firstValueFrom(fleet.finished$), readerLeft]);

    alive.unsubscribe();
    live?.unsubscribe();
    terminal.live('');
    reloads.unsubscribe();
    const states = fleet.states();
    const stats = fleet.stats();
    const final = { states: () => states, stats: () => stats };
    const results = [...fleet.configs()].flatMap(([name, config]) =>
      pipelineResults(config, [name], final, times),
    );
    reportResults(results, { level, format, colours, logger, write });
    return runExitCode(results, logger);
  } finally {
    signals.unsubscribe();
    await state.close();
  }
}
