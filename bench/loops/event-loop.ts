/**
 * A loop by hand over whole lines, each with its end: masks the three rules and makes JSON lines of events. The
 * events are those of millrace's `file` collector, with one timestamp for all of `text`.
 */
export type EventLoop = (text: string, source: string) => string;

/** Of blocks that are read, masked and written at once. */
export const BLOCK_BYTES = 256 * 1024;
