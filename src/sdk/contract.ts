// What a plugin is: the whole contract. An object or a module is a plugin if it has what its kind requires, which is all that
// is not optional here. docs/plugins.md explains each member.

import type { ObservableInput } from 'rxjs';
import type { CollectorTesting } from './collector-testing.ts';
import type { ConfigProblem, ConfigSchema, PipelinePlace, PipelineProblem } from './config-check.ts';
import type { CollectorState, Host, PipelineRunContext } from './context.ts';
import type { EventBatch } from './event-batch.ts';
import type { CollectedEvent } from './events.ts';
import type { ExactOutput, ExactOutputEvents } from './exact-output.ts';
import type { CallId, EventIds, PartlyFailedCall } from './forward-call.ts';
import type { LineEnvelope } from './line-events.ts';
import type { LineJoining } from './line-joining.ts';
import type { LineMapping } from './line-mapping.ts';
import type { RowMapping } from './parsed-events.ts';
import type { Rows } from './rows.ts';
import type { CollectTraits, ForwardTraits, ProcessTraits } from './traits.ts';

export type PluginKind = 'collect' | 'process' | 'forward';

/** What an entry function may return. */
export type Returned<T> = ObservableInput<T> | T | undefined | void;

interface PluginBase {
  /** What an entry of this plugin may have. */
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
   * them may hold a secret. Of `url`, `endpoint`, `servers` and `brokers`, only scheme, host and port are shown. Default:
   * numbers and switches whose names do not suggest a secret.
   */
  readonly shownSettings?: Readonly<Record<string, string>>;
}

export interface CollectPlugin extends PluginBase {
  /** Called once for each run; what it returns emits the events. An error ends the run. */
  collect(args: { ctx: PipelineRunContext<never> }): Returned<CollectedEvent | EventBatch>;
  readonly traits?: CollectTraits;
  /**
   * For `exactly_once`: called after a crash, before what is not committed is cut off the output. Resolves
   * with the sources of events that were emitted since the last commit and cannot be emitted again, for the log. Default:
   * there are none.
   */
  lostSources?(args: { config: never; state: CollectorState }): PromiseLike<readonly string[]>;
  /** What tests in virtual time have to know, because they replace the collector. */
  readonly testing?: CollectorTesting;
}

export interface ProcessPlugin extends PluginBase {
  /** Returns the events that replace this one: none, one or several. */
  process(args: { ctx: PipelineRunContext<never>; event: CollectedEvent }): Returned<CollectedEvent>;
  readonly traits?: ProcessTraits;
  /**
   * What the first entry of `example` makes of events that arrive one after the other: shown beside it, and executed as
   * a test for the built-in ones.
   */
  readonly exampleEvents?: readonly ExampleEvent[];
  /**
   * Takes the place of `process`, for a processor that joins the lines of several events into one event.
   * The engine holds the lines until the event is complete, and acknowledges them when it is. Called once for each run.
   */
  joinLines?(args: { ctx: PipelineRunContext<never> }): LineJoining;
  /**
   * Takes the place of `process` for the events of lines, which then need not be created. The mapping has to give the line
   * that `process` would give, and everything else in the event stays as it is. Undefined if `process` has to do it.
   */
  mapLines?(args: { ctx: PipelineRunContext<never>; envelope: LineEnvelope }): LineMapping | undefined;
  /**
   * Takes the place of `process` for rows that need not become events, such as the lines that `parse` gets or the
   * `ParsedEvents` that it makes. Undefined if `process` has to do it for these.
   */
  mapRows?(args: { ctx: PipelineRunContext<never>; rows: Rows }): RowMapping | undefined;
}

export interface ForwardPlugin extends PluginBase {
  /**
   * Delivers an event. `restOf` is set if it is what is left of a call that failed in part, and `eventIds` if it comes from a
   * buffer on disk and no processor follows it.
   */
  forward(args: {
    ctx: PipelineRunContext<never>;
    event: CollectedEvent;
    id: CallId;
    restOf?: PartlyFailedCall | undefined;
    eventIds?: EventIds | undefined;
  }): Returned<unknown>;
  /**
   * Takes several events at once, up to 1,024 of those that are waiting, or as the fields of `batching`
   * say. It delivers all of them or fails; the error may name those that failed, in `failedEvents`.
   */
  forwardBatch?(args: {
    ctx: PipelineRunContext<never>;
    events: readonly CollectedEvent[];
    id: CallId;
    restOf?: PartlyFailedCall | undefined;
    eventIds?: EventIds | undefined;
  }): Returned<unknown>;
  readonly traits?: ForwardTraits;
  /**
   * Replaces `forwardBatch` where the configuration requires events as `serialise` writes them;
   * undefined where it requires another form. `documents` has them in UTF-8, each with a newline after it; its memory is
   * used again when they are delivered, so that what is to be kept has to be copied. `restOf` is set if they are what is left
   * of a call that failed in part.
   */
  forwardJsonLines?(args: {
    ctx: PipelineRunContext<never>;
  }):
    | ((documents: Buffer, id: CallId, restOf?: PartlyFailedCall, eventIds?: EventIds) => Returned<unknown>)
    | undefined;
  /**
   * Takes the place of `forward` in a pipeline with `exactly_once`, which is told ahead of each write
   * and when a file was removed.
   */
  exactly?(args: { ctx: PipelineRunContext<never> } & ExactOutputEvents): ExactOutput;
}

export type Plugin = CollectPlugin | ProcessPlugin | ForwardPlugin;

/** What a processor makes of an event, both by their data. */
export interface ExampleEvent {
  readonly given: CollectedEvent['data'];
  readonly gives: readonly CollectedEvent['data'][];
}
