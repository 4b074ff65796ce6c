import { asyncScheduler, Observable, Subscription } from 'rxjs';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import { EventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { CollectPlugin, ConfigSchema } from '../sdk/plugin.ts';

/** Configurations were checked against the real plugin's schema before it was replaced. */
export const anything = (): ConfigSchema => ({ safeParse: (data) => ({ success: true, data }) });

/** An event that a collector emits at a time. */
export interface TimedValue {
  /** Virtual milliseconds from the start of the run. */
  readonly at: number;
  /** What the event is, as in marbles: a line, data, or a whole event. */
  readonly value: unknown;
  /** Its letter in drawings. Default: one that is free. */
  readonly letter?: string;
}

/** What a collector emits in a run. */
export interface CollectorRow {
  readonly entries: readonly TimedValue[];
  readonly end: { readonly at: number; readonly kind: 'completed' | 'failed' } | undefined;
}

interface StandInCollectorOptions {
  readonly rows: readonly CollectorRow[];
  /** Whether each run sees a row of its own; one beyond the last completes at once. Default: all see the first one. */
  readonly isOnePerRun?: boolean;
  /** @param position in all that it emits, from 0; the same for what it emits again after a restart */
  readonly makeEvent: (value: TimedValue, position: number) => CollectedEvent;
  /** The error of `#`. */
  readonly failure: (run: number) => unknown;
  readonly onEnd: () => void;
  /** By how much later than it should something happens: milliseconds. */
  readonly jitter: () => number;
}

/** Lines that a collector of lines emits in one batch, at most. */
const BATCH_EVENTS = 1024;

/** An event that waits to be collected, from a time on. */
interface Item {
  readonly due: number;
  readonly timed: TimedValue;
}

/**
 * Emits the events of marbles as the collector that it stands in for would: one that heeds `ctx.demand` lets events wait
 * for room, another one emits them when they are due. After a restart, a collector with checkpoints goes on behind what was
 * acknowledged, and another one starts its marbles again.
 */
export function standInCollector(
  plugin: CollectPlugin,
  { rows, isOnePerRun = false, makeEvent, failure, onEnd, jitter }: StandInCollectorOptions,
): CollectPlugin {
  const waits = heedsDemand(plugin);
  const resumes = resumesAfterRestart(plugin);
  /** All that there has been to collect; the position in it is kept where the real collector keeps its own. */
  const log: Item[] = [];
  let runs = 0;
  let emitted = 0;

  return {
    get_config_schema: anything,
    readsStdin: plugin.readsStdin === true,
    collect: ({ ctx }: { ctx: PipelineRunContext }) =>
      new Observable<CollectedEvent | EventBatch>((subscriber) => {
        const run = runs++;
        const start = asyncScheduler.now();
        const row = (isOnePerRun ? rows[run] : rows[0]) ?? NO_EVENTS;
        const isNew = !resumes || run === 0 || isOnePerRun;
        const items = resumes ? log : [];
        if (isNew) addItems(items, row, start, jitter);
        const endLater = jitter();
        let next = resumes ? positionOf(ctx.state) : 0;
        let timer = Subscription.EMPTY;
        let isRunning = false;

        const end = () => {
          if (row.end?.kind === 'failed') subscriber.error(failure(run));
          else if (row.end !== undefined) {
            onEnd();
            subscriber.complete();
          }
        };

        /** Emits what is due and has room. Returns when to go on; undefined if that is for the room to say. */
        const emitDue = (): number | undefined => {
          while (!subscriber.closed) {
            const now = asyncScheduler.now();
            const item = items[next];
            if (item === undefined) return endsAt(row, start + endLater, isNew);
            if (item.due > now) return item.due;
            if (waits && ctx.demand.room === 0) return undefined;
            if (!resumes) {
              next++;
              subscriber.next(makeEvent(item.timed, emitted++));
              continue;
            }
            const most = waits ? Math.min(BATCH_EVENTS, ctx.demand.room) : 1;
            const from = next;
            while (next < items.length && next - from < most && (items[next] as Item).due <= now) next++;
            const events = items.slice(from, next).map(({ timed }, index) => makeEvent(timed, from + index));
            const position = next;
            subscriber.next(new EventBatch(events, () => ctx.state.set(POSITION, position)));
          }
          return undefined;
        };

        const go = () => {
          // What is acknowledged while it is emitted makes room: that is used by the loop, not by recursion. It ends once.
          if (isRunning || subscriber.closed) return;
          isRunning = true;
          timer.unsubscribe();
          const at = emitDue();
          if (at !== undefined && !subscriber.closed) {
            const wait = Math.max(0, at - asyncScheduler.now());
            if (next >= items.length && wait === 0) end();
            else timer = asyncScheduler.schedule(go, wait);
          }
          isRunning = false;
        };

        subscriber.add(() => timer.unsubscribe());
        if (waits) subscriber.add(ctx.demand.room$.subscribe(go));
        go();
      }),
  };
}

/** The order of the events of a collector is its own: only others can come between them. */
function addItems(items: Item[], { entries }: CollectorRow, start: number, jitter: () => number): void {
  let due = 0;
  let last: number | undefined;
  for (const timed of entries) {
    if (timed.at !== last) due = Math.max(due, start + timed.at + jitter());
    last = timed.at;
    items.push({ due, timed });
  }
}

/** Whether a run goes on behind what was acknowledged in the one before. */
export function resumesAfterRestart({ usesState, readsStdin, redelivers }: CollectPlugin): boolean {
  return usesState !== false || readsStdin === true || redelivers === true;
}

const POSITION = 'position';

function positionOf(state: CollectorState): number {
  return (state.get(POSITION) as number | undefined) ?? 0;
}

const NO_EVENTS: CollectorRow = { entries: [], end: { at: 0, kind: 'completed' } };

/** A row that goes on after a restart ends with its last event; where it fails, it does so after the same time as before. */
function endsAt({ end }: CollectorRow, start: number, isNew: boolean): number | undefined {
  if (end === undefined) return undefined;
  return isNew || end.kind === 'failed' ? start + end.at : start;
}

/** Iterables are pulled when there is room, so that a generator cannot but wait. */
function heedsDemand({ heedsDemand, collect }: CollectPlugin): boolean {
  return heedsDemand ?? /^(?:Async)?GeneratorFunction$/.test(collect.constructor.name);
}
