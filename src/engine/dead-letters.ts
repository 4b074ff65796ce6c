import { type Observable, Subject } from 'rxjs';
import { isoNow } from '../../operators/support/clock.ts';
import type { Logger } from '../sdk/context.ts';
import { safeReason } from '../sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../sdk/events.ts';
import { type Batch, type Delivery, originOf } from './delivery.ts';
import { FailureLog } from './failure-log.ts';
import type { PipelineProbe, StagePlace } from './probe.ts';
import type { EntryCounters } from './stats.ts';

interface DeadLettersOptions {
  readonly pipeline: string;
  readonly logger: Logger;
  /** Takes the values of variables and secrets of the configuration out of a text, as the logger does. */
  readonly withheld: (text: string) => string;
  /** The counters of the entry at a place. */
  readonly entryAt: (place: StagePlace) => EntryCounters;
  readonly probe: PipelineProbe | undefined;
  /** Whether the pipeline has a dead letter; without one, what fails is counted as dropped. */
  readonly isOpen: boolean;
  /** Names of the processors in their order, and which of them mask. */
  readonly processors: readonly string[];
  readonly masks: readonly boolean[];
  /** What may be shown of an event that has passed all masks; throws if that cannot be told. */
  readonly cut: (event: CollectedEvent, delivery: Delivery) => CollectedEvent;
}

const KINDS: Readonly<Record<StagePlace['kind'], string>> = {
  collect: 'collector',
  process: 'processor',
  forward: 'forwarder',
  dead_letter: 'dead letter',
};

/** An event that a plugin failed on, with its part of the delivery. */
type Failure = [event: CollectedEvent, delivery: Delivery, error: unknown];

const UNCUT = { withheld: 'the event came of a line that was cut, and its own end could not be taken off' };

/** Takes the events that a plugin failed on: to the dead letter if there is one, else they are dropped. */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #batch$ = new Subject<Batch>();
  /** By plugin. */
  readonly #logs = new Map<EntryCounters, FailureLog>();

  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  /** Entries for the dead letter's forwarder: `{ error, pipeline, plugin, kind, time, event }`. */
  get batch$(): Observable<Batch> {
    return this.#batch$.asObservable();
  }

  close(): void {
    this.#batch$.complete();
  }

  /** To be called at the end of the run, however it ends. */
  closeLogs(): void {
    for (const log of this.#logs.values()) log.close();
  }

  /** An event that has not passed every mask is withheld: the entry tells of the failure only. */
  processorFailed(index: number, ...failure: Failure): void {
    const { processors, masks, cut } = this.#options;
    const [event, delivery] = failure;
    const unmasked = masks.indexOf(true, index);
    const place: StagePlace = { kind: 'process', name: processors[index] as string };
    const content = () => {
      if (unmasked !== -1) return { withheld: `the event had not passed the mask ${processors[unmasked]}` };
      try {
        return { event: cut(event, delivery) };
      } catch {
        return UNCUT;
      }
    };
    this.#take(place, 'processor_failed', `failed on an event${originOf(delivery)}`, failure, content);
  }

  /** What a collector could not make events of: no mask has seen it. */
  collectorFailed(name: string, ...failure: Failure): void {
    const { processors, masks } = this.#options;
    const [event, delivery] = failure;
    const mask = masks.indexOf(true);
    const what = `could not read what it got${originOf(delivery)}`;
    this.#take({ kind: 'collect', name }, 'collector_failed', what, failure, () =>
      mask === -1 ? { event } : { withheld: `it had not passed the mask ${processors[mask]}` },
    );
  }

  /** An event that came of a truncated line and cannot be cut, behind the last processor. */
  cutFailed(...failure: Failure): void {
    const { pipeline, processors } = this.#options;
    const place: StagePlace = { kind: 'process', name: processors.at(-1) ?? pipeline };
    const what = `gave an event of a line that was cut${originOf(failure[1])}, and it could not be cut`;
    this.#take(place, 'processor_failed', what, failure, () => UNCUT);
  }

  forwarderFailed(name: string, ...failure: Failure): void {
    const [event, delivery] = failure;
    const what = `gave up on an event${originOf(delivery)}`;
    this.#take({ kind: 'forward', name }, 'forwarder_failed', what, failure, () => ({ event }));
  }

  /** The condition of a forwarder could not be evaluated: for this forwarder the event has failed. */
  routeFailed(name: string, ...failure: Failure): void {
    const [event, delivery] = failure;
    const what = `has a condition that failed on an event${originOf(delivery)}`;
    this.#take({ kind: 'forward', name }, 'route_failed', what, failure, () => ({ event }));
  }

  /** The dead letter itself refused an entry for good. */
  lost(name: string, ...[entry, delivery, error]: Failure): void {
    const { entryAt, probe } = this.#options;
    const place: StagePlace = { kind: 'dead_letter', name };
    this.#log(place, 'refused an entry', error);
    const counters = entryAt(place);
    counters.failed++;
    counters.drop('forwarder_failed', 1);
    probe?.dropped?.(place, 'forwarder_failed', [entry]);
    delivery.acknowledge(1, 'failed');
  }

  /** `what` is what the plugin did, for the log; `content` what the entry may show of the event. */
  #take(
    place: StagePlace,
    reason: 'collector_failed' | 'processor_failed' | 'forwarder_failed' | 'route_failed',
    what: string,
    [event, delivery, error]: Failure,
    content: () => Record<string, unknown>,
  ): void {
    const { pipeline, withheld, entryAt, probe, isOpen } = this.#options;
    this.#log(place, what, error);
    const failed = entryAt(place);
    // A forwarder has not received an event on which its condition failed.
    if (reason !== 'route_failed') failed.failed++;
    probe?.pluginFailed?.(place, error);
    if (!isOpen) {
      failed.drop(reason, 1);
      probe?.dropped?.(place, reason, [event]);
      delivery.acknowledge(1, 'failed');
      return;
    }
    failed.deadLettered++;
    const entry = collectedEvent({
      error: withheld(safeReason(error)),
      pipeline,
      plugin: place.name,
      kind: place.kind,
      time: isoNow(),
      ...content(),
    });
    probe?.deadLettered?.(place, event, entry);
    this.#batch$.next({ events: [entry], delivery });
  }

  #log(place: StagePlace, what: string, error: unknown): void {
    const { logger, pipeline, entryAt } = this.#options;
    const entry = entryAt(place);
    const name = `${pipeline}: ${KINDS[place.kind]} ${place.name}`;
    let log = this.#logs.get(entry);
    if (log === undefined) {
      log = new FailureLog({
        warn: (message) => logger.error(message),
        info: (message) => logger.info(`${name}: ${message}`),
        verb: 'failed',
        received: () => entry.received,
      });
      this.#logs.set(entry, log);
    }
    log.failed((often) => `${name} ${what}${often}: ${safeReason(error)}`);
  }
}
