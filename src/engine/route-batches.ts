import { map, type Observable, type OperatorFunction } from 'rxjs';
import { processLines } from '../lines/process-lines.ts';
import type { RouteCondition } from '../sdk/config.ts';
import { LineEvents } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineMapping } from '../sdk/plugin.ts';
import { type Batch, type Delivery, LazyBatch, sizeOf } from './delivery.ts';

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

/** The positions of the events of a batch that a forwarder does not get, and why. */
interface Selection {
  readonly batch: Batch | undefined;
  readonly excluded: readonly number[];
  readonly failures: readonly (readonly [index: number, error: unknown])[];
}

/**
 * Decides for each event which forwarders get it. Its delivery is open until each of them has acknowledged it. All
 * conditions are evaluated before any forwarder gets an event of the batch.
 */
export function routeBatches(options: RouteOptions): OperatorFunction<Batch, RoutedBatch> {
  return (batch$: Observable<Batch>) => batch$.pipe(map((batch) => route(batch, options)));
}

function route(batch: Batch, { conditions, onUnrouted, onFailure }: RouteOptions): RoutedBatch {
  const { delivery } = batch;
  const selections = conditions.map((condition) => select(batch, condition));
  const unrouted = excludedByAll(selections);
  const outcomes = selections.map(({ batch: selected, failures }) => failures.length + sizeOrNone(selected));
  delivery.add(outcomes.reduce((sum, count) => sum + count, unrouted.length - sizeOf(batch)));
  const eventAt = (index: number) => batch.events[index] as CollectedEvent;
  selections.forEach(({ failures }, index) => {
    for (const [at, error] of failures) onFailure(index, eventAt(at), delivery, error);
  });
  if (unrouted.length > 0) {
    onUnrouted(unrouted.length, () => unrouted.map(eventAt));
    delivery.acknowledge(unrouted.length, 'dropped');
  }
  return selections.map((selection) => selection.batch);
}

function select(batch: Batch, condition: RouteCondition | undefined): Selection {
  if (condition === undefined) return { batch, excluded: [], failures: [] };
  const { lazy, delivery } = batch;
  const { holdsForLine, holdsInText } = condition;
  if (lazy instanceof LineEvents && holdsForLine !== undefined) {
    const map = (line: string) => (holdsForLine(line) ? line : undefined);
    return selectLines(lazy, { map, keeps: holdsForLine, keepsIn: holdsInText }, delivery);
  }
  const excluded: number[] = [];
  const failures: [number, unknown][] = [];
  const events = batch.events.filter((event, index) => {
    try {
      if (condition.holds(event)) return true;
      excluded.push(index);
    } catch (error) {
      failures.push([index, error]);
    }
    return false;
  });
  // A batch that passes as a whole stays bytes, if it is bytes.
  if (events.length === sizeOf(batch)) return { batch, excluded, failures };
  return { batch: events.length === 0 ? undefined : { events, delivery }, excluded, failures };
}

function selectLines(lines: LineEvents, mapping: LineMapping, delivery: Delivery): Selection {
  let excluded: readonly number[] = [];
  const failures: [number, unknown][] = [];
  const selected = processLines(lines, mapping, {
    failed: (index, error) => failures.push([index, error]),
    dropped: (_, indexes) => {
      excluded = indexes();
    },
  });
  return {
    batch: selected.size === 0 ? undefined : new LazyBatch(selected, delivery),
    excluded,
    failures,
  };
}

function excludedByAll([first, ...others]: readonly Selection[]): readonly number[] {
  const sets = others.map(({ excluded }) => new Set(excluded));
  return (first?.excluded ?? []).filter((index) => sets.every((set) => set.has(index)));
}

const sizeOrNone = (batch: Batch | undefined) => (batch === undefined ? 0 : sizeOf(batch));
