import { type Observable, Subject } from 'rxjs';
import { isoNow } from '../../operators/internal.ts';
import { safeReason } from '../sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../sdk/events.ts';
import type { GivenUp } from './acknowledgement.ts';
import { type Batch, batchOf } from './batches.ts';
import { type Delivery, originOf } from './delivery.ts';
import type { Observers, PluginFailure, StagePlace } from './observer.ts';

interface DeadLettersOptions {
  readonly pipeline: string;
  /** Takes the values of variables and secrets of the configuration out of a text, as the logger does. */
  readonly withheld: (text: string) => string;
  readonly observer: Observers;
  /** Whether the pipeline has a dead letter; without one, what fails is counted as dropped. */
  readonly isOpen: boolean;
  /** The processors in their order, and which of them mask. */
  readonly processors: readonly StagePlace[];
  readonly masks: readonly boolean[];
  /** What may be shown of an event that has passed all masks; throws if that cannot be told. */
  readonly cut: (event: CollectedEvent, delivery: Delivery) => CollectedEvent;
}

/** An event that a plugin failed on, with its part of the delivery. */
type Failure = [event: CollectedEvent, delivery: Delivery, error: unknown, how?: GivenUp];

const UNCUT = { withheld: 'the event came of a line that was cut, and its own end could not be taken off' };

/** Takes the events that a plugin failed on: to the dead letter if there is one, else they are dropped. */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  readonly #batch$ = new Subject<Batch>();

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
  processorFailed(index: number, ...failure: Failure): void {
    const { processors, masks, cut } = this.#options;
    const [event, delivery] = failure;
    const unmasked = masks.indexOf(true, index);
    const place = processors[index] as StagePlace;
    const content = () => {
      if (unmasked !== -1)
        return { withheld: `the event had not passed the mask ${processors[unmasked]?.name}` };
      try {
        return { event: cut(event, delivery) };
      } catch {
        return UNCUT;
      }
    };
    this.#take(place, 'processor_failed', `failed on an event${originOf(delivery)}`, failure, content);
  }

  /** What a collector could not make events of: no mask has seen it. */
  collectorFailed(place: StagePlace, ...failure: Failure): void {
    const { processors, masks } = this.#options;
    const [event, delivery] = failure;
    const mask = masks.indexOf(true);
    const what = `could not read what it got${originOf(delivery)}`;
    this.#take(place, 'collector_failed', what, failure, () =>
      mask === -1 ? { event } : { withheld: `it had not passed the mask ${processors[mask]?.name}` },
    );
  }

  /** An event of a truncated line that cannot be cut after the last processor. */
  cutFailed(...failure: Failure): void {
    const { pipeline, processors } = this.#options;
    const place: StagePlace = processors.at(-1) ?? { kind: 'process', name: pipeline };
    const what = `gave an event of a line that was cut${originOf(failure[1])}, and it could not be cut`;
    this.#take(place, 'processor_failed', what, failure, () => UNCUT);
  }

  forwarderFailed(place: StagePlace, ...failure: Failure): void {
    const [event, delivery] = failure;
    const what = `gave up on an event${originOf(delivery)}`;
    this.#take(place, 'forwarder_failed', what, failure, () => ({ event }));
  }

  /** The condition of a forwarder could not be evaluated: for this forwarder the event has failed. */
  routeFailed(place: StagePlace, ...failure: Failure): void {
    const [event, delivery] = failure;
    const what = `has a condition that failed on an event${originOf(delivery)}`;
    this.#take(place, 'route_failed', what, failure, () => ({ event }));
  }

  /** The dead letter itself refused an entry for good. */
  lost(place: StagePlace, ...[entry, delivery, error]: Failure): void {
    this.#drop(place, { error, reason: 'forwarder_failed', what: 'refused an entry' }, entry, delivery);
  }

  /** `what` is what the plugin did, for the log; `content` what the entry may show of the event. */
  #take(
    place: StagePlace,
    reason: PluginFailure['reason'],
    what: string,
    [event, delivery, error, how]: Failure,
    content: () => Record<string, unknown>,
  ): void {
    const { pipeline, withheld, observer, isOpen } = this.#options;
    if (!isOpen) {
      this.#drop(place, { error, reason, what }, event, delivery, how);
      return;
    }
    observer.pluginFailed(place, { error, reason, what });
    const entry = collectedEvent({
      error: withheld(safeReason(error)),
      pipeline,
      plugin: place.name,
      kind: place.kind,
      time: isoNow(),
      ...content(),
    });
    observer.deadLettered(place, event, entry);
    this.#batch$.next(batchOf([entry], delivery));
  }

  #drop(
    place: StagePlace,
    failure: PluginFailure,
    event: CollectedEvent,
    delivery: Delivery,
    how: GivenUp = 'refused',
  ): void {
    const { observer } = this.#options;
    observer.pluginFailed(place, failure);
    observer.dropped(place, failure.reason, 1, () => [event]);
    delivery.acknowledge(1, how);
  }
}
