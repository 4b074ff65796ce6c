import { type Observable, Subject } from 'rxjs';
import type { Logger } from '../sdk/context.ts';
import { isNoteworthy, safeReason } from '../sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../sdk/events.ts';
import { isoNow } from '../sdk/time.ts';
import { type Batch, type Delivery, originOf } from './delivery.ts';
import type { PipelineProbe, StagePlace } from './probe.ts';
import type { EntryCounters, PipelineCounters } from './stats.ts';

export interface DeadLettersOptions {
  readonly pipeline: string;
  readonly logger: Logger;
  readonly counters: PipelineCounters;
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

const UNCUT = { withheld: 'the event came of a line that was cut, and its own end could not be taken off' };

/** Takes the events that a plugin failed on: to the dead letter if there is one, else they are dropped. */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #batch$ = new Subject<Batch>();
  #failures = 0;

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

  /** An event that has not passed every mask is withheld: the entry tells of the failure only. */
  processorFailed(index: number, event: CollectedEvent, delivery: Delivery, error: unknown): void {
    const { processors, masks, cut } = this.#options;
    const plugin = processors[index] as string;
    const unmasked = masks.indexOf(true, index);
    const shown = () => {
      try {
        return { event: cut(event, delivery) };
      } catch {
        return UNCUT;
      }
    };
    this.#log(`processor ${plugin} failed on an event${originOf(delivery)}`, error);
    this.#take('processor_failed', { kind: 'process', name: plugin }, event, delivery, error, () =>
      unmasked === -1 ? shown() : { withheld: `the event had not passed the mask ${processors[unmasked]}` },
    );
  }

  /** What a collector could not make events of: no mask has seen it. */
  collectorFailed(plugin: string, event: CollectedEvent, delivery: Delivery, error: unknown): void {
    const { processors, masks } = this.#options;
    const mask = masks.indexOf(true);
    this.#log(`collector ${plugin} could not read what it got${originOf(delivery)}`, error);
    this.#take('collector_failed', { kind: 'collect', name: plugin }, event, delivery, error, () =>
      mask === -1 ? { event } : { withheld: `it had not passed the mask ${processors[mask]}` },
    );
  }

  /** An event that came of a truncated line and cannot be cut, behind the last processor. */
  cutFailed(event: CollectedEvent, delivery: Delivery, error: unknown): void {
    const { pipeline, processors } = this.#options;
    const name = processors.at(-1) ?? pipeline;
    this.#log(
      `an event of a line that was cut could not be shown behind ${name}${originOf(delivery)}`,
      error,
    );
    this.#take('processor_failed', { kind: 'process', name }, event, delivery, error, () => UNCUT);
  }

  forwarderFailed(plugin: string, event: CollectedEvent, delivery: Delivery, error: unknown): void {
    this.#log(`forwarder ${plugin} gave up on an event${originOf(delivery)}`, error);
    this.#take('forwarder_failed', { kind: 'forward', name: plugin }, event, delivery, error, () => ({
      event,
    }));
  }

  /** The condition of a forwarder could not be evaluated: for this forwarder the event has failed. */
  routeFailed(plugin: string, event: CollectedEvent, delivery: Delivery, error: unknown): void {
    this.#log(`the condition of forwarder ${plugin} failed on an event${originOf(delivery)}`, error);
    this.#take('route_failed', { kind: 'forward', name: plugin }, event, delivery, error, () => ({ event }));
  }

  /** The dead letter itself refused an entry for good. */
  lost(plugin: string, entry: CollectedEvent, delivery: Delivery, error: unknown): void {
    const { counters, entryAt, probe } = this.#options;
    this.#log(`dead letter ${plugin} refused an entry`, error);
    const at = entryAt({ kind: 'dead_letter', name: plugin });
    at.failed++;
    counters.drop(at, 'forwarder_failed', 1);
    probe?.dropped({ kind: 'dead_letter', name: plugin }, 'forwarder_failed', [entry]);
    delivery.acknowledge(1, 'failed');
  }

  #take(
    reason: 'collector_failed' | 'processor_failed' | 'forwarder_failed' | 'route_failed',
    place: StagePlace,
    event: CollectedEvent,
    delivery: Delivery,
    error: unknown,
    content: () => Record<string, unknown>,
  ): void {
    const { pipeline, counters, entryAt, probe, isOpen } = this.#options;
    const failed = entryAt(place);
    failed.failed++;
    probe?.pluginFailed(place, error);
    if (!isOpen) {
      counters.drop(failed, reason, 1);
      probe?.dropped(place, reason, [event]);
      delivery.acknowledge(1, 'failed');
      return;
    }
    failed.deadLettered++;
    const entry = collectedEvent({
      error: safeReason(error),
      pipeline,
      plugin: place.name,
      kind: place.kind,
      time: isoNow(),
      ...content(),
    });
    probe?.deadLettered(place, event, entry);
    this.#batch$.next({ events: [entry], delivery });
  }

  #log(what: string, error: unknown): void {
    this.#failures++;
    if (!isNoteworthy(this.#failures)) return;
    const { logger, pipeline } = this.#options;
    const often = this.#failures > 3 ? ` (failure ${this.#failures} of this run)` : '';
    logger.error(`${pipeline}: ${what}${often}: ${safeReason(error)}`);
  }
}
