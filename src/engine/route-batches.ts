import { map, type Observable, type OperatorFunction } from 'rxjs';
import { selectRows } from '../rows/select-rows.ts';
import type { RouteCondition } from '../sdk/config.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { Batch } from './batches.ts';
import type { Delivery } from './delivery.ts';

/** What each forwarder gets of a batch, in the order of the forwarders; undefined for nothing. */
export type RoutedBatch = readonly (Batch | undefined)[];

interface RouteOptions {
  /** The condition of each forwarder; undefined for one that gets every event. */
  readonly conditions: readonly (RouteCondition | undefined)[];
  /** Takes the events that no forwarder gets, which are acknowledged. */
  readonly onUnrouted: (count: number, events: () => readonly CollectedEvent[]) => void;
  /** Takes an event for which the condition of a forwarder cannot be evaluated: that forwarder does not get it. */
  readonly onFailure: (route: number, event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/**
 * Decides for each event which forwarders get it. Its delivery is open until each of them has acknowledged it. All
 * conditions are evaluated before any forwarder gets an event of the batch.
 */
export function routeBatches(options: RouteOptions): OperatorFunction<Batch, RoutedBatch> {
  return (batch$: Observable<Batch>) => batch$.pipe(map((batch) => route(batch, options)));
}

function route({ rows, delivery }: Batch, { conditions, onUnrouted, onFailure }: RouteOptions): RoutedBatch {
  const selections = conditions.map((condition) =>
    condition === undefined ? { selected: rows, excluded: [], failures: [] } : selectRows(rows, condition),
  );
  const unrouted = excludedByAll(selections.map(({ excluded }) => excluded));
  const outcomes = selections.map(({ selected, failures }) => failures.length + selected.size);
  delivery.add(outcomes.reduce((sum, count) => sum + count, unrouted.length - rows.size));
  const eventAt = (position: number) => rows.events[position] as CollectedEvent;
  selections.forEach(({ failures }, index) => {
    for (const [at, error] of failures) onFailure(index, eventAt(at), delivery, error);
  });
  if (unrouted.length > 0) {
    onUnrouted(unrouted.length, () => unrouted.map(eventAt));
    delivery.acknowledge(unrouted.length, 'dropped');
  }
  return selections.map(({ selected }) => (selected.size === 0 ? undefined : { rows: selected, delivery }));
}

function excludedByAll([first = [], ...others]: readonly (readonly number[])[]): readonly number[] {
  const sets = others.map((excluded) => new Set(excluded));
  return first.filter((position) => sets.every((set) => set.has(position)));
}
