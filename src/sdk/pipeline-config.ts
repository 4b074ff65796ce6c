import * as z from 'zod';
import { integer, nameList } from './scalars.ts';

/** Ours: what happens to events that a forwarder does not take. */
export const DeliveryConfig = z.strictObject({
  attempts: integer().min(1).optional(),
  dead_letter: z.string().optional(),
  timeout: z.number().gt(0).optional(),
});

/** Ours: what happens to events that come faster than the window takes them, from a source that cannot wait. */
export const BufferConfig = z.strictObject({
  max_events: integer().min(1).default(10_000),
  when_full: z.enum(['drop_oldest', 'drop_newest']).default('drop_oldest'),
});

/** Specification 2.2, with the optional keys `max_in_flight`, `ordered`, `exactly_once`, `workers`, `buffer` and `delivery` of ours. */
export const PipelineConfig = z.strictObject({
  collect: nameList(),
  process: nameList().optional(),
  forward: nameList(),
  enabled: z.boolean().default(true),
  restart: z.boolean().default(true),
  max_in_flight: integer().min(1).default(1000),
  ordered: z.boolean().default(true),
  exactly_once: z.boolean().default(false),
  workers: integer().min(1).max(64).default(1),
  buffer: BufferConfig.prefault({}),
  delivery: DeliveryConfig.prefault({}),
});
export type PipelineConfig = Readonly<z.output<typeof PipelineConfig>>;
