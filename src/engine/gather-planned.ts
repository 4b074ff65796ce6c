import { filter, interval, merge, Observable, type OperatorFunction, type Subscription, take } from 'rxjs';
import { longTimer } from '../../operators/index.ts';
import { subscribeFor } from '../../operators/internal.ts';
import { type Batch, Batches } from './batches.ts';
import type { CallPlan } from './call-plan.ts';
import { CallPump } from './call-pump.ts';

/** Milliseconds between two checks of the window while events wait. */
const CHECK_INTERVAL_MS = 100;
/** Milliseconds after which a call of the last run is given up, if more of its events could come and none does. */
const REPEAT_TIMEOUT_MS = 10_000;

interface GatherPlannedOptions {
  readonly events: number;
  /** Seconds that events wait for more. */
  readonly seconds: number;
  readonly plan: CallPlan;
  readonly isWindowFull: () => boolean;
  /** Told that the events of a source are not those of the last run. */
  readonly onChanged: () => void;
}

/** The events of one source that wait for a call. */
interface Waiting {
  list: Batch[];
  events: number;
  isDue: boolean;
  /** Milliseconds for which no event came to a call of the last run, although it could. */
  idleMs: number;
  deadline: Subscription | undefined;
}

/**
 * Sends what arrives as a {@link CallPlan} says: in calls of one source, one at a time, and first those of the last run
 * again, with the same events. `isDelivered` says that the call was successful then, and need not be made.
 *
 * Errors with the source, and with what `send` throws or emits as an error.
 */
export function gatherPlanned(
  send: (batches: Batches, id: string, isDelivered: boolean) => readonly never[] | Observable<never>,
  { events: most, seconds, plan, isWindowFull, onChanged }: GatherPlannedOptions,
): OperatorFunction<Batch, never> {
  return (source$) =>
    new Observable<never>((subscriber) => {
      const sources = new Map<string, Waiting>();
      let endedCalls = 0;

      const add = (batch: Batch) => {
        const source = plan.arrived(batch.rows.size, batch.delivery);
        let waiting = sources.get(source);
        if (waiting === undefined) {
          waiting = { list: [], events: 0, isDue: false, idleMs: 0, deadline: undefined };
          sources.set(source, waiting);
        }
        waiting.list.push(batch);
        waiting.events += batch.rows.size;
        waiting.idleMs = 0;
        wait(source, waiting);
      };

      const wait = (source: string, waiting: Waiting) => {
        const isRepeated = plan.repeated(source) !== undefined;
        waiting.isDue ||= !isRepeated && (seconds === 0 || isWindowFull());
        if (waiting.isDue || waiting.deadline !== undefined) return;
        const check$ = interval(CHECK_INTERVAL_MS);
        const isOver$ = isRepeated
          ? check$.pipe(filter(repeatTimeout(waiting)))
          : merge(longTimer(seconds * 1000), check$.pipe(filter(isWindowFull)));
        waiting.deadline = isOver$.pipe(take(1)).subscribe(() => {
          waiting.isDue = true;
          pump.run();
        });
        subscriber.add(waiting.deadline);
      };

      /**
       * To be called at each check: whether a call of the last run has waited too long. The time does not count while one
       * call takes long, or while a call is being made and the window is full: then the events may come after it.
       */
      const repeatTimeout = (waiting: Waiting) => {
        let endedBefore = endedCalls;
        return () => {
          const couldCome = !pump.isBusy || (endedCalls > endedBefore && !isWindowFull());
          endedBefore = endedCalls;
          if (couldCome) waiting.idleMs += CHECK_INTERVAL_MS;
          return waiting.idleMs >= REPEAT_TIMEOUT_MS;
        };
      };

      /** The first `count` events of a source. */
      const takeEvents = (source: string, waiting: Waiting, count: number): Batches => {
        const batches = new Batches(waiting.list);
        waiting.list = [...batches.slice(count).list];
        waiting.events -= count;
        waiting.isDue = false;
        waiting.idleMs = 0;
        waiting.deadline?.unsubscribe();
        waiting.deadline = undefined;
        if (waiting.events === 0) sources.delete(source);
        return batches.slice(0, count);
      };

      /** The next call of a source, if it is complete or need not be. */
      const callOf = (source: string, waiting: Waiting) => {
        const repeated = plan.repeated(source);
        const isOver = waiting.isDue || pump.hasEnded;
        if (repeated !== undefined) {
          if (waiting.events < repeated.events && !isOver) return undefined;
          const first =
            waiting.events < repeated.events
              ? undefined
              : new Batches(waiting.list).slice(0, repeated.events);
          const path = waiting.list[0]?.delivery.root.origin?.path;
          if (first !== undefined && plan.repeat(source, first, path)) {
            const batches = takeEvents(source, waiting, repeated.events);
            return { batches, id: repeated.id, isDelivered: repeated.isDelivered };
          }
          onChanged();
          plan.abandon(source);
        }
        if (waiting.events < most && !isOver && seconds > 0) return undefined;
        const batches = takeEvents(source, waiting, Math.min(most, waiting.events));
        const path = batches.list[0]?.delivery.root.origin?.path;
        return { batches, id: plan.begin(source, batches, path), isDelivered: false };
      };

      const next = () => {
        for (const [source, waiting] of [...sources]) {
          const call = callOf(source, waiting);
          if (waiting.events > 0) {
            // After the others: now it is their turn.
            sources.delete(source);
            sources.set(source, waiting);
            wait(source, waiting);
          }
          if (call !== undefined) return call;
        }
        return undefined;
      };

      const pump = new CallPump(subscriber, {
        concurrency: 1,
        next,
        send: ({ batches, id, isDelivered }) => send(batches, id, isDelivered),
        isEmpty: () => sources.size === 0,
        onEnded: () => void endedCalls++,
      });

      subscribeFor(subscriber, source$, {
        next: (batch) => {
          add(batch);
          pump.run();
        },
        error: (error) => subscriber.error(error),
        complete: () => pump.end(),
      });
    });
}
