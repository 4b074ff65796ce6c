import { concatMap, EMPTY, firstValueFrom, fromEvent, interval, merge, Subject } from 'rxjs';
import { readMemory } from '../../operators/node.ts';
import { Admin } from '../admin/admin.ts';
import { HealthLog } from '../admin/health-log.ts';
import { SystemdNotifier } from '../admin/sd-notify.ts';
import type { Logger } from '../sdk/context.ts';
import { isClosed } from './closed-output.ts';
import type { RunOptions } from './commands.ts';
import { ExitCode } from './errors.ts';
import { counted } from './format.ts';
import { letHeapGrow } from './heap-growth.ts';
import { liveLine } from './live-line.ts';
import { digestOf, fileChanges, Reloader } from './reload.ts';
import { ReloadablePipelines } from './reloadable-pipelines.ts';
import { RunState, stateFolder } from './run-state.ts';
import { RunningRecordings } from './running-recordings.ts';
import {
  abandonWriters,
  hasTerminal,
  isFile,
  keepAlive,
  outputClosed,
  signalExitCode,
  stopSignals,
  writersToOutput,
} from './signals.ts';
import { type PipelineResult, pipelineResults, RunTimes, standardError } from './summary.ts';
import { StatusTerminal } from './terminal.ts';

/** Milliseconds between two checks of the health of the pipelines, for the log and systemd. */
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
  const fleet = new ReloadablePipelines();
  const recordings = new RunningRecordings(fleet, files, logger);
  const admin = new Admin({
    listen: options.admin,
    logger,
    pipelines: (stalledAfter) => fleet.watched(stalledAfter),
    record: (request) => recordings.answer(request),
    start: (pipeline) => fleet.startAgain(pipeline),
  });
  const systemd = new SystemdNotifier(logger);
  const reloader = new Reloader(fleet, {
    admin,
    files,
    pipelines: pipeline,
    state,
    logger,
    observer: recordings.observer,
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
    // Events on the same terminal would garble the live line. The reader of a pipe may write there too (`| head`).
    const garbles =
      !isFile(process.stdout) && writersToOutput(loaded.manager.config, loaded.names).length > 0;
    if (writersToOutput(loaded.manager.config, loaded.names).length > 0 && isClosed(process.stdout.fd)) {
      logger.warn(
        'standard output is closed, so events that a `stdout` forwarder writes are lost; redirect it to a file or a pipe',
      );
    }
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
    let cannotWrite = false;
    const outputEnded = outputClosed(process.stdout).then(({ code }) => {
      cannotWrite = code !== 'EPIPE';
      // `main` says why it cannot be written.
      logger.info(
        `standard output ${cannotWrite ? 'cannot be written' : 'was closed by its reader'}: stopping`,
      );
      fleet.stop();
      const theirs = writers();
      const others = fleet.names.filter((name) => !theirs.includes(name));
      return firstValueFrom(abandonWriters(others.map((name) => fleet.stopThose([name]))));
    });
    const alive = keepAlive();
    const continued = state.pipelines;
    reloader.start(loaded);
    letHeapGrow();
    hasStarted = true;
    systemd.ready();
    systemd.status(health());
    if (isReloadDue) reopen$.next();
    await Promise.race([firstValueFrom(fleet.finished$), outputEnded]);

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
    for (const { pipeline, state: end, stats } of results) {
      if (!once || end !== 'completed' || stats.collected > 0 || !continued.has(pipeline)) continue;
      logger.info(
        `${pipeline}: nothing was new: earlier runs have read everything, as \`millrace state\` shows; ` +
          'to read it again, use `millrace state forget` or --no-state',
      );
    }
    report(results);
    return cannotWrite ? ExitCode.failed : runExitCode(results, { logger, isStopped: stopping });
  } finally {
    signals.unsubscribe();
    admin.close();
    systemd.close();
    await state.close();
  }
}

interface RunEnd {
  readonly logger: Logger;
  /** By a signal. What a closed output did not take is not lost: its reader has seen enough. */
  readonly isStopped: boolean;
}

/** The exit code of a run. Logs an error for each pipeline that lost events; a failed one has already logged its error. */
function runExitCode(results: readonly PipelineResult[], { logger, isStopped }: RunEnd): number {
  let isGood = results.every(({ state }) => state !== 'failed');
  for (const result of results) {
    const { events, bytes = 0, why } = lossOf(result, isStopped);
    const lost = [
      ...(events > 0 ? [counted(events, 'event')] : []),
      ...(bytes > 0 ? [counted(bytes, 'byte')] : []),
    ];
    if (lost.length === 0) continue;
    isGood = false;
    logger.error(`${result.pipeline}: ${lost.join(' and ')} lost: ${why}; the exit code is 1`);
  }
  return isGood ? ExitCode.ok : ExitCode.failed;
}

interface Loss {
  readonly events: number;
  /** Of lines that were not made into events yet. */
  readonly bytes?: number;
  readonly why: string;
}

function lossOf({ state, stats, stdinLeft }: PipelineResult, isStopped: boolean): Loss {
  const { dropped, given_up } = stats;
  // Dead-lettered events are not counted as dropped.
  const reasons = ['collector_failed', 'processor_failed', 'forwarder_failed', 'route_failed'] as const;
  const failed = reasons.reduce((sum, reason) => sum + (dropped[reason] ?? 0), 0);
  if (state === 'completed') {
    const why =
      'a plugin or the condition of a route failed on them and the pipeline has no `delivery.dead_letter`';
    return { events: failed, why };
  }
  const why = 'the stop did not wait for them any longer, and standard input cannot be read again';
  const isLost = isStopped && stdinLeft !== undefined && state === 'stopped';
  return isLost ? { events: given_up, bytes: stdinLeft, why } : { events: 0, why };
}
