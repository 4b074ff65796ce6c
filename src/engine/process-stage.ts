import {
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  EMPTY,
  finalize,
  map,
  Observable,
  type OperatorFunction,
  pipe,
  type Subscription,
  startWith,
  take,
  takeWhile,
  tap,
} from 'rxjs';
import { orderedMap } from '../../operators/index.ts';
import { forgetLongWork, hasLongWork, steadyClock } from '../../operators/internal.ts';
import { mapRowsOf } from '../rows/map-rows.ts';
import { expectLineMapping, type LineOutcomes, LineProcessing, type Turn } from '../rows/process-lines.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineEnvelope, LineEvents } from '../sdk/line-events.ts';
import { ParsedEvents } from '../sdk/parsed-events.ts';
import type { LineMapping, RowMapping } from '../sdk/plugin.ts';
import { availableResults, isAsync, streamResults, takeIfFew } from '../sdk/plugin.ts';
import { calledFor, kindOf, wrongReturn } from '../sdk/plugin-returns.ts';
import type { Rows } from '../sdk/rows.ts';
import { type Batch, batchOf } from './batches.ts';
import type { Delivery } from './delivery.ts';
import { expectEvents } from './expect-events.ts';
import { type Observers, type StagePlace, TravelForms, tellLeft } from './observer.ts';
import { ResultWindow } from './result-window.ts';

interface ProcessStageOptions {
  readonly place: StagePlace;
  readonly observer: Observers;
  readonly ordered: boolean;
  /** Whether a batch waits until the one before it is done, because results depend on the events before. */
  readonly inTurn?: boolean;
  /** Bounds the results that are pulled of iterables and not acknowledged: see {@link ResultWindow}. */
  readonly maxInFlight: number;
  /** The plugin's entry function, bound to its context. */
  readonly process: (event: CollectedEvent) => unknown;
  /** `mapLines` of the plugin, for lines with this envelope that do not have to become events. */
  readonly mapLines: ((envelope: LineEnvelope) => LineMapping | undefined) | undefined;
  /** `mapRows` of the plugin, for events that do not have to be created. */
  readonly mapRows?: ((rows: Rows) => RowMapping | undefined) | undefined;
  /** Takes an event that the processor failed on, with its part of the delivery. */
  readonly onFailure: (event: CollectedEvent, delivery: Delivery, error: unknown) => void;
}

/** What the functions below work with. */
interface Stage extends ProcessStageOptions {
  /** For messages: `processor parse`. */
  readonly who: string;
  readonly forms: TravelForms;
  readonly window: ResultWindow;
}

type Results = readonly CollectedEvent[] | Observable<Batch>;

/** Characters that an event counts as in a {@link Turn}, which then reads the clock after every 16 events. */
const EVENT = 160;
/** Stands for a failure of the processor, which may have taken long: the clock is read after it. */
const NO_EVENTS: readonly CollectedEvent[] = [];
const NO_BATCHES: readonly Batch[] = [];

/**
 * Runs one processor over each event. A batch whose results are available stays one batch, without an Observable.
 * Errors with what a processor gives that is not an event: nothing of that batch is acknowledged, so that it comes again.
 */
export function processStage(options: ProcessStageOptions): OperatorFunction<Batch, Batch> {
  const { place, observer, ordered, inTurn = false } = options;
  const forms = new TravelForms(place, observer);
  const window = new ResultWindow(options.maxInFlight);
  const stage: Stage = { ...options, who: `processor ${place.name}`, forms, window };
  /** Batches that wait for a turn of the event loop. */
  let postponed = 0;
  const processed = orderedMap(
    (batch: Batch): readonly Batch[] | Observable<Batch> => {
      observer.received(place, batch.rows.size);
      if (postponed === 0 && !hasLongWork()) return processedBatch(batch, stage);
      postponed++;
      return turn$.pipe(
        take(1),
        tap(() => void postponed--),
        concatMap(() => processedBatch(batch, stage)),
      );
    },
    { ordered, ...(inTurn && { concurrency: 1 }) },
  );
  return pipe(processed, tellLeft(place, observer));
}

function processedBatch({ rows, delivery }: Batch, stage: Stage): readonly Batch[] | Observable<Batch> {
  const { lines } = rows;
  const mapping = lines && lineMappingFor(lines, stage);
  if (lines !== undefined && mapping !== undefined) {
    stage.forms.tell('lines');
    return mappedLines(lines, mapping, delivery, stage);
  }
  const rowMapping = rowMappingFor(rows, stage);
  if (rowMapping !== undefined) {
    stage.forms.tell('rows');
    return mappedRows(rows, rowMapping, delivery, stage);
  }
  stage.forms.tell('events', () => whyEvents(rows, stage));
  const { events } = rows;
  const done: CollectedEvent[] = [];
  const turn = events.length > 1 ? new TimedTurn() : undefined;
  for (let i = 0; i < events.length; i++) {
    const results = resultsOf(events[i] as CollectedEvent, delivery, stage);
    if (!Array.isArray(results)) {
      return restOfBatch(events, i, delivery, stage, done, results as Observable<Batch>);
    }
    for (let j = 0; j < results.length; j++) done.push(results[j]);
    const mayBeLong = results === NO_EVENTS || hasLongWork();
    const isSpent = turn?.isSpent(mayBeLong ? Number.POSITIVE_INFINITY : EVENT);
    if (isSpent && i + 1 < events.length) return restOfBatch(events, i + 1, delivery, stage, done);
  }
  return done.length === 0 ? NO_BATCHES : [batchOf(done, delivery)];
}

/** What `mapLines` gives for lines. @throws MillraceError if that is no mapping */
function lineMappingFor(lines: LineEvents, { who, mapLines }: Stage): LineMapping | undefined {
  if (mapLines === undefined) return undefined;
  return expectLineMapping(
    calledFor(who, 'mapLines', () => mapLines(lines.envelope)),
    who,
  );
}

/** What `mapRows` gives for rows. @throws MillraceError if that is no mapping */
function rowMappingFor(rows: Rows, { who, mapRows }: Stage): RowMapping | undefined {
  if (mapRows === undefined) return undefined;
  const mapping: unknown = calledFor(who, 'mapRows', () => mapRows(rows));
  if (mapping === undefined || typeof mapping === 'function') return mapping as RowMapping | undefined;
  throw wrongReturn(
    who,
    `mapRows returned ${kindOf(mapping)}`,
    'a function `(start, end, { dropped, failed }) => ParsedEvents`, or undefined to leave the rows to `process`',
  );
}

/** Why the events of rows have to be created, and `process` called with each. */
function whyEvents(rows: Rows, { mapLines, mapRows }: ProcessStageOptions): string {
  if (!rows.areEvents) return 'they come as events';
  if (rows.lines !== undefined && mapLines !== undefined) return 'its mapLines declines these lines';
  if (mapRows !== undefined) return 'its mapRows declines these rows';
  return rows.lines === undefined ? 'it has no mapRows' : 'it has no mapLines';
}

/** The lines of a batch: as one batch if one turn is enough for them, else as one for each turn. */
function mappedLines(
  lines: LineEvents,
  mapping: LineMapping,
  delivery: Delivery,
  stage: Stage,
): readonly Batch[] | Observable<Batch> {
  const processing = new LineProcessing(lines, mapping, outcomesOf(lines, delivery, stage), stage.who);
  return inTurns(
    lines.size,
    (turn) => batchesOf(processing.run(turn), delivery),
    () => processing.isDone,
  );
}

/** Rows that are mapped between two looks at the clock. */
const ROWS_TOGETHER = 256;

/** {@link mappedLines} for rows that are mapped many at a time. */
function mappedRows(
  rows: Rows,
  mapping: RowMapping,
  delivery: Delivery,
  stage: Stage,
): readonly Batch[] | Observable<Batch> {
  const { failed, dropped } = outcomesOf(rows, delivery, stage);
  let next = 0;
  /** Up to here rows are mapped one by one. */
  let singleUntil = 0;
  const run = (turn: Turn | undefined): readonly Batch[] => {
    const done: ParsedEvents[] = [];
    const notGiven: number[] = [];
    do {
      const end = next < singleUntil ? next + 1 : Math.min(next + ROWS_TOGETHER, rows.size);
      const mapped = mapRowsOf(mapping, next, end, stage.who);
      done.push(mapped.rows);
      for (const position of mapped.dropped) notGiven.push(position);
      for (const [position, error] of mapped.failed) failed(position, error);
      next = mapped.end;
      singleUntil = mapped.singleUntil ?? singleUntil;
    } while (next < rows.size && turn?.isSpent(Number.POSITIVE_INFINITY) !== true);
    if (notGiven.length > 0) dropped(notGiven.length, () => notGiven);
    return batchesOf(ParsedEvents.join(done), delivery);
  };
  return inTurns(rows.size, run, () => next === rows.size);
}

/** Accounts for the events that a mapping does not give. */
function outcomesOf(
  rows: Rows,
  delivery: Delivery,
  { place, observer, onFailure }: ProcessStageOptions,
): LineOutcomes {
  const eventAt = (position: number) => rows.events[position] as CollectedEvent;
  return {
    failed: (position, error) => onFailure(eventAt(position), delivery, error),
    dropped: (count, positions) => {
      observer.dropped(place, 'filtered', count, () => positions().map(eventAt));
      delivery.acknowledge(count, 'dropped');
    },
  };
}

const batchesOf = (rows: Rows, delivery: Delivery): readonly Batch[] =>
  rows.size === 0 ? NO_BATCHES : [{ rows, delivery }];

/** What comes of events: at once if one turn is enough for them, else in as many turns as it takes. */
function inTurns(
  size: number,
  run: (turn: Turn | undefined) => readonly Batch[],
  isDone: () => boolean,
): readonly Batch[] | Observable<Batch> {
  const first = run(size > 1 ? new TimedTurn() : undefined);
  if (isDone()) return first;
  const rest$ = turn$.pipe(
    map(run),
    takeWhile(() => !isDone(), true),
  );
  return rest$.pipe(
    startWith(first),
    concatMap((batches) => batches),
  );
}

/**
 * From the first event on whose results must be waited for, or for which there is no time in this turn, events go on
 * one by one, as soon as they may.
 */
function restOfBatch(
  events: readonly CollectedEvent[],
  start: number,
  delivery: Delivery,
  stage: Stage,
  done: readonly CollectedEvent[],
  first?: Observable<Batch>,
): Observable<Batch> {
  const rest$ = indexesInTurns(start, events.length, first === undefined ? undefined : new TimedTurn()).pipe(
    orderedMap(
      (i): readonly Batch[] | Observable<Batch> => {
        const isFirst = i === start && first !== undefined;
        const results = isFirst ? first : resultsOf(events[i] as CollectedEvent, delivery, stage);
        if (!Array.isArray(results)) return results as Observable<Batch>;
        return results.length === 0 ? NO_BATCHES : [batchOf(results, delivery)];
      },
      { ordered: stage.ordered },
    ),
  );
  return done.length === 0 ? rest$ : rest$.pipe(startWith(batchOf(done, delivery)));
}

/** The numbers from `start` to below `end`: at once while there is time in this turn, the others in later ones. */
function indexesInTurns(start: number, end: number, thisTurn: Turn | undefined): Observable<number> {
  let next = start;
  function* inTurn(turn: Turn) {
    do yield next++;
    while (next < end && !turn.isSpent(turn === thisTurn ? EVENT : Number.POSITIVE_INFINITY));
  }
  const turns$ = thisTurn === undefined ? turn$ : turn$.pipe(startWith(thisTurn));
  return turns$.pipe(
    concatMap(inTurn),
    takeWhile(() => next < end, true),
  );
}

/** Results of one event: an array when available. Accounts for events that give none, and for failures. */
function resultsOf(event: CollectedEvent, delivery: Delivery, stage: Stage): Results {
  let returned: unknown;
  let results: readonly CollectedEvent[] | undefined;
  try {
    returned = stage.process(event);
    results = availableResults<CollectedEvent>(returned);
    if (results === undefined && !isAsync(returned)) {
      returned = takeIfFew(returned as Iterable<CollectedEvent>);
      results = availableResults<CollectedEvent>(returned);
    }
  } catch (error) {
    stage.onFailure(event, delivery, error);
    return NO_EVENTS;
  }
  if (results === undefined) return awaitedResults(event, returned, delivery, stage);
  expectEvents(results, stage.who);
  if (results.length > 0) {
    delivery.add(results.length - 1);
  } else {
    stage.observer.dropped(stage.place, 'filtered', 1, () => [event]);
    delivery.acknowledge(1, 'dropped');
  }
  return results;
}

/** The event itself stays open until its results have ended; each result opens one more. */
function awaitedResults(
  event: CollectedEvent,
  returned: unknown,
  delivery: Delivery,
  { who, place, observer, onFailure, window }: Stage,
): Observable<Batch> {
  return defer(() => {
    const demand = window.demand();
    let results = 0;
    let failed = false;
    return streamResults<CollectedEvent>(returned, demand).pipe(
      catchError((error) => {
        failed = true;
        onFailure(event, delivery, error);
        return EMPTY;
      }),
      map((result) => {
        expectEvents([result], who);
        results++;
        demand.open();
        return batchOf(
          [result],
          delivery.part(() => demand.acknowledge()),
        );
      }),
      tap({
        complete: () => {
          if (failed) return;
          if (results === 0) observer.dropped(place, 'filtered', 1, () => [event]);
          delivery.acknowledge(1, results === 0 ? 'dropped' : 'forwarded');
        },
      }),
      finalize(() => demand.close()),
    );
  });
}

/** Milliseconds of work in one turn of the event loop, after which signals, timers and input have theirs. */
const BUDGET_MS = 20;
/** Work between looks at the clock, which take as long as a third of a line: 40 lines of 100 characters. */
const UNWATCHED = 400_000;

const now = steadyClock();

/** To be asked often: it looks at the clock now and then. */
class TimedTurn implements Turn {
  readonly #end = now() + BUDGET_MS;
  #unwatched = 0;

  isSpent(characters: number): boolean {
    this.#unwatched += characters * characters;
    if (this.#unwatched < UNWATCHED) return false;
    this.#unwatched = 0;
    return now() >= this.#end;
  }
}

/**
 * All that waits for a turn, in this thread: with a timer for each, those that are due would leave no time between. It is
 * not a `Pump`, because the event loop has to run between two turns.
 */
const waiting = new Set<() => void>();
let timer: Subscription | undefined;

/**
 * Emits in one of the next turns of the event loop, and again in later ones until it is unsubscribed from. Of all that
 * are subscribed to one has each turn, one after the other. It never ends.
 */
const turn$: Observable<Turn> = new Observable<Turn>((subscriber) => {
  const takeTurn = () => {
    subscriber.next(new TimedTurn());
    if (!subscriber.closed) waiting.add(takeTurn);
  };
  subscriber.add(() => {
    waiting.delete(takeTurn);
    if (waiting.size > 0) return;
    timer?.unsubscribe();
    timer = undefined;
  });
  waiting.add(takeTurn);
  schedule();
});

/** Behind the work, not ahead of it: a timer that is due by the end of the work would run before anything else. */
function schedule(): void {
  timer ??= asyncScheduler.schedule(() => {
    timer = undefined;
    const [takeTurn] = waiting;
    if (takeTurn === undefined) return;
    waiting.delete(takeTurn);
    forgetLongWork();
    try {
      takeTurn();
    } finally {
      if (waiting.size > 0) schedule();
    }
  });
}
