import { type Observable, type ObservableInput, tap, throwError } from 'rxjs';
import type { AnalyticsConfig, PluginConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { MillraceError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { LineJoining, Plugin, ProcessPlugin } from '../sdk/plugin.ts';
import { availableResults, isAsync, isIterable, toObservable } from '../sdk/plugin-result.ts';
import { anything } from './stand-in-collector.ts';
import type { Letters } from './trace.ts';

/** The real processor, of which the letters of its results and unfit promises are noted. */
export function tracedProcessor(
  plugin: ProcessPlugin,
  letters: Letters,
  onPromise: () => void,
): ProcessPlugin {
  return {
    ...plugin,
    get_config_schema: anything,
    ...(plugin.joinLines && {
      joinLines: (args) => tracedJoining(plugin.joinLines?.(args) as LineJoining, letters),
    }),
    process: ({ ctx, event }) => {
      const returned: unknown = plugin.process({ ctx, event });
      const results = availableResults<CollectedEvent>(returned);
      if (results !== undefined) {
        for (const result of results) letters.inherit(result, event);
        return results;
      }
      if (!isAsync(returned) && isIterable(returned)) {
        return noted(returned as Iterable<CollectedEvent>, (result) => letters.inherit(result, event));
      }
      if (!isAsync(returned) || !isObservableLike(returned)) {
        onPromise();
        return returned as Observable<CollectedEvent>;
      }
      return toObservable(returned as ObservableInput<CollectedEvent>).pipe(
        tap((result) => letters.inherit(result, event)),
      );
    },
  };
}

/** A joined event has the letter of the first one. */
function tracedJoining(joining: LineJoining, letters: Letters): LineJoining {
  return {
    ...joining,
    withLine: (event, lines) => {
      const joined = joining.withLine(event, lines);
      letters.inherit(joined, event);
      return joined;
    },
  };
}

/** Still pulled one by one. */
function* noted<T>(results: Iterable<T>, note: (result: T) => void): Generator<T> {
  for (const result of results) {
    note(result);
    yield result;
  }
}

function isObservableLike(value: object): boolean {
  return typeof (value as { subscribe?: unknown }).subscribe === 'function';
}

type Entries<P extends Plugin> = Readonly<Record<string, PluginConfig<P>>>;

/** The entries with other plugins behind the same settings; `replace` returns undefined to keep one. */
export function replacePlugins<P extends Plugin>(
  entries: Entries<P>,
  replace: (entry: PluginConfig<P>) => P | undefined,
): Record<string, PluginConfig<P>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => {
      const plugin = replace(entry);
      return [name, plugin === undefined ? entry : withPlugin(entry, plugin)];
    }),
  );
}

function withPlugin<P extends Plugin>(entry: PluginConfig<P>, plugin: P): PluginConfig<P> {
  const copy = Object.defineProperties(
    { ...entry },
    {
      name: { value: entry.name },
      parent: { value: entry.parent },
      loaded_plugin: { value: plugin },
    },
  );
  return Object.freeze(copy);
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
