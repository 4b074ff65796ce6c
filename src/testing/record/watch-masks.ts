import { tap } from 'rxjs';
import { isMapping } from '../../sdk/checks/problem.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import { isEvent } from '../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import { availableResults, isMask, type ProcessPlugin, streamResults } from '../../sdk/plugin.ts';
import { replacePlugins, tracedJoining, tracedProcessor, withoutAudit } from '../stand-ins.ts';

/** What a mask of the pipeline still replaced in a recorded event. */
export interface MaskFinding {
  /** The data of the event as it was collected. */
  readonly data: object;
  /** The strings that were replaced; undefined if that cannot be told. */
  readonly replaced: readonly (readonly [before: string, after: string])[] | undefined;
  /** The lines that were joined to the event; undefined if it was one line. */
  readonly lines: string | undefined;
}

/** A configuration whose masks are watched. */
interface WatchedMasks {
  readonly config: AnalyticsConfig;
  /** The collected event that an event was made of. */
  readonly originOf: (event: CollectedEvent) => CollectedEvent;
  /** The data of the collected events of which something has reached the last mask of the pipeline. */
  readonly seen: ReadonlySet<object>;
}

/**
 * The configuration with masks that report what they replace. A recorded event is masked as it was collected; after other
 * processors, such as one that parses JSON, a mask may know better what a secret is.
 *
 * @param timeLeft real milliseconds until processors fail instead of working on
 */
export function watchMasks(
  config: AnalyticsConfig,
  pipeline: string,
  onFinding: (finding: MaskFinding) => void,
  timeLeft: () => number,
): WatchedMasks {
  const seen = new Set<object>();
  const lastMask = maskNames(config, pipeline).at(-1);
  const origins = new WeakMap<CollectedEvent, CollectedEvent>();
  const joinedLines = new WeakMap<CollectedEvent, string>();
  const originOf = (event: CollectedEvent) => origins.get(event) ?? event;
  const descent = {
    inherit: (child: unknown, parent: CollectedEvent) => {
      if (!isEvent(child) || child === parent) return;
      const origin = originOf(parent);
      origins.set(child, origin);
      const lines = joinedLines.get(parent);
      if (lines !== undefined && !joinedLines.has(child)) joinedLines.set(child, lines);
    },
  };
  const watched = (name: string, plugin: ProcessPlugin): ProcessPlugin => ({
    ...plugin,
    process: ({ ctx, event }) => {
      if (name === lastMask) seen.add(originOf(event).data);
      const found = (result: unknown) => {
        const replaced = isEvent(result) ? differences(event.data, result.data) : undefined;
        if (replaced?.length === 0) return;
        onFinding({ data: originOf(event).data, replaced, lines: joinedLines.get(event) });
      };
      try {
        const returned: unknown = plugin.process({ ctx, event });
        const results = availableResults<CollectedEvent>(returned);
        if (results === undefined) {
          return streamResults<CollectedEvent>(returned).pipe(
            tap<CollectedEvent>({ next: found, error: () => found(undefined) }),
          );
        }
        // One that reports, and lets nothing pass, does not say what it has found.
        if (results.length === 0) found(undefined);
        for (const result of results) found(result);
        return results;
      } catch (error) {
        found(undefined);
        throw error;
      }
    },
  });
  const processors = Object.fromEntries(
    Object.entries(config.processors).map(([name, entry]) => [name, withoutAudit(entry)]),
  );
  const watching = replacePlugins(processors, ({ name, loaded_plugin }) => {
    const plugin = isMask(loaded_plugin) ? watched(name, loaded_plugin) : loaded_plugin;
    const { joinLines } = plugin;
    const joining: Pick<ProcessPlugin, 'joinLines'> | undefined = joinLines && {
      joinLines: (args) =>
        tracedJoining(joinLines.call(plugin, args), (joined, _, lines) => joinedLines.set(joined, lines)),
    };
    const process: ProcessPlugin['process'] = (args) => {
      if (timeLeft() === 0) throw new Error('there is no time left');
      return plugin.process(args);
    };
    return tracedProcessor({ ...plugin, ...joining, process }, descent);
  });
  return { config: { ...config, processors: watching }, originOf, seen };
}

/** The names of the processors of a pipeline that remove secrets, in their order. */
export function maskNames({ pipelines, processors }: AnalyticsConfig, pipeline: string): string[] {
  return (pipelines[pipeline]?.process ?? []).filter((name) => isMask(processors[name]?.loaded_plugin));
}

/** The strings of a value that differ in another of the same form; undefined if the forms differ. */
export function differences(before: unknown, after: unknown): (readonly [string, string])[] | undefined {
  if (typeof before === 'string' && typeof after === 'string') {
    return before === after ? [] : [[before, after]];
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return joined(before.map((item, index) => differences(item, after[index])));
  }
  if (isMapping(before) && isMapping(after)) {
    const keys = Object.keys(before);
    if (keys.length !== Object.keys(after).length) return undefined;
    return joined(
      keys.map((key) => (Object.hasOwn(after, key) ? differences(before[key], after[key]) : undefined)),
    );
  }
  return Object.is(before, after) ? [] : undefined;
}

function joined<T>(lists: readonly (readonly T[] | undefined)[]): T[] | undefined {
  return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
}
