import type { Engine } from './engine.ts';
import { millrace } from './millrace.ts';
import { nodeStreams } from './node-streams.ts';
import { mergeMapArray, mergeMapOf, rxjsBatches } from './rxjs.ts';

export const ENGINES = {
  millrace,
  'Node streams, object mode': nodeStreams,
  'RxJS, mergeMap(of) twice': mergeMapOf,
  'RxJS, mergeMap(array) twice': mergeMapArray,
  'RxJS, batches of 256': rxjsBatches,
} as const satisfies Record<string, Engine>;
export type EngineName = keyof typeof ENGINES;
