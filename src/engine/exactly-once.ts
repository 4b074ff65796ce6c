import {
  auditTime,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  ignoreElements,
  merge,
  type Observable,
  Subject,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import type { CollectorState, Logger } from '../sdk/context.ts';
import { PluginError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { ExactOutput, ExactOutputEvents, OutputMark } from '../sdk/plugin.ts';
import { type AckOwner, AckQueue, type CollectorQueue } from './ack-queue.ts';
import { type AttemptPolicy, attempt } from './attempts.ts';
import type { Delivery } from './delivery.ts';
import { OutputRecord, StagedState } from './exactly-once-state.ts';
import type { RetryLog } from './retry-log.ts';

interface ExactlyOnceOptions {
  readonly pipeline: string;
  /** What is remembered for this pipeline, by collector; its own record is beside that. */
  readonly state: (scope: string) => CollectorState;
  /** The names of its collectors. */
  readonly collectors: readonly string[];
  /** The sources, of all collectors, of events that were emitted since the last commit and cannot be emitted again. */
  readonly lostSources: () => Observable<readonly string[]>;
  /** The forwarder's output, which is to tell of these. */
  readonly output: (events: ExactOutputEvents) => ExactOutput;
  readonly random: () => number;
  /** What is cut back, for messages: `cutting archive back`. */
  readonly name: string;
  /** Milliseconds of continuous failure after which the run fails; undefined: never. */
  readonly giveUpAfter: number | undefined;
  /** Told that the output cannot be cut back, which is tried again without end. */
  readonly log: RetryLog;
  /** Told that the last run's output is no longer at its path. */
  readonly logger: Logger;
  /** Told that what was acknowledged so far is being committed. What is returned is called when it is; for recordings. */
  readonly onCommit?: (() => (() => void) | undefined) | undefined;
}

/** Milliseconds from what is acknowledged to its commit: that much is done again after a crash. */
const COMMIT_AFTER = 250;

/**
 * Commits how far collectors have come together with how far the output goes. After a crash the output is cut back
 * to what was committed, and collectors go on from there: nothing is lost and nothing comes twice.
 *
 * The deliveries of all collectors are acknowledged in one order, that in which their events are written. So whatever is
 * acknowledged ends somewhere in the output. Everything before that is acknowledged and nothing after it: the cut is there.
 */
export class ExactlyOnce {
  readonly #options: ExactlyOnceOptions;
  readonly #record: OutputRecord;
  readonly #output: ExactOutput;
  readonly #staged = new Map<string, StagedState>();
  readonly #queue = new AckQueue();
  /** Where the events of open deliveries end that were written. */
  readonly #ends = new Map<Delivery, OutputMark>();
  /** Emits when there is something to commit. */
  readonly #changed$ = new Subject<void>();
  #hasChanged = false;
  /** The marks after the events of the last write, and how many of those are accounted for. */
  #written: readonly OutputMark[] = [];
  #counted = 0;
  /** Where the events end that were acknowledged since the last commit; undefined if none were. */
  #cut: OutputMark | undefined;
  /** What the last run wrote to, if it committed all of it, until this one writes. */
  #last: OutputMark | undefined;
  /** A file that was removed before all that was written to it was committed. */
  #lost: string | undefined;
  /** A write was started and has not completed since, so it is not known what it has written. */
  #isWriting = false;
  /** A collector is being told what is acknowledged. */
  #isAcknowledging = false;

  constructor(options: ExactlyOnceOptions) {
    this.#options = options;
    this.#record = new OutputRecord(options.state, options.collectors);
    this.#last = this.#record.isComplete ? this.#record.marks.at(-1) : undefined;
    this.#output = options.output({
      begun: (mark) => this.#begin(mark),
      removed: (file) => this.#removed(file),
    });
  }

  /** What a collector remembers. */
  stateOf(collector: string): CollectorState {
    const known = this.#staged.get(collector);
    if (known !== undefined) return known;
    const staged = new StagedState(this.#options.state(collector), {
      onChange: () => this.#change(),
      isStart: () => !this.#isAcknowledging,
    });
    this.#staged.set(collector, staged);
    return staged;
  }

  /**
   * Cuts the output back, lets the run go on, and commits what it acknowledges; at its end, all of it. Errors if the
   * output can never be cut back, or if the disk does not confirm what was written: then another run has to do that
   * again.
   */
  around(run$: Observable<never>): Observable<never> {
    const ended$ = new Subject<void>();
    const ending$ = run$.pipe(tap({ complete: () => ended$.next() }));
    const committing$ = this.#changed$.pipe(
      auditTime(COMMIT_AFTER),
      takeUntil(ended$),
      exhaustMap(() =>
        this.#commit(false).pipe(tap({ complete: () => this.#hasChanged && this.#changed$.next() })),
      ),
    );
    return concat(this.#restore(), merge(committing$, ending$), this.#commit(true));
  }

  /** The queue in which a collector's deliveries are opened. */
  queueFor(owner: AckOwner): CollectorQueue {
    return {
      open: (events, onAcknowledged) => {
        const delivery: Delivery = this.#queue.open(events, owner, (outcome) => {
          this.#isAcknowledging = true;
          let returned: unknown;
          try {
            returned = onAcknowledged(outcome);
          } finally {
            this.#isAcknowledging = false;
          }
          this.#cut = this.#ends.get(delivery) ?? this.#cut;
          this.#ends.delete(delivery);
          this.#change();
          return returned;
        });
        return delivery;
      },
    };
  }

  /** Writes all events or none. The caller then says, in the same order, whose they were. */
  write(events: readonly CollectedEvent[]): Observable<never> {
    return this.#output.write(events).pipe(
      tap((marks) => {
        this.#isWriting = false;
        this.#written = marks;
        this.#counted = 0;
      }),
      ignoreElements(),
    );
  }

  /** The next `count` events of the last write belong to `delivery`. */
  written(count: number, delivery: Delivery): void {
    this.#counted += count;
    this.#ends.set(delivery.root, this.#written[this.#counted - 1] as OutputMark);
  }

  #restore(): Observable<never> {
    if (this.#record.isComplete) return EMPTY;
    const { log, random, name, giveUpAfter } = this.#options;
    const onRetry: AttemptPolicy['onRetry'] = (...what) => log.failed(...what);
    const onFailing: AttemptPolicy['onFailing'] = (isFailing) => log.failing(isFailing);
    const policy = { name, attempts: undefined, timeout: undefined, giveUpAfter, random, onRetry, onFailing };
    const { marks, lostCollectors } = this.#record;
    const gone = lostCollectors.map((name) => `the collector ${name}, which the pipeline no longer has`);
    const restore = () =>
      this.#options.lostSources().pipe(concatMap((lost) => this.#output.restore(marks, [...lost, ...gone])));
    return attempt(restore, policy).pipe(
      tap({
        complete: () => {
          log.delivered();
          this.#record.markComplete();
        },
      }),
    );
  }

  #begin(mark: OutputMark): Observable<never> {
    this.#isWriting = true;
    this.#reportOther(mark);
    for (const state of this.#staged.values()) state.keepNotes();
    if (this.#record.begin(mark)) return EMPTY;
    return throwError(
      () => new PluginError(`nothing is written to ${mark.path} while the state folder cannot be written to`),
    );
  }

  /** Says so if what the last run wrote to, and committed, is elsewhere by now. */
  #reportOther(mark: OutputMark): void {
    const last = this.#last;
    this.#last = undefined;
    if (last === undefined || last.path !== mark.path || last.id === mark.id) return;
    const { pipeline, logger } = this.#options;
    logger.info(
      `${pipeline}: the file that the last run wrote to is no longer ${mark.path}; all of it was committed, and ` +
        'this run goes on in another file',
    );
  }

  /** What a removed file held may be lost: what was not committed is written again. */
  #removed(file: Pick<OutputMark, 'id' | 'length'>): void {
    const lost = this.#record.removed(file);
    if (lost === undefined) return;
    this.#lost = lost;
    this.#change();
  }

  #change(): void {
    this.#hasChanged = true;
    this.#changed$.next();
  }

  #commit(isLast: boolean): Observable<never> {
    return defer(() => {
      if (!this.#hasChanged && !isLast) return EMPTY;
      this.#hasChanged = false;
      // A collector that failed as it was told may have set a part of what it is to remember: the next run cuts back.
      if (this.#queue.hasFailed) return EMPTY;
      const staged = [...this.#staged.values()].map((state) => ({ state, changes: state.take() }));
      const cut = this.#cut;
      this.#cut = undefined;
      const committed = this.#options.onCommit?.();
      const keep$ = defer(() => {
        if (this.#lost !== undefined) return this.#startOver(this.#lost);
        // One transaction, because nothing comes between.
        for (const { state, changes } of staged) state.keep(changes);
        if (cut !== undefined) this.#record.commit(cut, !this.#isWriting && this.#written.at(-1) === cut);
        if (isLast) this.#record.markComplete();
        const isKept = this.#record.keep();
        committed?.();
        if (isKept && cut !== undefined) this.#output.committed?.(cut);
        return EMPTY;
      });
      // Not tried again: after an error the kernel may take for written what it has lost. The next run writes it again.
      return concat(this.#output.sync(), keep$);
    });
  }

  /** Fails the run: the next one goes on from the last commit. */
  #startOver(path: string): Observable<never> {
    this.#record.keep();
    const text =
      `${path} was removed before all that was written to it was committed: what the last commit lacks is written ` +
      'again to a new file. A copy that was made of the file may hold it as well';
    return throwError(() => new PluginError(text));
  }
}
