import { concatMap, from, Observable, type ObservableInput, of } from 'rxjs';
import { type Demand, pullFrom } from '../../operators/index.ts';
import type { PipelineConfig } from './config.ts';
import type { CollectorState, Host, PipelineRunContext } from './context.ts';
import type { EventBatch } from './event-batch.ts';
import type { CollectedEvent } from './events.ts';
import type { LineEnvelope } from './line-events.ts';
import type { ParsedEvents } from './parsed-events.ts';
import { truncate } from './printable.ts';
import type { Rows } from './rows.ts';
import type { WrittenFile } from './written-file.ts';

export type PluginKind = 'collect' | 'process' | 'forward';

/** What of a zod schema the engine uses, so that a plugin may bring its own copy of zod. */
export interface ConfigSchema {
  safeParse(
    input: unknown,
    context?: { readonly jitless?: boolean },
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly ConfigSchemaIssue[] } };
}
export interface ConfigSchemaIssue {
  readonly code?: string;
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** A problem that only the plugin can see, found when the configuration is loaded. */
export interface ConfigProblem {
  /** Where, inside the plugin's configuration. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The nearest right name, if there is one. */
  readonly suggestion?: string | undefined;
  /** A warning is of what is right and hardly meant: the configuration is valid all the same. Default: error. */
  readonly severity?: 'error' | 'warning';
}

/** An entry of a pipeline, as the plugins of the other entries see it. */
export interface PipelineEntry {
  readonly name: string;
  readonly kind: PluginKind;
  /** The plugin as the configuration names it. */
  readonly plugin: string;
  /** The validated fields of the entry. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly traits: Readonly<CollectTraits & ProcessTraits & ForwardTraits>;
}

/** Where an entry is in a pipeline. */
export interface PipelinePlace<Config> {
  /** Of the entry. */
  readonly name: string;
  readonly config: Config;
  /** The collectors, and the processors in front of it, in their order. Empty for a collector. */
  readonly before: readonly PipelineEntry[];
  /** The processors after it, in their order, and the forwarders. Empty for a forwarder. */
  readonly after: readonly PipelineEntry[];
  readonly pipeline: PipelineConfig;
}

/** What does not fit together in a pipeline. */
export interface PipelineProblem {
  readonly message: string;
  /** The entry of the pipeline that the message is about. Default: the one of the plugin. */
  readonly at?: PipelineEntry;
  /** The configuration is valid in spite of a warning. Warnings are for enabled pipelines. Default: error. */
  readonly severity?: 'error' | 'warning';
}

interface PluginBase {
  get_config_schema(): ConfigSchema;
  /** Checks what a schema cannot say, such as the names of host functions. */
  checkConfig?(args: { config: never; host: Host | undefined }): readonly ConfigProblem[];
  /** Checks what is around an entry of this plugin in a pipeline: it says itself what does not fit. */
  checkPipeline?(place: PipelinePlace<never>): readonly PipelineProblem[];
  /** One sentence, shown by `millrace plugins`. */
  readonly description?: string;
  /** A configuration entry in YAML, shown by `millrace plugins`; executed as a test for the built-in ones. */
  readonly example?: string;
  /**
   * The settings that graphs and drawings of tests show, each with the unit of its number, or an empty string. None of
   * them may hold a secret. Default: numbers and switches whose names do not suggest one.
   */
  readonly shownSettings?: Readonly<Record<string, string>>;
}

/** What a collector is. Each trait is optional, and false unless it says otherwise. */
export interface CollectTraits {
  /** Whether it uses `ctx.state`. A run needs no state folder if none of its collectors does. Default: true. */
  readonly usesState?: boolean;
  /**
   * It emits at most `ctx.demand.room` events and otherwise waits, so that it never overflows the buffer of its pipeline.
   * Tests in virtual time predict that. Default: true for a generator.
   */
  readonly waits?: boolean;
  /** It receives again what it did not acknowledge, by other means than `ctx.state`: from a broker. */
  readonly redelivers?: boolean;
  /**
   * It continues exactly where `ctx.state` says that the last run ended, in the same order, as `exactly_once` requires.
   */
  readonly resumes?: boolean;
  /** It emits `LineEvents`, which `workers` can take. */
  readonly emitsLines?: boolean;
  /**
   * It reads standard input, which ends once and for all, and which only one pipeline can read. A pipeline without other
   * collectors completes when it ends, also with `restart: true`.
   */
  readonly readsStdin?: boolean;
  /** Whether it reads a file that is written. What a pipeline writes must not come back to it. */
  reads?(args: { config: never; path: string; file: WrittenFile }): boolean;
  /**
   * It reads and writes files only through `operators/files` and `ctx.state`. Tests with virtual files run it as it is.
   */
  readonly virtualFiles?: boolean;
}

/** What a processor is. Each trait is optional, and false by default. */
export interface ProcessTraits {
  /**
   * It removes secrets: from strings, numbers and keys, or with `strings` from strings alone. An event that has not passed
   * it is never put into a dead letter.
   */
  readonly masks?: boolean | 'strings';
  /** It drops events on purpose: in tests, the law `nothing_lost` does not count those as lost. */
  readonly filters?: boolean;
  /**
   * Its results depend on the event and its configuration alone, and are returned at once: pipelines with `workers` then
   * run it in worker threads as well. There, `ctx` has `config` and `stats` only. A plugin that is not built in has to be a
   * module of its own, which every worker loads.
   */
  readonly pure?: boolean;
  /**
   * Its results depend on the events before, perhaps only with some configurations. It receives its events one batch after
   * the other, and runs in no worker.
   */
  readonly needsOrder?: boolean | ((args: { config: never }) => boolean);
}

/** What a forwarder is. Each trait is optional, and false by default. */
export interface ForwardTraits {
  /**
   * Its sink stores nothing twice under one `id`, as long as an outage is short. Then it may be used with `exactly_once`:
   * after a crash, the same events come again with the same `id`.
   */
  readonly deduplicates?: boolean;
  /** It delivers nothing, such as `noop`: an event that reaches it without masks shows no secret. */
  readonly discards?: boolean;
  /** It writes events to standard output. */
  readonly writesStdout?: boolean;
  /** The file that it writes, or one that is like all that it writes. */
  writes?(args: { config: never }): string | undefined;
  /** It writes files only through `operators/files`. Tests with virtual files run it as it is. */
  readonly virtualFiles?: boolean;
}

/** What tests in virtual time have to know of a collector, which they replace. */
export interface CollectorTesting {
  /** The events that it makes of text in its source. */
  eventsOfText?(args: { config: never } & SourceText): readonly CollectedEvent[];
  /** The demand of its pipeline as it divides it into batches. */
  batchDemand?(args: { ctx: PipelineRunContext<never> }): BatchingDemand;
  /** With the trait `redelivers`: when that comes again. */
  redelivery?(args: { config: never }): Redelivery;
}

/** What an entry function may return: whichever suits its author. */
export type Returned<T> = ObservableInput<T> | T | undefined | void;

export interface CollectPlugin extends PluginBase {
  collect(args: { ctx: PipelineRunContext<never> }): Returned<CollectedEvent | EventBatch>;
  readonly traits?: CollectTraits;
  /**
   * Ours, optional, for `exactly_once`: called after a crash, before what is not committed is cut off the output. Resolves
   * with the sources of events that were emitted since the last commit and cannot be emitted again, for the log. Default:
   * there are none.
   */
  lostSources?(args: { config: never; state: CollectorState }): PromiseLike<readonly string[]>;
  /** Ours, optional: what tests in virtual time have to know, because they replace the collector. */
  readonly testing?: CollectorTesting;
}

/** Text that a test puts into the source of a collector. */
export interface SourceText {
  /** Without the newline at its end. */
  readonly text: string;
  /** What the test says where it comes from, such as the path of a file. */
  readonly source: string | undefined;
  /** Whether it was there when the pipeline first started. */
  readonly wasThere: boolean;
}

/** How much a collector that emits batches may emit now, by what it has emitted and what of that is acknowledged. */
export interface BatchingDemand extends Demand {
  /** These were emitted as a batch. */
  emitted(events: number): void;
  /** These were acknowledged, and that was noted in the state. */
  acknowledged(events: number): void;
}

/** When a broker delivers events again. */
export interface Redelivery {
  /** Milliseconds until events that failed come again after so many deliveries; undefined: never. */
  afterFailure(deliveries: number): number | undefined;
  /** Milliseconds until events come again about which the broker hears nothing, because the run that had them has failed. */
  readonly afterSilence: number;
}

/** What a processor does to the lines of events that have all else in common. */
export interface LineMapping {
  /** Returns the line that replaces another one, or undefined to drop its event. */
  readonly map: (line: string) => string | undefined;
  /**
   * Maps many lines together, if that is faster: it takes one string with LF between the lines, and returns one with
   * the same number of lines. If it throws, or returns more or fewer lines, `map` is called for each line.
   */
  readonly many?: ManyLines | undefined;
  /**
   * For a processor that passes each line on as it is or drops it: whether it passes this one. Then the lines need not
   * be decoded and encoded again.
   */
  readonly keeps?: ((line: string) => boolean) | undefined;
  /** `keeps` for lines within one text, if that works without a string for each line. */
  readonly keepsIn?: LinesTest | undefined;
}

/**
 * Tests lines of a text, each with its LF: returns a function that is called with where a line starts, in the order of the
 * lines. It returns `start` if that line is not kept; otherwise where a later line starts, or the text ends, up to which
 * all lines are kept. That may be more than the end of the text. It must not throw.
 */
export type LinesTest = (text: string) => (start: number) => number;

export interface ManyLines {
  readonly map: (lines: string) => string;
  /**
   * Maps lines in ASCII and writes them to `into`. Returns the number of bytes, or -1 if `map` has to do it; nothing may
   * have been counted then.
   */
  readonly mapBytes?: ((lines: Uint8Array, into: Uint8Array) => number) | undefined;
  /** The most characters of a text that is handed to `map`. */
  readonly maxLength: number;
  /** The most characters of a line in it: longer ones are for the `map` of single lines. */
  readonly maxLineLength: number;
}

/** Told of the events that do not come out, by their positions. */
export interface RowOutcomes {
  dropped(position: number): void;
  failed(position: number, error: unknown): void;
}

/**
 * What a processor makes of the rows from `start` to before `end`: for each of them what `process` returns, which is one
 * event, or none if that is told to `outcomes`. It is called for some rows at a time, in their order, and must not throw.
 */
export type RowMapping = (start: number, end: number, outcomes: RowOutcomes) => ParsedEvents;

/**
 * Which lines belong together. Lines are joined with lines of the same source only: of the same `data.source`, or the
 * same tag, and of the same `data.stream` (`stdout`, `stderr`), if events have one. A state is any value but undefined;
 * the engine keeps it for each source and stream.
 */
export interface LineJoining {
  /** The line of an event; undefined for an event that is passed on as it is. */
  lineOf(event: CollectedEvent): string | undefined;
  /** The first of several events, with all lines in place of its own. They are joined by LF, or as `join` does. */
  withLine(event: CollectedEvent, lines: string): CollectedEvent;
  /** The state of a line that others may follow; undefined for one that stands alone, which then leaves at once. */
  begin(line: string): unknown;
  /** The state of a line that belongs to the lines before it; undefined for one that does not. */
  next(state: unknown, line: string): unknown;
  /** Whether an event whose last line has this state leaves at once. Default: it waits for further lines. */
  readonly isComplete?: (state: unknown) => boolean;
  /**
   * Whether a line with this state belongs to the lines before it only if a later line says so, by a state for which this
   * is false. If none does, the lines that wait for it are looked at again, from the first one, as if they came then.
   * Default: every line with a state belongs to those before it.
   */
  readonly isPending?: (state: unknown) => boolean;
  /** Whether the lines that wait in this state belong to those before them when this line follows, which does not. */
  readonly keepsPending?: (state: unknown, line: string) => boolean;
  /** One line of several. Default: they are joined by LF. */
  readonly join?: (lines: readonly string[]) => string;
  /**
   * Whether a line may end inside a character that the next one continues. The lines then hold the bytes of such a
   * character as lone surrogates, U+DC80 to U+DCFF, which are decoded once the lines are joined.
   */
  readonly joinsBytes?: boolean;
  /** The stream of a line, if the line tells it: lines of other streams may lie between those of one event. */
  readonly streamOf?: (line: string) => string | undefined;
  /** True if the line of an event is `data.line`, so that events of lines need not be created. */
  readonly readsLines: boolean;
  /** Whether one of these lines, with LF between them, may have a state. Where none does, `begin` is not called. */
  readonly mayBegin?: (lines: string) => boolean;
  /** The most lines of an event, and the most bytes. */
  readonly maxLines: number;
  readonly maxBytes: number;
  /** Seconds after its first line at which an event leaves, whatever may follow. */
  readonly seconds: number;
}

/** What a processor makes of an event, both by their data. */
export interface ExampleEvent {
  readonly given: CollectedEvent['data'];
  readonly gives: readonly CollectedEvent['data'][];
}

export interface ProcessPlugin extends PluginBase {
  /**
   * What the first entry of `example` makes of events that arrive one after the other: shown beside it, and executed as
   * a test for the built-in ones.
   */
  readonly exampleEvents?: readonly ExampleEvent[];
  process(args: { ctx: PipelineRunContext<never>; event: CollectedEvent }): Returned<CollectedEvent>;
  readonly traits?: ProcessTraits;
  /**
   * Ours, optional: takes the place of `process`, for a processor that joins the lines of several events into one event.
   * The engine holds the lines until the event is complete, and acknowledges them when it is. Called once for each run.
   */
  joinLines?(args: { ctx: PipelineRunContext<never> }): LineJoining;
  /**
   * Ours, optional: takes the place of `process` for the events of lines, which then need not be made. To give what
   * `process` would, line by line, with all else unchanged; undefined where that cannot be said beforehand.
   */
  mapLines?(args: { ctx: PipelineRunContext<never>; envelope: LineEnvelope }): LineMapping | undefined;
  /**
   * Ours, optional: takes the place of `process` for rows that need not become events, such as the lines that `parse` gets
   * or the `ParsedEvents` that it makes. Undefined if `process` has to do it for these.
   */
  mapRows?(args: { ctx: PipelineRunContext<never>; rows: Rows }): RowMapping | undefined;
}

/**
 * Names the events of a call. It is the same in every attempt to deliver the same events, and no other call has it, of
 * this or of another run: a sink that stores nothing twice under one name stores nothing twice. After a partial failure
 * the rest has another one.
 */
export type CallId = string;

/**
 * A call that failed in part. The calls for its rest get it, so that a sink that stores nothing twice under one name can
 * send the same parts under the same names again.
 */
export interface PartlyFailedCall {
  readonly id: CallId;
  /** All of its events. */
  readonly events: readonly CollectedEvent[];
  /** The positions in `events` of those that are left, in their order. */
  readonly left: readonly number[];
}

export interface ForwardPlugin extends PluginBase {
  /** Delivers an event. `restOf` is set if it is what is left of a call that failed in part. */
  forward(args: {
    ctx: PipelineRunContext<never>;
    event: CollectedEvent;
    id: CallId;
    restOf?: PartlyFailedCall | undefined;
  }): Returned<unknown>;
  /**
   * Ours, optional: takes several events at once, up to 1,024 of those that are waiting, or as the fields of `batching`
   * say. It delivers all of them or fails; the error may name those that failed, in `failedEvents`.
   */
  forwardBatch?(args: {
    ctx: PipelineRunContext<never>;
    events: readonly CollectedEvent[];
    id: CallId;
    restOf?: PartlyFailedCall | undefined;
  }): Returned<unknown>;
  readonly traits?: ForwardTraits;
  /**
   * Ours, optional: replaces `forwardBatch` where the configuration requires events as `serialise` writes them;
   * undefined where it requires another form. `documents` has them in UTF-8, each with a newline after it; its memory is
   * used again when they are delivered, so that what is to be kept has to be copied.
   */
  forwardJsonLines?(args: {
    ctx: PipelineRunContext<never>;
  }): ((documents: Buffer, id: CallId) => Returned<unknown>) | undefined;
  /**
   * Ours, optional: takes the place of `forward` in a pipeline with `exactly_once`, which is told ahead of each write
   * and when a file was removed.
   */
  exactly?(args: { ctx: PipelineRunContext<never> } & ExactOutputEvents): ExactOutput;
}

export type Plugin = CollectPlugin | ProcessPlugin | ForwardPlugin;

/** How far one file of an output goes: JSON. */
export type OutputMark = {
  /** What names the file, whatever its path. */
  readonly id: string;
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  /** A digest of its first bytes. */
  readonly head: string;
};

/** An output that can be cut back to what was committed, so that a pipeline can deliver exactly once. */
export interface ExactOutput {
  /**
   * Cuts off what lies past these marks. Errors, permanently if it can never be done. Before anything is written. With
   * `lost` sources, whose events cannot come again, what is cut off is first copied to a file that the log names.
   */
  restore(marks: readonly OutputMark[], lost: readonly string[]): Observable<never>;
  /** Writes all events or none, in order, and emits the marks after each of them, once. */
  write(events: readonly CollectedEvent[]): Observable<readonly OutputMark[]>;
  /** Forces what was written to the disk. */
  sync(): Observable<never>;
}

/** What an {@link ExactOutput} tells its pipeline. */
export interface ExactOutputEvents {
  /** To be called ahead of each write, with the mark of where it goes, and waited for. */
  begun(mark: OutputMark): Observable<never>;
  /** To be called with a file that was removed, and how long it was: what it held may be lost. */
  removed(file: Pick<OutputMark, 'id' | 'length'>): void;
}

const KINDS: readonly PluginKind[] = ['collect', 'process', 'forward'];

/** Says in words what keeps a value from being a plugin of a kind; undefined if nothing does. */
export function contractProblem(kind: PluginKind, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return `it is not an object with get_config_schema and ${kind}`;
  const isFunction = (name: string) => typeof (value as Record<string, unknown>)[name] === 'function';
  if (isFunction('get_config_schema') && isFunction(kind))
    return traitsProblem(KINDS.filter(isFunction), (value as Partial<Plugin>).traits);
  const other = KINDS.find(isFunction);
  if (other !== undefined && !isFunction(kind)) return `it is a ${other} plugin; expected a ${kind} plugin`;
  const missing = ['get_config_schema', kind].filter((name) => !isFunction(name));
  return `it lacks the function${missing.length === 1 ? '' : 's'} ${missing.join(' and ')}`;
}

const TRAITS: { readonly [K in PluginKind]: readonly string[] } = {
  collect: [
    'usesState',
    'waits',
    'redelivers',
    'resumes',
    'emitsLines',
    'readsStdin',
    'reads',
    'virtualFiles',
  ] satisfies (keyof CollectTraits)[],
  process: ['masks', 'filters', 'pure', 'needsOrder'] satisfies (keyof ProcessTraits)[],
  forward: [
    'deduplicates',
    'discards',
    'writesStdout',
    'writes',
    'virtualFiles',
  ] satisfies (keyof ForwardTraits)[],
};

/** A trait that is misspelt would be none: a mask would not be recognised. One module may be a plugin of several kinds. */
function traitsProblem(kinds: readonly PluginKind[], traits: unknown): string | undefined {
  if (traits === undefined) return undefined;
  if (typeof traits !== 'object' || traits === null || Array.isArray(traits))
    return 'its `traits` are not an object';
  const known = kinds.flatMap((kind) => TRAITS[kind]);
  const unknown = Object.keys(traits).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return `it has the unknown trait \`${truncate(unknown)}\`; the traits of a ${kinds.join(' and ')} plugin are ${known.join(', ')}`;
}

/** Whether a processor removes secrets. */
export function isMask(plugin: Pick<ProcessPlugin, 'traits'> | undefined): boolean {
  return Boolean(plugin?.traits?.masks);
}

/** Whether the results of a processor depend on the events before, with this configuration. */
export function needsOrder({ traits }: Pick<ProcessPlugin, 'traits'>, config: object): boolean {
  const trait = traits?.needsOrder;
  return typeof trait === 'function' ? trait({ config: config as never }) : trait === true;
}

/** Whether a value has what a plugin of the kind must have. */
export function isPlugin(kind: PluginKind, value: unknown): value is Plugin {
  return contractProblem(kind, value) === undefined;
}

/** Whether a plugin's return value is something to wait for: an Observable, a promise or an async iterable. */
export function isAsync(value: unknown): value is ObservableInput<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  if (typeof (value as { then?: unknown }).then === 'function') return true;
  if (Symbol.asyncIterator in value) return true;
  // An Observable, be it of another copy of rxjs or of another library. Workers ask too, and they load no RxJS.
  return typeof (value as { subscribe?: unknown }).subscribe === 'function';
}

/** A foreign Observable may lack `Symbol.observable`; then its `subscribe` is called with an observer. */
export function toObservable<T>(value: ObservableInput<T>): Observable<T> {
  if (value instanceof Observable) return value;
  const foreign = value as { subscribe?: (observer: unknown) => { unsubscribe?: () => void } | undefined };
  if (typeof foreign.subscribe !== 'function' || Symbol.asyncIterator in foreign) return from(value);
  return new Observable<T>((subscriber) => {
    const subscription = foreign.subscribe?.({
      next: (item: T) => subscriber.next(item),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
    return () => subscription?.unsubscribe?.();
  });
}

/** Whether a value is an iterable of results rather than one result. A string is one. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

/**
 * The results that a plugin's return value stands for, when they are available: nothing, one, or an array of them.
 * `undefined` means that they must be waited for, or pulled: see {@link streamResults}.
 */
export function availableResults<T>(value: unknown): readonly T[] | undefined {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  return isAsync(value) || isIterable(value) ? undefined : [value as T];
}

/** Results of an iterable that are taken at once. Nearly all iterables have fewer, and then cost no Observable. */
const AT_ONCE = 16;

/** All results of an iterable if they are few; otherwise an iterable that goes on where this left off. */
export function takeIfFew<T>(iterable: Iterable<T>): readonly T[] | Iterable<T> {
  const iterator = iterable[Symbol.iterator]();
  const taken: T[] = [];
  while (taken.length < AT_ONCE) {
    const result = iterator.next();
    if (result.done === true) return taken;
    taken.push(result.value);
  }
  const next = (): IteratorResult<T> =>
    taken.length > 0 ? { done: false, value: taken.shift() as T } : iterator.next();
  const close = () => iterator.return?.() ?? { done: true, value: undefined };
  return { [Symbol.iterator]: () => ({ next, return: close }) };
}

const WITHOUT_BOUND: Demand = {
  room: Number.POSITIVE_INFINITY,
  room$: /* @__PURE__ */ of(Number.POSITIVE_INFINITY),
};

/**
 * The results of an Observable, an iterable, or a promise of any of what a plugin may return. Iterables are pulled by
 * demand: by default, to their end. Observables cannot be made to wait.
 */
export function streamResults<T>(value: unknown, demand: Demand = WITHOUT_BOUND): Observable<T> {
  if (isPulled(value)) return pullFrom(value as AsyncIterable<T>, demand);
  const results = toObservable(value as ObservableInput<unknown>);
  const isPromise = typeof (value as { then?: unknown }).then === 'function';
  if (!isPromise) return results as Observable<T>;
  return results.pipe(concatMap((result) => availableResults<T>(result) ?? streamResults<T>(result, demand)));
}

/** Some Observables are async iterables as well: they tell by themselves what comes. */
function isPulled(value: unknown): boolean {
  if (typeof (value as { subscribe?: unknown }).subscribe === 'function') return false;
  return isIterable(value) || Symbol.asyncIterator in (value as object);
}

/**
 * Makes something of the configuration once for each context that a plugin runs in, when it is first needed.
 *
 * @example
 * const fieldsOf = oncePerContext((ctx) => Object.keys(ctx.config));
 * fieldsOf({ config: { format: 'json' } }); // ['format']
 */
export function oncePerContext<C, T extends object>(
  make: (ctx: PipelineRunContext<C>) => T,
): (ctx: PipelineRunContext<C>) => T {
  const made = new WeakMap<PipelineRunContext<C>, T>();
  return (ctx) => {
    let result = made.get(ctx);
    if (result === undefined) {
      result = make(ctx);
      made.set(ctx, result);
    }
    return result;
  };
}
