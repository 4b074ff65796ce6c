import { concatMap, filter, map, type Observable, repeat, take } from 'rxjs';
import type * as z from 'zod';
import { longTimer, untilAborted } from '../../operators/index.ts';
import {
  CollectConfigBase,
  type CollectedEvent,
  collectedEvent,
  count,
  MAX_COUNT,
  type PipelineRunContext,
  type PluginConfig,
  seconds,
} from '../../src/sdk/index.ts';

export const description = 'Generates events that are counted from 1. For tests.';

export const example = `
ticks:
  plugin: test
  interval: 0.5
  count: 10
`;

export const shownSettings = { interval: ' s', count: '' };

export const traits = { usesState: false, waits: true };

/** docs/specification.md#27-collect-plugins-and-their-events. `interval` is in seconds; without `count` it never stops. */
export const TestCollectConfig = CollectConfigBase.extend({
  interval: seconds().gt(0).default(0.1).describe('Seconds before each event.'),
  count: count().default(MAX_COUNT).describe('How many events are emitted.'),
});
export type TestCollectConfig = Readonly<z.output<typeof TestCollectConfig>>;

export function get_config_schema(): typeof TestCollectConfig {
  return TestCollectConfig;
}

/**
 * Waits `interval` seconds, emits `{ name, count }`, and so on, `count` times. An event waits for room, and the
 * next interval begins after it: none is skipped. A run that ends has nothing to reach without a count: one event.
 */
export function collect({
  ctx,
}: {
  ctx: PipelineRunContext<TestCollectConfig & PluginConfig>;
}): Observable<CollectedEvent> {
  const { config, demand, once, signal } = ctx;
  const times = once && config.count === MAX_COUNT ? 1 : config.count;
  const hasRoom = () =>
    demand.room$.pipe(
      filter((room) => room > 0),
      take(1),
    );
  return longTimer(config.interval * 1000).pipe(
    concatMap(hasRoom),
    repeat({ count: times }),
    map((_, index) => collectedEvent({ name: config.name, count: index + 1 })),
    untilAborted(signal),
  );
}
