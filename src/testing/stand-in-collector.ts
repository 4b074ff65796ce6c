import { asyncScheduler, Observable, Subscription } from 'rxjs';
import { isoNow } from '../../operators/internal.ts';
import { isMapping } from '../sdk/checks/problem.ts';
import type { PluginConfig } from '../sdk/config.ts';
import type { PipelineRunContext } from '../sdk/context.ts';
import { EventBatch, isEvent, type Outcome } from '../sdk/event-batch.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { BatchingDemand, CollectPlugin, ConfigSchema } from '../sdk/plugin.ts';
import { type Item, ReadOnce, type Unread, UnreadLog, UnreadMessages } from './unread.ts';

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
  /** @param position in all that it emits, from 0; the same for what it emits again */
  readonly makeEvent: (value: TimedValue, position: number) => CollectedEvent;
  /** The error of `#`. */
  readonly failure: (run: number) => unknown;
  readonly onEnd: () => void;
  /** By how much later than it should something happens: milliseconds. */
  readonly jitter: () => number;
  /** Told of what its plugin does not say, when it makes a difference. */
  readonly onAssumed?: (what: string) => void;
}

const ASSUMED_TO_RESUME =
  'the test assumes that it goes on behind what was acknowledged, because its plugin does not say whether it uses ctx.state; export `traits` with `usesState: false` if it starts again, or `usesState: true`';
const ASSUMED_TO_OVERFLOW =
  'the test assumes that it cannot wait for room, because its plugin does not say so; export `traits` with `waits: true` if it returns an iterable, or emits at most `ctx.demand.room` events, or `waits: false`';

/** Events that a collector emits in one batch, at most. */
const BATCH_EVENTS = 4096;

/**
 * Emits the events of marbles as the collector that it stands in for would: lines with their source, in batches that are
 * divided as its own are. One that heeds `ctx.demand` lets events wait for room, another one emits them when they are due.
 * After a restart, a collector with checkpoints continues after what was acknowledged, and another one starts its marbles
 * again. What failed comes again from a broker.
 */
export function standInCollector(
  entry: PluginConfig<CollectPlugin>,
  { rows, isOnePerRun = false, makeEvent, failure, onEnd, jitter, onAssumed }: StandInCollectorOptions,
): CollectPlugin {
  const plugin = entry.loaded_plugin;
  const config = entry as never;
  const waits = waitsForRoom(plugin);
  const unread = unreadOf(plugin, config);
  let runs = 0;

  return {
    get_config_schema: anything,
    traits: { readsStdin: plugin.traits?.readsStdin === true },
    collect: ({ ctx }: { ctx: PipelineRunContext<never> }) =>
      new Observable<CollectedEvent | EventBatch>((subscriber) => {
        const run = runs++;
        if (run > 0 && isSilent(plugin)) onAssumed?.(ASSUMED_TO_RESUME);
        const start = asyncScheduler.now();
        const row = (isOnePerRun ? rows[run] : rows[0]) ?? NO_EVENTS;
        const isNew = !unread.isKept || run === 0 || isOnePerRun;
        const toEvents = (timed: TimedValue) => valuesOf(plugin, config, timed, run === 0 && timed.at === 0);
        unread.start(ctx, isNew ? itemsOf(row, start, jitter, toEvents) : []);
        const demand: Partial<BatchingDemand> & Pick<BatchingDemand, 'room' | 'room$'> =
          plugin.testing?.batchDemand?.({ ctx }) ?? ctx.demand;
        const endLater = jitter();
        let timer = Subscription.EMPTY;
        let isRunning = false;
        let isWaitingForRoom = false;

        const end = () => {
          if (row.end?.kind === 'failed') subscriber.error(failure(run));
          else if (row.end !== undefined) {
            onEnd();
            subscriber.complete();
          }
        };

        const acknowledged = (items: readonly Item[], events: number, outcome: Outcome) => {
          if (!unread.acknowledge(items, outcome)) return;
          demand.acknowledged?.(events);
          // Not now: the room is not free yet.
          if (unread.isWaitingFor) subscriber.add(asyncScheduler.schedule(go));
        };

        /** Emits what is due and has room. Returns when to go on; undefined if that is for something else to say. */
        const emitDue = (): number | undefined => {
          while (!subscriber.closed) {
            const now = asyncScheduler.now();
            const first = unread.next;
            if (first === undefined) {
              return unread.isWaitingFor ? undefined : endsAt(row, start + endLater, isNew);
            }
            if (first.due > now) return first.due;
            const { room } = demand;
            isWaitingForRoom = waits && room === 0;
            if (isWaitingForRoom) return undefined;
            if (room === 0 && plugin.traits?.waits === undefined) onAssumed?.(ASSUMED_TO_OVERFLOW);
            const most = waits ? Math.min(BATCH_EVENTS, room) : 1;
            const items = [unread.shift()];
            let { batchKey } = first;
            for (let next = unread.next; unread.isInBatches && items.length < most; next = unread.next) {
              batchKey ??= next?.batchKey;
              if (next === undefined || next.due > now || (next.batchKey ?? batchKey) !== batchKey) break;
              items.push(unread.shift());
            }
            const events = items.flatMap(({ timed, position }) =>
              timed === undefined ? [] : makeEvent(stamped(timed), position),
            );
            if (events.length === 0) continue;
            demand.emitted?.(events.length);
            if (unread.isKept) {
              subscriber.next(
                new EventBatch(events, (outcome) => acknowledged(items, events.length, outcome)),
              );
            } else subscriber.next(events[0] as CollectedEvent);
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
            if (unread.next === undefined && wait === 0) end();
            else timer = asyncScheduler.schedule(go, wait);
          }
          isRunning = false;
        };

        subscriber.add(() => timer.unsubscribe());
        if (waits) {
          const goLater = () => {
            // Which of several collectors takes room that is free again is not guaranteed.
            const wait = isWaitingForRoom ? jitter() : 0;
            if (wait === 0) go();
            else subscriber.add(asyncScheduler.schedule(go, wait));
          };
          subscriber.add(demand.room$.subscribe(goLater));
        }
        go();
      }),
  };
}

/** What a collector has to emit, by what it does after a restart. */
function unreadOf(plugin: CollectPlugin, config: never): Unread {
  const redelivery =
    plugin.traits?.redelivers === true ? plugin.testing?.redelivery?.({ config }) : undefined;
  if (redelivery !== undefined) return new UnreadMessages(redelivery);
  return resumesAfterRestart(plugin) ? new UnreadLog() : new ReadOnce();
}

/** The order of the events of a collector is its own: only others can come between them. */
function* itemsOf(
  { entries }: CollectorRow,
  start: number,
  jitter: () => number,
  toEvents: (timed: TimedValue) => readonly TimedValue[],
): Generator<Omit<Item, 'position'>> {
  let due = 0;
  let last: number | undefined;
  for (const timed of entries) {
    if (timed.at !== last) due = Math.max(due, start + timed.at + jitter());
    last = timed.at;
    const values = toEvents(timed);
    for (const value of values) yield { due, timed: value, batchKey: batchKeyOf(value) };
    if (values.length === 0) yield { due, timed: undefined, batchKey: undefined };
  }
}

/** When an event was made of text. One that has that time itself is stamped when it is emitted. */
const MADE_AT = Symbol('made at');

/** What a collector makes of a value: of text, the events that it makes of text. */
function valuesOf(
  { testing }: CollectPlugin,
  config: never,
  timed: TimedValue,
  wasThere: boolean,
): readonly TimedValue[] {
  const text = textOf(timed.value);
  if (testing?.eventsOfText === undefined || text === undefined) return [timed];
  const events = testing.eventsOfText({ config, ...text, wasThere });
  const madeAt = isoNow();
  return events.map((event) => ({ ...timed, value: event, [MADE_AT]: madeAt }));
}

/** `'GET /'`, or `{ line: 'GET /', source: '/var/log/web.log' }`. */
function textOf(value: unknown): { readonly text: string; readonly source: string | undefined } | undefined {
  if (typeof value === 'string') return { text: value, source: undefined };
  if (!isMapping(value) || isEvent(value)) return undefined;
  const { line, source, ...others } = value;
  const isText = typeof line === 'string' && Object.keys(others).length === 0;
  return isText && (source === undefined || typeof source === 'string') ? { text: line, source } : undefined;
}

type MaybeOfText = TimedValue & { readonly [MADE_AT]?: string };

function stamped(timed: MaybeOfText): TimedValue {
  const event = timed.value as CollectedEvent;
  if (timed[MADE_AT] === undefined || timed[MADE_AT] !== event.timestamp) return timed;
  return { ...timed, value: { ...event, timestamp: isoNow() } };
}

/** A batch of lines is of one file, and a line that is cut is a batch of its own. */
function batchKeyOf({ value, [MADE_AT]: madeAt }: MaybeOfText): unknown {
  if (madeAt === undefined) return undefined;
  const { data, truncated } = value as CollectedEvent & { readonly truncated?: true };
  return truncated === true ? value : data.source;
}

/** Whether a run continues after what was acknowledged in the one before. */
export function resumesAfterRestart({ traits = {} }: CollectPlugin): boolean {
  const { usesState, readsStdin, redelivers } = traits;
  return usesState !== false || readsStdin === true || redelivers === true;
}

/** Whether a plugin leaves open what it does after a restart. */
function isSilent({ traits = {} }: CollectPlugin): boolean {
  const { usesState, readsStdin, redelivers, resumes } = traits;
  return [usesState, readsStdin, redelivers, resumes].every((says) => says === undefined);
}

const NO_EVENTS: CollectorRow = { entries: [], end: { at: 0, kind: 'completed' } };

/** A row that goes on after a restart ends with its last event; where it fails, it does so after the same time as before. */
function endsAt({ end }: CollectorRow, start: number, isNew: boolean): number | undefined {
  if (end === undefined) return undefined;
  return isNew || end.kind === 'failed' ? start + end.at : start;
}

/** Iterables are pulled when there is room, so that a generator cannot but wait. */
export function waitsForRoom({ traits, collect }: CollectPlugin): boolean {
  return traits?.waits ?? /^(?:Async)?GeneratorFunction$/.test(collect.constructor.name);
}
