import { engine } from './engine.ts';
import { entropy } from './entropy.ts';
import { mainJob } from './main-job.ts';
import { micro } from './micro.ts';
import type { Part } from './part.ts';

/** All parts, in the order in which they run. */
export const PARTS: readonly Part[] = [mainJob, engine, entropy, micro];
