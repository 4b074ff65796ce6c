import { mainJob } from './main-job.ts';
import type { Part } from './part.ts';

/** All parts, in the order in which they run. */
export const PARTS: readonly Part[] = [mainJob];
