import { filter, firstValueFrom, fromEvent, interval, map, merge, of } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { isoNow } from '../../operators/internal.ts';
import type { AnswerRecording, RecordRequest } from '../admin/admin-server.ts';
import type { PipelineObserver } from '../engine/observer.ts';
import type { AnalyticsConfig } from '../sdk/config.ts';
import type { Logger } from '../sdk/context.ts';
import { counted } from './format.ts';
import type { ReloadablePipelines } from './reloadable-pipelines.ts';
import { SwitchableObserver } from './switchable-observer.ts';

/** Milliseconds that events in flight may take to be delivered when a recording has ended, as in a test. */
const DRAIN_MS = 10_000;
const CHECK_INTERVAL_MS = 50;
/** Real milliseconds that masking and replaying may take. The pipelines of the process nearly stand still meanwhile. */
const MAX_REPLAY_MS = 10_000;

/** Records pipelines of a process without stopping them: the answers to `/record`. One recording at a time. */
export class RunningRecordings {
  readonly #fleet: ReloadablePipelines;
  readonly #files: readonly string[];
  readonly #logger: Logger;
  readonly #switches = new Map<string, SwitchableObserver>();
  #isRecording = false;

  constructor(fleet: ReloadablePipelines, files: readonly string[], logger: Logger) {
    this.#fleet = fleet;
    this.#files = files;
    this.#logger = logger;
  }

  /** For the Managers, whose pipelines have it from their start: it costs next to nothing until something is recorded. */
  observer = (pipeline: string): PipelineObserver => {
    const found = this.#switches.get(pipeline) ?? new SwitchableObserver();
    this.#switches.set(pipeline, found);
    return found.observer;
  };

  answer: AnswerRecording = async (request) => {
    const { pipeline } = request;
    const config = this.#fleet.running().get(pipeline);
    const switchable = this.#switches.get(pipeline);
    if (config === undefined || switchable === undefined) {
      const names = [...this.#fleet.running().keys()].join(', ');
      return { status: 404, error: `unknown pipeline; use ?pipeline=NAME with one of: ${names}` };
    }
    if (this.#isRecording)
      return { status: 409, error: 'another recording is under way; ask again when it has ended' };
    this.#isRecording = true;
    try {
      return { status: 200, text: await this.#record(request, config, switchable) };
    } finally {
      switchable.target = undefined;
      this.#isRecording = false;
    }
  };

  async #record(
    { pipeline, forMs, forText, signal }: RecordRequest,
    config: AnalyticsConfig,
    switchable: SwitchableObserver,
  ): Promise<string> {
    // Loaded here, because a run needs nothing of it until it is asked for a recording.
    const { MAX_RECORDED_EVENTS, recordedTest, recorderFor } = await import(
      '../testing/record/record-test.ts'
    );
    let onFull = () => {};
    const full = new Promise<string>((resolve) => {
      onFull = () => resolve('a limit was reached');
    });
    const status = () => this.#fleet.states()[pipeline];
    const mostEvents = MAX_RECORDED_EVENTS;
    const recorder = recorderFor({ config, pipeline, mostEvents, onFull: () => onFull(), isRunning: true });
    const startedAt = isoNow();
    const inFlightBefore = this.#fleet.stats()[pipeline]?.in_flight ?? 0;
    this.#logger.info(`admin: recording ${pipeline} for ${forText}`);
    switchable.target = recorder;
    const gone$ = signal.aborted ? of(undefined) : fromEvent(signal, 'abort').pipe(map(() => undefined));
    const over$ = merge(longTimer(forMs).pipe(map(() => `for=${forText}`)), full, gone$);
    const endedBy = await firstValueFrom(over$);
    recorder.endCollecting();
    const stateAtEnd = status()?.state ?? 'stopped';
    // Events in flight are still delivered, as when a test stops a pipeline.
    const drained$ = interval(CHECK_INTERVAL_MS).pipe(filter(() => recorder.inFlight === 0));
    if (endedBy !== undefined && recorder.inFlight > 0) {
      await firstValueFrom(merge(drained$, longTimer(DRAIN_MS), gone$));
    }
    switchable.target = undefined;
    if (signal.aborted) return '';
    const { text, events, problem } = await recordedTest(recorder.recording, {
      config,
      pipeline,
      files: this.#files,
      startedAt,
      endedBy,
      once: false,
      drainTimeout: undefined,
      outcome: undefined,
      stateAtEnd,
      inFlightBefore,
      timeLimitMs: MAX_REPLAY_MS,
    });
    const why = problem === undefined ? '' : `; it cannot be replayed: ${problem}`;
    this.#logger.info(`admin: recorded ${counted(events, 'event')} of ${pipeline}${why}`);
    return text;
  }
}
