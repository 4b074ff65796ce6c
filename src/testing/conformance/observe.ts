import { randomUUID } from 'node:crypto';
import { concatMap, firstValueFrom, from, type Observable, of, take, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { PipelineRunContext } from '../../sdk/context.ts';
import type { EventBatch } from '../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { collectedBy } from '../../sdk/from-collected.ts';
import type { CollectPlugin, ForwardPlugin, ProcessPlugin } from '../../sdk/plugin.ts';
import { availableResults, streamResults } from '../../sdk/plugin.ts';
import { failureText, type RowOutcome } from '../faster-forms.ts';
import { activeResources, resourcesSince } from './active-resources.ts';
import type { Subject } from './subject.ts';

/** What became of a run of an entry function. */
export interface Observed<T> {
  readonly values: T[];
  end: 'completed' | 'failed' | 'open';
  error: unknown;
  /** Something was thrown where nobody can catch it. */
  crash: { readonly error: unknown } | undefined;
}

interface ObserveOptions {
  /** Ends the run after so many values. */
  readonly limit?: number;
  readonly onValue?: (value: unknown) => void;
}

/** Virtual time goes this far: an endless collector is looked at for an hour. */
export const VIRTUAL_LIMIT_MS = 3_600_000;
const LIMIT = 5;

/**
 * Subscribes in virtual time, then goes on in real time for what is not done by then, as promises are not. Ends the
 * run after some values, or when the patience is at its end.
 */
export async function observe<T>(
  subject: Subject,
  start: () => Observable<T>,
  { limit = LIMIT, onValue }: ObserveOptions = {},
): Promise<Observed<T>> {
  const observed: Observed<T> = { values: [], end: 'open', error: undefined, crash: undefined };
  const isFull = () => observed.values.length >= limit;
  const run = () =>
    start()
      .pipe(take(limit))
      .subscribe({
        next: (value) => {
          observed.values.push(value);
          onValue?.(value);
        },
        error: (error: unknown) => {
          observed.end = 'failed';
          observed.error = error;
        },
        complete: () => {
          if (!isFull()) observed.end = 'completed';
        },
      });
  const isDone = () => observed.end !== 'open' || isFull();
  const before = activeResources();
  /** Nothing that takes real time is under way: what has not come by now will not come. */
  const isIdle = (waited: number) =>
    subject.isVirtual && waited >= SETTLE_MS && resourcesSince(before).length === 0;
  try {
    const subscription = subject.isVirtual ? virtually(run) : run();
    for (let waited = 0; !isDone() && waited < subject.patience && !isIdle(waited); waited += STEP_MS) {
      await pause(STEP_MS);
    }
    subscription.unsubscribe();
  } catch (error) {
    observed.crash = { error };
  }
  return observed;
}

const STEP_MS = 10;
/** Promises that wait for nothing are done by then. */
const SETTLE_MS = 30;

/** Runs a function under RxJS's TestScheduler, for an hour of virtual time at most. */
export function virtually<T>(run: (scheduler: TestScheduler) => T): T {
  const scheduler = new TestScheduler(() => {});
  return scheduler.run(() => {
    // An interval that is never ended would keep the scheduler for ever.
    scheduler.maxFrames = VIRTUAL_LIMIT_MS;
    return run(scheduler);
  });
}

/** Waits in real time. */
export function pause(ms: number): Promise<unknown> {
  return firstValueFrom(timer(ms));
}

/** What a collector emits, pulled by the demand of its context if it returns an iterable. */
export function collected(
  subject: Subject,
  ctx: PipelineRunContext,
  onReturned: (returned: unknown) => void = () => {},
): Observable<CollectedEvent | EventBatch> {
  const { collect } = subject.plugin as CollectPlugin;
  const call = () => {
    const returned = collect({ ctx: ctx as never });
    onReturned(returned);
    return returned;
  };
  return collectedBy(call, ctx.demand, ctx.config.name);
}

/** What a processor makes of one event. A throw of the function is an error of the Observable. */
export function processed(
  subject: Subject,
  ctx: PipelineRunContext,
  event: CollectedEvent,
): Observable<unknown> {
  const { process } = subject.plugin as ProcessPlugin;
  return resultsOf(() => process({ ctx: ctx as never, event }));
}

/** What a forwarder returns for one event. */
function forwarded(subject: Subject, ctx: PipelineRunContext, event: CollectedEvent): Observable<unknown> {
  const { forward } = subject.plugin as ForwardPlugin;
  return resultsOf(() => forward({ ctx: ctx as never, event, id: randomUUID() }));
}

/** Calls the plugin with an event, for the kinds that take events. */
export function handled(
  subject: Subject,
  ctx: PipelineRunContext,
  event: CollectedEvent,
): Observable<unknown> {
  return subject.kind === 'process' ? processed(subject, ctx, event) : forwarded(subject, ctx, event);
}

export function resultsOf(call: () => unknown): Observable<unknown> {
  return of(call).pipe(
    concatMap((make) => {
      const returned = make();
      return from(availableResults<unknown>(returned) ?? streamResults<unknown>(returned));
    }),
  );
}

/** What `process` makes of an event, as {@link differenceOf} compares it. */
export async function processedBy(
  subject: Subject,
  ctx: PipelineRunContext,
  event: CollectedEvent,
): Promise<RowOutcome> {
  const { values, end, error, crash } = await observe(subject, () => processed(subject, ctx, event));
  if (crash !== undefined || end === 'failed') return { failure: failureText(crash?.error ?? error) };
  return { events: values as CollectedEvent[] };
}
