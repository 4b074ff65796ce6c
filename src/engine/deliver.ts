import type { CollectedEvent } from '../sdk/events.ts';
import { startCall } from './attempts.ts';
import { Batches, batchOf } from './batches.ts';
import { type Deliveries, DONE, deliverGroup, deliverGroups, type ForwarderStage } from './deliver-group.ts';

/**
 * Delivers events by one call if the forwarder can take several. If `isEachAlone`, there is a call for each event: with a
 * single attempt, one bad event must not fail the others.
 */
export function deliver(batches: Batches, stage: ForwarderStage, isEachAlone: boolean): Deliveries {
  const { calls } = stage;
  const inOneCall = calls.takesBatches && !isEachAlone && !calls.isSingle(batches);
  return inOneCall ? deliverGroup(batches, stage) : deliverEach(batches, stage);
}

/** Creates no group for an event whose call succeeds at once. */
function deliverEach(batches: Batches, stage: ForwarderStage): Deliveries {
  const { calls, acknowledgement, policy, nextId } = stage;
  const { forward } = calls.functions;
  const startedAt = calls.now;
  let succeeded = 0;
  for (const batch of batches.list) {
    const { rows, delivery } = batch;
    const { events } = rows;
    const idAt = calls.eventIdsOf(new Batches([batch]));
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as CollectedEvent;
      const id = nextId();
      const eventIds = idAt && (() => idAt(i));
      const started = startCall(() => forward(event, id, undefined, eventIds), policy);
      if (started !== 'succeeded') {
        calls.tellSucceeded(succeeded, batches, startedAt);
        const pending = deliverGroup(oneOf(batches, succeeded), stage, { id, started });
        const later = Array.from({ length: batches.size - succeeded - 1 }, (_, n) => succeeded + 1 + n);
        const rest = later.map((position) => () => deliverGroup(oneOf(batches, position), stage));
        return deliverGroups([() => pending, ...rest], stage);
      }
      acknowledgement.delivered(batchOf([event], delivery));
      succeeded++;
    }
  }
  calls.tellSucceeded(succeeded, batches, startedAt);
  return DONE;
}

const oneOf = (batches: Batches, position: number) => batches.slice(position, position + 1);
