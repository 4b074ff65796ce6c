export { type Duration, durationText, toMilliseconds } from './duration.ts';
export { type MarbleValues, toData } from './event-values.ts';
export { type MarbleEntry, type MarbleRow, marbles, parseMarbleRow } from './marbles.ts';
export { type DroppedEntry, PipelineRun } from './pipeline-run.ts';
export { seededRandom } from './seeded-random.ts';
export type { ForwarderBehaviour } from './stand-ins.ts';
export { type CollectorMarbles, type TestPipelineOptions, testPipeline } from './test-pipeline.ts';
export type { Trace, TraceMark, TraceRow } from './trace.ts';
