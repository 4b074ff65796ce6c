import { batchingOf } from '../sdk/batching.ts';
import type { PipelineConfig } from '../sdk/config.ts';
import type { ConfigMistake } from '../sdk/plugin.ts';
import type { ValidEntries } from './pipeline-entries.ts';

/** Warns of batches that a pipeline never fills, because fewer events are in flight. */
export function validateBatching(
  pipelines: ReadonlyMap<string, PipelineConfig>,
  { forward }: ValidEntries,
): ConfigMistake[] {
  return [...pipelines].flatMap(([name, pipeline]) =>
    pipeline.forward.flatMap((forwarder): ConfigMistake[] => {
      const batching = batchingOf(forward.get(forwarder)?.data ?? {});
      // With `workers` there are several times `max_in_flight` events in flight.
      if (batching === undefined || pipeline.workers > 1) return [];
      const { events, concurrency } = batching;
      const wanted = events * concurrency;
      if (wanted <= pipeline.max_in_flight) return [];
      const calls = concurrency === 1 ? '' : `${concurrency} batches of `;
      const message =
        `${calls}${events} events of \`${forwarder}\` do not fit into \`max_in_flight\`, which is ` +
        `${pipeline.max_in_flight}: smaller batches leave when that many are in flight; ` +
        `set \`max_in_flight: ${wanted}\` or more, or a smaller \`batch.events\``;
      return [{ path: ['pipelines', name, 'forward'], severity: 'warning', message }];
    }),
  );
}
