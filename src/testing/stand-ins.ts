import { defer, finalize, type Observable, type ObservableInput, type Observer, tap, throwError } from 'rxjs';
import type { AnalyticsConfig, PluginConfig } from '../sdk/config.ts';
import type { Host, PipelineRunContext } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { freezeDeep, isFrozenWrite } from '../sdk/freeze.ts';
import type { ForwardPlugin, LineJoining, OutputMark, Plugin, ProcessPlugin } from '../sdk/plugin.ts';
import { availableResults, isAsync, toObservable } from '../sdk/plugin.ts';
import { failureText, type RowOutcome } from './faster-forms.ts';
import { anything } from './stand-in-collector.ts';
import type { Letters } from './trace.ts';

/** What follows an event from stage to stage. */
type Descent = Pick<Letters, 'inherit'>;

/** Told of what a processor does that a run in virtual time cannot show as it is. */
interface ProcessorObserver {
  /** It returned a promise. */
  promised?(): void;
  /** An Observable that it returned was subscribed to, or has ended. */
  working?(isWorking: boolean): void;
  /** It tried to change an event. */
  changed?(error: unknown): void;
  /** Events are about to come to `process` one by one, which a run may pass to `mapLines` or `mapRows` instead. */
  arriving?(ctx: PipelineRunContext<never>, events: readonly CollectedEvent[]): void;
  /** What it made of one of them. */
  processed?(event: CollectedEvent, outcome: RowOutcome): void;
}

/**
 * The real processor, of which the letters of its results are noted, and what `observer` is told of. It gets events one by
 * one, never the rows of a batch: what it makes of rows could not be followed. `observer` compares that with what the
 * faster forms make of them.
 */
export function tracedProcessor(
  plugin: ProcessPlugin,
  letters: Descent,
  observer: ProcessorObserver = {},
): ProcessPlugin {
  const failed = (error: unknown) => {
    if (isFrozenWrite(error)) observer.changed?.(error);
  };
  /** Frozen: an event that is changed later would be drawn, and asserted, as what it never was. */
  const note = (result: CollectedEvent, event: CollectedEvent) => {
    if (observer.changed !== undefined) freezeDeep(result);
    letters.inherit(result, event);
  };
  const done = (event: CollectedEvent, results: readonly CollectedEvent[]) =>
    observer.processed?.(event, { events: results });
  const hasFailed = (event: CollectedEvent, error: unknown) => {
    failed(error);
    observer.processed?.(event, { failure: failureText(error) });
  };
  const { mapLines: _, mapRows: __, ...others } = plugin;
  return {
    ...others,
    get_config_schema: anything,
    ...(observer.arriving && {
      mapRows: ({ ctx, rows }) => {
        observer.arriving?.(ctx, rows.events);
        return undefined;
      },
    }),
    ...(plugin.joinLines && {
      joinLines: (args) =>
        tracedJoining(plugin.joinLines?.(args) as LineJoining, letters.inherit.bind(letters)),
    }),
    process: ({ ctx, event }) => {
      let returned: unknown;
      try {
        returned = plugin.process({ ctx, event });
      } catch (error) {
        hasFailed(event, error);
        throw error;
      }
      const results = availableResults<CollectedEvent>(returned);
      if (results !== undefined) {
        for (const result of results) note(result, event);
        done(event, results);
        return results;
      }
      if (isAsync(returned) && !isObservableLike(returned)) {
        observer.promised?.();
        return returned as Observable<CollectedEvent>;
      }
      const all: CollectedEvent[] = [];
      const each = {
        next: (result: CollectedEvent) => {
          note(result, event);
          all.push(result);
        },
        error: (error: unknown) => hasFailed(event, error),
        complete: () => done(event, all),
      };
      if (!isAsync(returned)) return noted(returned as unknown as Iterable<CollectedEvent>, each);
      const result$ = toObservable(returned as ObservableInput<CollectedEvent>);
      return defer(() => {
        observer.working?.(true);
        return result$.pipe(
          tap(each),
          finalize(() => observer.working?.(false)),
        );
      });
    },
  };
}

/**
 * The real forwarder. One that cuts its output back to what was committed tells how many of the events that it has
 * delivered are left: `cutBack`.
 */
export function tracedForwarder(plugin: ForwardPlugin, cutBack: (count: number) => void): ForwardPlugin {
  const { exactly } = plugin;
  if (exactly === undefined) return plugin;
  let written: OutputMark[] = [];
  return {
    ...plugin,
    exactly: (args) => {
      const output = exactly(args);
      return {
        ...output,
        restore: (marks, lost) =>
          output.restore(marks, lost).pipe(
            tap({
              complete: () => {
                written = written.slice(0, committedEvents(written, marks[0]));
                cutBack(written.length);
              },
            }),
          ),
        write: (events) => output.write(events).pipe(tap((marks) => written.push(...marks))),
      };
    },
  };
}

/** How many events come before the end of what was committed. Files before that one are complete. */
function committedEvents(written: readonly OutputMark[], end: OutputMark | undefined): number {
  if (end === undefined) return written.length;
  const isBefore = ({ id, length }: OutputMark) => id === end.id && length <= end.length;
  const last = written.findLastIndex(isBefore);
  const first = written.findIndex(({ id }) => id === end.id);
  return last === -1 && first !== -1 ? first : last === -1 ? written.length : last + 1;
}

/** Tells of each event that lines are joined to, and of the first one of these: it gets events, never lines alone. */
export function tracedJoining(
  joining: LineJoining,
  onJoined: (joined: CollectedEvent, first: CollectedEvent, lines: string) => void,
): LineJoining {
  return {
    ...joining,
    readsLines: false,
    withLine: (event, lines) => {
      const joined = joining.withLine(event, lines);
      onJoined(joined, event, lines);
      return joined;
    },
  };
}

/** Still pulled one by one. */
function* noted<T>(results: Iterable<T>, each: Observer<T>): Generator<T> {
  try {
    for (const result of results) {
      each.next(result);
      yield result;
    }
  } catch (error) {
    each.error(error);
    throw error;
  }
  each.complete();
}

function isObservableLike(value: object): boolean {
  return typeof (value as { subscribe?: unknown }).subscribe === 'function';
}

type Entries<P extends Plugin> = Readonly<Record<string, PluginConfig<P>>>;

/** The entries with the same settings and other plugins; `replace` returns undefined to keep one. */
export function replacePlugins<P extends Plugin>(
  entries: Entries<P>,
  replace: (entry: PluginConfig<P>) => P | undefined,
): Record<string, PluginConfig<P>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      const plugin = replace(entry);
      return [name, plugin === undefined ? entry : copyOf(entry, entry, plugin)];
    }),
  );
}

/** A file in which a mask lists what it has found must not get the findings of a test or a recording as well. */
export function withoutAudit<C extends PluginConfig>(entry: C): C {
  if (!('audit' in entry)) return entry;
  const { audit: _, ...settings } = entry as Record<string, unknown>;
  return copyOf(entry, settings);
}

/** A copy of an entry with other settings, or another plugin. */
export function copyOf<C extends PluginConfig>(
  entry: C,
  settings: object,
  plugin: Plugin = entry.loaded_plugin,
): C {
  const { name, parent } = entry;
  return Object.freeze(
    Object.defineProperties(
      { ...settings },
      { name: { value: name }, parent: { value: parent }, loaded_plugin: { value: plugin } },
    ),
  ) as C;
}

/** Whether a configuration has been parsed already: its entries know their plugins. */
export function isParsed(config: object): config is AnalyticsConfig {
  const { collectors } = config as Partial<AnalyticsConfig>;
  return Object.values(collectors ?? {}).some((entry) => entry?.loaded_plugin !== undefined);
}

const missing = (what: string) =>
  throwError(
    () =>
      new MillraceError(
        'MILLRACE_TEST_HOST',
        `the test has no host for ${what}; give testPipeline the option \`host\``,
      ),
  );

/** The host of a test that needs none: what asks it for something is told so. */
export const testHost: Host = {
  id: 'test',
  role: 'test',
  events: () => missing('events'),
  functions: () => [],
  call: (fn) => missing(`the function ${fn}`),
};
