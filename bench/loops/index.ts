import type { EventLoop } from './event-loop.ts';
import { lineByLine } from './line-by-line.ts';
import { literalsFirst } from './literals-first.ts';
import { wholeChunks } from './whole-chunks.ts';

/** Of the main job. */
export const LOOPS = { lineByLine, wholeChunks, literalsFirst } as const satisfies Record<string, EventLoop>;
export type LoopName = keyof typeof LOOPS;
