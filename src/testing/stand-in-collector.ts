import { asyncScheduler, Observable, Subscription } from 'rxjs';
import type { CollectorState, PipelineRunContext } from '../sdk/context.ts';
import { EventBatch } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { CollectPlugin, ConfigSchema } from '../sdk/plugin.ts';
import type { MarbleRow } from './marbles.ts';

/** Configurations were checked against the real plugin's schema before it was replaced. */
export const anything = (): ConfigSchema => ({ safeParse: (data) => ({ success: true, data }) });

export interface StandInCollectorOptions {
  /** One row that every run sees, or one for each run; a run beyond the last completes at once. */
  readonly rows: MarbleRow | readonly MarbleRow[];
  readonly makeEvent: (letter: string) => CollectedEvent;
  /** The error of `#`. */
  readonly failure: (run: number) => unknown;
  readonly onEnd: () => void;
}

/** Lines that a collector of lines emits in one batch, at most. */
const BATCH_EVENTS = 1024;

/** An event that waits to be collected, from a time on. */
interface Item {
  readonly due: number;
  readonly letter: string;
}

/**
 * Emits the events of marbles as the collector that it stands in for would: one that heeds `ctx.demand` lets events wait
 * for room, another one emits them when they are due. After a restart, a collector with checkpoints goes on behind what was
 * acknowledged, and another one starts its marbles again.
 */
export function standInCollector(
  plugin: CollectPlugin,
  { rows, makeEvent, failure, onEnd }: StandInCollectorOptions,
): CollectPlugin {
  const waits = heedsDemand(plugin);
  const resumes = goesOnAfterRestart(plugin);
  /** All that there has been to collect; the position in it is kept where the real collector keeps its own. */
  const log: Item[] = [];
  let runs = 0;

  return {
    get_config_schema: anything,
    readsStdin: plugin.readsStdin === true,
    collect: ({ ctx }: { ctx: PipelineRunContext }) =>
      new Observable<CollectedEvent | EventBatch>((subscriber) => {
        const run = runs++;
        const start = asyncScheduler.now();
        const row = rowOf(rows, run);
        const isNew = resumes ? run === 0 || Array.isArray(rows) : true;
        const items = resumes ? log : [];
        if (isNew) items.push(...row.entries.map(({ at, letter }) => ({ due: start + at, letter })));
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
            if (item === undefined) return endsAt(row, start, isNew);
            if (item.due > now) return item.due;
            if (waits && ctx.demand.room === 0) return undefined;
            if (!resumes) {
              next++;
              subscriber.next(makeEvent(item.letter));
              continue;
            }
            const most = waits ? Math.min(BATCH_EVENTS, ctx.demand.room) : 1;
            const from = next;
            while (next < items.length && next - from < most && (items[next] as Item).due <= now) next++;
            const events = items.slice(from, next).map(({ letter }) => makeEvent(letter));
            const position = next;
            subscriber.next(new EventBatch(events, () => ctx.state.set(POSITION, position)));
          }
          return undefined;
        };

        const go = () => {
          // What is acknowledged while it is emitted makes room: that is used by the loop, not by recursion.
          if (isRunning || subscriber.closed) return;
          isRunning = true;
          timer.unsubscribe();
          const at = emitDue();
          isRunning = false;
          if (at === undefined || subscriber.closed) return;
          const isOver = next >= items.length;
          if (isOver && at <= asyncScheduler.now()) end();
          else timer = asyncScheduler.schedule(go, Math.max(0, at - asyncScheduler.now()));
        };

        subscriber.add(() => timer.unsubscribe());
        if (waits) subscriber.add(ctx.demand.room$.subscribe(go));
        go();
      }),
  };
}

/** Whether a run goes on behind what was acknowledged in the one before. */
export function goesOnAfterRestart({ usesState, readsStdin, redelivers }: CollectPlugin): boolean {
  return usesState !== false || readsStdin === true || redelivers === true;
}

const POSITION = 'position';

function positionOf(state: CollectorState): number {
  return (state.get(POSITION) as number | undefined) ?? 0;
}

function rowOf(rows: StandInCollectorOptions['rows'], run: number): MarbleRow {
  if (!isList(rows)) return rows;
  return rows[run] ?? { entries: [], end: { at: 0, kind: 'completed' } };
}

function isList(rows: StandInCollectorOptions['rows']): rows is readonly MarbleRow[] {
  return Array.isArray(rows);
}

/** A row that goes on after a restart ends with its last event; where it fails, it does so after the same time as before. */
function endsAt({ end }: MarbleRow, start: number, isNew: boolean): number | undefined {
  if (end === undefined) return undefined;
  return isNew || end.kind === 'failed' ? start + end.at : start;
}

/** Iterables are pulled when there is room, so that a generator cannot but wait. */
function heedsDemand({ heedsDemand, collect }: CollectPlugin): boolean {
  return heedsDemand ?? /^(?:Async)?GeneratorFunction$/.test(collect.constructor.name);
}
