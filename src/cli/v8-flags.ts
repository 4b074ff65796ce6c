import v8 from 'node:v8';

// The workers of the command line load this file too, so it imports nothing else.

/** Where the build puts this module for workers. */
export const url = new URL('./v8-flags.js', import.meta.url).href;

/** Whether the second engine of V8 is used: from Node.js 22 on, expressions that need it are refused. */
export const mayBeSet = Number.parseInt(process.versions.node, 10) < 22;

/**
 * Sets a flag of V8 for the whole process, for good. It is never unset: the user may have set it too, and another thread
 * may need it at that moment.
 */
export function setFlag(flag: string): void {
  v8.setFlagsFromString(`--${flag}`);
}
