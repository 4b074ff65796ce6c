import { defer, finalize, type Observable, type ObservableInput, tap, throwError } from 'rxjs';
import type { AnalyticsConfig, PluginConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { freezeDeep, isFrozenWrite } from '../sdk/freeze.ts';
import type { ForwardPlugin, LineJoining, OutputMark, Plugin, ProcessPlugin } from '../sdk/plugin.ts';
import { availableResults, isAsync, isIterable, toObservable } from '../sdk/plugin.ts';
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
}

/**
 * The real processor, of which the letters of its results are noted, and what `observer` is told of. It gets events one by
 * one, never the lines of a batch: what it makes of lines could not be followed.
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
  const { mapLines: _, mapRows: __, ...others } = plugin;
  return {
    ...others,
    get_config_schema: anything,
    ...(plugin.joinLines && {
      joinLines: (args) =>
        tracedJoining(plugin.joinLines?.(args) as LineJoining, letters.inherit.bind(letters)),
    }),
    process: ({ ctx, event }) => {
      let returned: unknown;
      try {
        returned = plugin.process({ ctx, event });
      } catch (error) {
        failed(error);
        throw error;
      }
      const results = availableResults<CollectedEvent>(returned);
      if (results !== undefined) {
        for (const result of results) note(result, event);
        return results;
      }
      if (!isAsync(returned) && isIterable(returned)) {
        return noted(returned as Iterable<CollectedEvent>, (result) => note(result, event), failed);
      }
      if (!isAsync(returned) || !isObservableLike(returned)) {
        observer.promised?.();
        return returned as Observable<CollectedEvent>;
      }
      const result$ = toObservable(returned as ObservableInput<CollectedEvent>);
      return defer(() => {
        observer.working?.(true);
        return result$.pipe(
          tap({ next: (result) => note(result, event), error: failed }),
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
function* noted<T>(
  results: Iterable<T>,
  note: (result: T) => void,
  failed: (error: unknown) => void,
): Generator<T> {
  try {
    for (const result of results) {
      note(result);
      yield result;
    }
  } catch (error) {
    failed(error);
    throw error;
  }
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
