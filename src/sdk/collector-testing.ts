import type { Demand } from '../../operators/index.ts';
import type { PipelineRunContext } from './context.ts';
import type { CollectedEvent } from './events.ts';

/** What tests in virtual time have to know of a collector, which they replace. */
export interface CollectorTesting {
  /** The events that it makes of text in its source. */
  eventsOfText?(args: { config: never } & SourceText): readonly CollectedEvent[];
  /** The demand of its pipeline as it divides it into batches. */
  batchDemand?(args: { ctx: PipelineRunContext<never> }): BatchingDemand;
  /** With the trait `redelivers`: when that comes again. */
  redelivery?(args: { config: never }): Redelivery;
}

/** Text that a test puts into the source of a collector. */
export interface SourceText {
  /** Without the newline at its end. */
  readonly text: string;
  /** What the test says where it comes from, such as the path of a file. */
  readonly source: string | undefined;
  /** Whether it was there when the pipeline first started. */
  readonly wasThere: boolean;
}

/** How much a collector that emits batches may emit now, by what it has emitted and what of that is acknowledged. */
export interface BatchingDemand extends Demand {
  /** These were emitted as a batch. */
  emitted(events: number): void;
  /** These were acknowledged, and that was noted in the state. */
  acknowledged(events: number): void;
}

/** When a broker delivers events again. */
export interface Redelivery {
  /** Milliseconds until events that failed, or were rejected, come again after so many deliveries; undefined: never. */
  afterFailure(deliveries: number): number | undefined;
  /** Milliseconds until events come again about which the broker hears nothing, because the run that had them has failed. */
  readonly afterSilence: number;
}
