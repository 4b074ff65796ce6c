import type { Observable } from 'rxjs';
import * as z from 'zod';
import { withChildren } from '../../operators/index.ts';
import { drawDelay } from '../../operators/internal.ts';
import {
  type CollectedEvent,
  count,
  type PipelineRunContext,
  type PluginConfig,
  ProcessConfigBase,
  seconds,
} from '../../src/sdk/index.ts';

export const description = 'Passes events on unchanged, late or followed by children if asked to. For tests.';

export const example = `
slow-down:
  plugin: test
  delay_range:
    minimum: 0.1
    maximum: 0.5
  child_events_count: 2
`;

export const exampleEvents = [
  {
    given: { n: 1 },
    gives: [{ n: 1 }, { n: 1, 'slow-down-child-count': 1 }, { n: 1, 'slow-down-child-count': 2 }],
  },
];

export const shownSettings = { delay: ' s', delay_range: ' s', child_events_count: '' };

const atLeastZero = () =>
  seconds()
    .refine((value) => value >= 0, { message: 'a number of at least 0' })
    .meta({ minimum: 0 });

/** Bounds of a random delay, in seconds: docs/specification.md#28-process-plugins. */
export const DelayRange = z
  .strictObject({
    minimum: atLeastZero().describe('The shortest delay, in seconds.'),
    maximum: atLeastZero().describe('The longest delay, in seconds.'),
  })
  .refine(({ minimum, maximum }) => minimum <= maximum, {
    path: ['minimum'],
    message: 'a number that is not above maximum',
  });
export type DelayRange = Readonly<z.output<typeof DelayRange>>;

/** docs/specification.md#28-process-plugins. With both `delay` and `delay_range`, the range is used. */
export const TestProcessConfig = ProcessConfigBase.extend({
  delay: seconds().gt(0).optional().describe('Seconds by which each event is delayed.'),
  delay_range: DelayRange.nullable().default(null).describe('Draws a random delay for each event.'),
  child_events_count: count().optional().describe('How many child events follow each event.'),
});
export type TestProcessConfig = Readonly<z.output<typeof TestProcessConfig>>;

export function get_config_schema(): typeof TestProcessConfig {
  return TestProcessConfig;
}

/**
 * Emits the event after the delay, then its children. The delay is drawn once for an event; child n of N waits
 * delay × (N ÷ n) more, and carries n in its data as `<name of the entry>-child-count`.
 */
export function process({
  ctx,
  event,
}: {
  ctx: PipelineRunContext<TestProcessConfig & PluginConfig>;
  event: CollectedEvent;
}): readonly CollectedEvent[] | Observable<CollectedEvent> {
  const { name, delay = 0, delay_range, child_events_count } = ctx.config;
  const seconds = delay_range === null ? delay : drawDelay(delay_range, ctx.random);
  return withChildren(event, {
    name,
    count: child_events_count ?? 0,
    delay: seconds * 1000,
  });
}
