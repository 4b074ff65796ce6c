import { concatMap, defer, map, type Observable, type ObservableInput, of, tap, throwError } from 'rxjs';
import { longTimer } from '../../operators/long-timer.ts';
import type { AnalyticsConfig, PluginConfig } from '../sdk/config.ts';
import type { Host } from '../sdk/context.ts';
import { MillraceError, PluginError } from '../sdk/errors.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import type { CollectPlugin, ConfigSchema, ForwardPlugin, Plugin, ProcessPlugin } from '../sdk/plugin.ts';
import { availableResults, isAsync, isIterable, toObservable } from '../sdk/plugin-result.ts';
import { type Duration, toMilliseconds } from './duration.ts';
import { letterValue, toEvent } from './marbles.ts';
import type { Letters } from './trace.ts';

/** How a forwarder of a test behaves. */
export interface ForwarderBehaviour {
  /** How long each event takes. Default: no time. */
  readonly takes?: Duration;
  /** The first calls that fail: so many, or `always`, or those that a function picks. Default: none. */
  readonly fails?:
    | number
    | 'always'
    | ((call: { readonly event: CollectedEvent; readonly call: number }) => boolean);
  /** Failures are permanent: the event is not tried again. Default: false. */
  readonly permanent?: boolean;
}

/** Configurations were checked against the real plugin's schema before it was replaced. */
const anything = (): ConfigSchema => ({ safeParse: (data) => ({ success: true, data }) });

/** Emits the events of `letters$`, whose values are given. */
export function marbleCollector(
  letters$: () => Observable<string>,
  values: Readonly<Record<string, unknown>> | undefined,
  letters: Letters,
  onEnd: () => void,
): CollectPlugin {
  return {
    get_config_schema: anything,
    collect: () =>
      letters$().pipe(
        map((letter) => {
          const event = toEvent(letterValue(letter, values));
          letters.set(event, letter);
          return event;
        }),
        tap({ complete: onEnd }),
      ),
  };
}

/** Takes events as told, and delivers them nowhere. */
export function standInForwarder(
  { takes = 0, fails = 0, permanent = false }: ForwarderBehaviour,
  onEvent: (event: CollectedEvent) => void,
): ForwardPlugin {
  const duration = toMilliseconds(takes);
  let calls = 0;
  const failsNow = (event: CollectedEvent) => {
    calls++;
    if (typeof fails === 'function') return fails({ event, call: calls });
    return fails === 'always' || calls <= fails;
  };
  const failure = () => throwError(() => new PluginError('the test lets this forwarder fail', { permanent }));
  return {
    get_config_schema: anything,
    forward: ({ event }) => {
      onEvent(event);
      const end = defer(() => (failsNow(event) ? failure() : of()));
      return duration === 0 ? end : longTimer(duration).pipe(concatMap(() => end));
    },
  };
}

/** The real processor, of which the letters of its results and unfit promises are noted. */
export function tracedProcessor(
  plugin: ProcessPlugin,
  letters: Letters,
  onPromise: () => void,
): ProcessPlugin {
  return {
    ...plugin,
    get_config_schema: anything,
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
