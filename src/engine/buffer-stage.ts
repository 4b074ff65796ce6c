import { concatMap, type MonoTypeOperatorFunction, merge, type Observable, takeUntil, tap } from 'rxjs';
import type { EventBuffer } from '../buffer/event-buffer.ts';
import { type DiskBufferConfig, memoryBufferOf } from '../sdk/config.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { GivenUp } from './acknowledgement.ts';
import type { Batch } from './batches.ts';
import { collectStage } from './collect-stage.ts';
import type { Delivery } from './delivery.ts';
import { forwardTo } from './forward-stage.ts';
import type { StagePlace } from './observer.ts';
import type { RunScope } from './run-scope.ts';

interface BufferStageOptions {
  /** Ends the reading: what is not acknowledged then is kept for the next run. */
  readonly end$: Observable<unknown>;
  /** All that was collected is written. */
  readonly onWritten: () => void;
  /** Takes an event that cannot be written to a buffer at all. */
  readonly onFailure: (
    place: StagePlace,
    event: CollectedEvent,
    delivery: Delivery,
    error: unknown,
    how: GivenUp,
  ) => void;
}

/**
 * A buffer on disk in the middle of a pipeline: a forwarder into it, which acknowledges events as soon as they are durable,
 * and a collector out of it, with a window of its own. The forwarder gathers what waits while the disk confirms the last
 * write, so that many sources share one confirmation.
 *
 * Completes when the source has completed and all events are read, or when `end$` has emitted. Errors if the buffer cannot
 * be opened.
 */
export function bufferStage(
  scope: RunScope,
  config: DiskBufferConfig,
  { end$, onWritten, onFailure }: BufferStageOptions,
): MonoTypeOperatorFunction<Batch> {
  const { setup, observer } = scope;
  const { shared, counters } = setup;
  const { clock } = counters;
  const place = scope.place('buffer', 'buffer');

  const write = ({ functions }: EventBuffer) =>
    forwardTo(
      { who: 'the buffer', functions, batching: undefined, attempts: undefined, timeout: undefined },
      {
        place,
        ordered: true,
        shared,
        demand: scope.window,
        observer,
        clock,
        onFailure: (...failure) => onFailure(place, ...failure),
        giveUpAfter: setup.giveUpAfter,
      },
    );

  const read = (buffer: EventBuffer) =>
    buffer.read(scope.deliveryWindow).pipe(
      takeUntil(end$),
      collectStage({
        place,
        window: scope.deliveryWindow,
        buffer: memoryBufferOf(setup.config),
        clock,
        observer,
        // All that was written is an event, and a buffer is never wrong about what is acknowledged.
        onRefused: () => {},
        onAcknowledgeFailed: () => {},
      }),
    );

  return (batches$) =>
    scope.openBuffer(config, place).pipe(
      concatMap((buffer) => {
        const ended = () => {
          buffer.end();
          onWritten();
        };
        return merge(batches$.pipe(write(buffer), tap({ complete: ended })), read(buffer));
      }),
    );
}
