export { alignedRows, type RowEntry, sameRows } from './aligned-rows.ts';
export * from './conformance/index.ts';
export { type DrawSvgOptions, drawSvg } from './draw/draw-svg.ts';
export { type DrawTextOptions, drawText } from './draw/draw-text.ts';
export { type Duration, durationText, toMilliseconds } from './duration.ts';
export type { Crash, FileAction, FileMove, FileStep, FileText } from './file-steps.ts';
export type { FlightLevel } from './flight-counter.ts';
export {
  type MarbleEntry,
  type MarbleRow,
  type MarbleValues,
  marbles,
  parseMarbleRow,
  toData,
} from './marbles.ts';
export { type MillraceMatchers, millraceMatchers } from './matchers.ts';
export { type DiskRecord, type DroppedEntry, PipelineRun } from './pipeline-run.ts';
export { seededRandom } from './seeded-random.ts';
export type { TimedValue } from './stand-in-collector.ts';
export type { ForwarderBehaviour, ForwarderCall, PlannedCall } from './stand-in-forwarder.ts';
export type { PendingRetry, SteppedRun } from './stepped-run.ts';
export {
  type CollectorEvents,
  type CollectorMarbles,
  type CollectorRuns,
  type CrashPoint,
  stepPipeline,
  type TestPipelineOptions,
  testPipeline,
} from './test-pipeline.ts';
export type { EventOrigin, Trace, TraceMark, TraceRow } from './trace.ts';
export type { DiskCall } from './virtual-machine.ts';
