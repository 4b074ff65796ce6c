import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { asyncScheduler, firstValueFrom, timer } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { isoNow } from '../../operators/internal.ts';
import { problemLine } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import { isTestFile } from '../config/read-files.ts';
import { Manager } from '../engine/manager.ts';
import { safeReason } from '../sdk/errors.ts';
import { printable } from '../sdk/printable.ts';
import type { PipelineStatus } from '../sdk/status.ts';
import { toMilliseconds } from '../testing/duration.ts';
import { recordedTest, recorderFor } from '../testing/record/record-test.ts';
import type { RecordOptions } from './commands.ts';
import { configFiles, FOR_A_RUN, selectPipelines } from './config-files.ts';
import { ExitCode, UsageError } from './errors.ts';
import { counted } from './format.ts';
import { RunState, stateFolder } from './run-state.ts';
import { keepAlive, signalExitCode, stopSignals, writersToOutput } from './signals.ts';
import { pipelineResults, RunTimes, standardError } from './summary.ts';

/** Real milliseconds that masking and replaying a recording may take. */
const MAX_REPLAY_MS = 120_000;

/** `millrace record FILE… --pipeline NAME`: runs a pipeline, and writes what happened as a test. */
export async function record(args: readonly string[], options: RecordOptions): Promise<number> {
  const { pipeline: name, output, once = false, drainTimeout } = options;
  const { logger, report } = standardError(options);
  checkOutput(output);
  const given = await configFiles(args);
  const { config, host, files, warnings } = await loadConfig(given, { once, logger, ...FOR_A_RUN });
  for (const warning of warnings) logger.warn(problemLine(warning));
  selectPipelines(config, [name], given);
  if (output === undefined && writersToOutput(config, [name]).length > 0) {
    throw new UsageError(
      `--pipeline ${printable(name)} writes events to standard output, where the recording would be among them. ` +
        'Write it to a file: --output incident.test.yaml.',
    );
  }
  const state = new RunState(stateFolder(options), logger);
  let end = (_why: string): void => {};
  let isEnding = false;
  const signals = stopSignals().subscribe((signal) => {
    if (isEnding) process.exit(signalExitCode(signal));
    end(signal);
  });
  const alive = keepAlive();
  try {
    const recorder = recorderFor({
      config,
      pipeline: name,
      mostEvents: options.events,
      isRunning: false,
      // Wait until the current emission has finished.
      onFull: () => timer(0).subscribe(() => end('a limit was reached')),
    });
    const manager = new Manager(config, {
      host,
      logger,
      once,
      drainTimeout,
      state: await state.storeFor(config, [name], given),
      observer: (pipeline) => (pipeline === name ? recorder : undefined),
    });
    const times = new RunTimes(manager.states$);
    const status = () => manager.state(name) as PipelineStatus;
    const startedAt = isoNow();
    let endedBy: string | undefined;
    let stateAtEnd: PipelineStatus['state'] | undefined;
    end = (why) => {
      if (isEnding) return;
      isEnding = true;
      endedBy = why;
      stateAtEnd = status().state;
      recorder.endCollecting();
      logger.info(
        `${why}: the recording has ended; up to ${drainTimeout} s to drain events in flight, a second signal exits at once`,
      );
      manager.stop();
    };
    logger.info(`recording ${name} for ${options.for}; Ctrl-C ends it earlier`);
    const limit = longTimer(toMilliseconds(options.for)).subscribe(() => end(`--for ${options.for}`));
    manager.start(name);
    await firstValueFrom(manager.finished$);
    limit.unsubscribe();
    recorder.endCollecting();
    report(pipelineResults(config, [name], manager, times));
    const since = asyncScheduler.now();
    const { text, events, differences, problem } = await recordedTest(recorder.recording, {
      config,
      pipeline: name,
      files: files.filter((file) => !isTestFile(file)).map((file) => seenFrom(output, file)),
      startedAt,
      endedBy,
      once,
      drainTimeout,
      outcome: { state: status().state, stats: manager.stats()[name] as never },
      stateAtEnd: stateAtEnd ?? status().state,
      inFlightBefore: 0,
      timeLimitMs: MAX_REPLAY_MS,
    });
    logger.debug(`masked and replayed in ${asyncScheduler.now() - since} ms`);
    if (output === undefined) process.stdout.write(text);
    else await writeOutput(output, text);
    const where = output === undefined ? '' : ` to ${printable(output)}`;
    logger.info(`recorded ${counted(events, 'event')}${where}; \`millrace test\` replays them`);
    if (problem !== undefined) logger.error(`the recording cannot be replayed: ${problem}`);
    if (differences.length > 0) {
      logger.warn(`the replay differs from the run, as docs/testing.md explains: ${differences.join('; ')}`);
    }
    return problem === undefined ? ExitCode.ok : ExitCode.failed;
  } finally {
    signals.unsubscribe();
    alive.unsubscribe();
    await state.close();
  }
}

function checkOutput(output: string | undefined): void {
  if (output === undefined) return;
  if (!isTestFile(output)) {
    throw new UsageError(
      `--output ${printable(output)}: \`millrace test\` finds tests in files whose names end in .test.yaml; choose such a name.`,
    );
  }
  if (existsSync(output)) {
    throw new UsageError(`--output ${printable(output)}: the file already exists; choose another name.`);
  }
}

/** Only its owner can read it, as with most logs. */
async function writeOutput(output: string, text: string): Promise<void> {
  try {
    await writeFile(output, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new UsageError(`--output ${printable(output)}: the file cannot be written: ${safeReason(error)}`);
  }
}

/** The path of a configuration, as a test beside it names it. */
function seenFrom(output: string | undefined, file: string): string {
  return output === undefined ? file : relative(dirname(output), file);
}
