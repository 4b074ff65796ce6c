import { concatMap, EMPTY, firstValueFrom, fromEvent, interval, merge, Subject } from 'rxjs';
import { readMemory } from '../../operators/files/follow/memory-budget.ts';
import { Admin } from '../admin/admin.ts';
import { HealthLog } from '../admin/health-log.ts';
import { SystemdNotifier } from '../admin/sd-notify.ts';
import type { Logger } from '../sdk/context.ts';
import type { RunOptions } from './commands.ts';
import { ExitCode } from './errors.ts';
import { Fleet } from './fleet.ts';
import { counted } from './format.ts';
import { liveLine } from './live-line.ts';
import { digestOf, fileChanges, Reloader } from './reload.ts';
import { RunState, stateFolder } from './run-state.ts';
import {
  abandonWriters,
  hasTerminal,
  keepAlive,
  outputClosed,
  signalExitCode,
  stopSignals,
  writersToOutput,
} from './signals.ts';
import { type PipelineResult, pipelineResults, RunTimes, standardError } from './summary.ts';
import { StatusTerminal } from './terminal.ts';

/** Milliseconds between two looks at the health of the pipelines, for the log and systemd. */
const HEALTH_EVERY = 5000;

/** `millrace run FILE…`: runs pipelines until all of them have ended. */
export async function run(files: readonly string[], options: RunOptions): Promise<number> {
  const { logFormat: format, once = false, pipeline = [], watch } = options;
  const { drainTimeout, giveUpAfter } = options;
  readMemory.limit = options.readMemory * 1024 * 1024;
  const terminal = new StatusTerminal(process.stderr);
  const { logger, report } = standardError(options, terminal);
  const state = new RunState(stateFolder(options), logger);
  const reopen$ = new Subject<void>();
  const fleet = new Fleet();
  const admin = new Admin({
    listen: options.admin,
    logger,
    pipelines: (stalledAfter) => fleet.watched(stalledAfter),
  });
  const systemd = new SystemdNotifier(logger);
  const reloader = new Reloader(fleet, {
    admin,
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
    const drain = `up to ${drainTimeout} s to drain events in flight; a second signal exits at once`;
    logger.info(`${why}: stopping; ${hasStarted ? drain : 'nothing has been started yet'}`);
    systemd.stopping();
    fleet.stop();
    stopped$.next();
  };
  // Before loading, which may take long: a signal must not end the process halfway through.
  const signals = stopSignals().subscribe((signal) => {
    if (stopping) process.exit(signalExitCode(signal));
    stop(signal);
  });
  const hadTerminal = hasTerminal();
  let isReloadDue = false;
  // Never unsubscribed: without a listener, SIGHUP ends the process.
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
    const times = new RunTimes(fleet.states$);

    const writers = () => [...fleet.configs()].flatMap(([name, config]) => writersToOutput(config, [name]));
    // Events on the same terminal would garble the live line.
    const garbles = process.stdout.isTTY && writersToOutput(loaded.manager.config, loaded.names).length > 0;
    const showsLive = terminal.isTerminal && format === 'pretty' && !garbles;
    const health = () => fleet.watched(admin.stalledAfter).map((pipeline) => pipeline.health);
    const source = { states: () => fleet.states(), stats: () => fleet.stats(), health };
    const live = showsLive ? liveLine(source, (text) => terminal.live(text)) : undefined;
    const healthLog = new HealthLog(logger);
    const watching = interval(HEALTH_EVERY).subscribe(() => {
      const now = health();
      healthLog.update(now);
      systemd.status(now);
    });
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
    systemd.ready();
    systemd.status(health());
    if (isReloadDue) reopen$.next();
    await Promise.race([firstValueFrom(fleet.finished$), readerLeft]);

    alive.unsubscribe();
    watching.unsubscribe();
    live?.unsubscribe();
    terminal.live('');
    reloads.unsubscribe();
    const states = fleet.states();
    const stats = fleet.stats();
    const final = { states: () => states, stats: () => stats };
    const results = [...fleet.configs()].flatMap(([name, config]) =>
      pipelineResults(config, [name], final, times),
    );
    report(results);
    return runExitCode(results, logger);
  } finally {
    signals.unsubscribe();
    admin.close();
    systemd.close();
    await state.close();
  }
}

/**
 * The exit code of a run. Logs an error for each completed pipeline that lost events; a failed one has already logged
 * its error.
 */
function runExitCode(results: readonly PipelineResult[], logger: Logger): number {
  const lossy = results.filter((result) => result.state === 'completed' && lostEvents(result) > 0);
  for (const result of lossy) {
    logger.error(
      `${result.pipeline}: ${counted(lostEvents(result), 'event')} lost: a plugin failed on them and the pipeline has ` +
        'no `delivery.dead_letter`; the exit code is 1',
    );
  }
  const isGood = lossy.length === 0 && results.every(({ state }) => state !== 'failed');
  return isGood ? ExitCode.ok : ExitCode.failed;
}

/** Dead-lettered events are not counted as dropped. */
function lostEvents({ stats: { dropped } }: PipelineResult): number {
  return (dropped.collector_failed ?? 0) + (dropped.processor_failed ?? 0) + (dropped.forwarder_failed ?? 0);
}
