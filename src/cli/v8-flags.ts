import v8 from 'node:v8';

// The workers of the command line load this file too, so it imports nothing else.

/** Where the build puts this module for workers. */
export const url = new URL('./v8-flags.js', import.meta.url).href;

/**
 * Whether flags of expressions may be set for the moment of compiling one. From Node.js 22 on, V8 ends the process if its
 * second engine runs while the flag is no longer set.
 */
export const mayBeReset = Number.parseInt(process.versions.node, 10) < 22;

/**
 * Runs work while V8 has a flag. V8 looks at the flags of expressions when it compiles one, so that no other expression of
 * the process is changed. A version of V8 that does not know a flag prints a line about it and goes on.
 */
export function withFlag<T>(flag: string, work: () => T): T {
  v8.setFlagsFromString(`--${flag}`);
  try {
    return work();
  } finally {
    v8.setFlagsFromString(`--no-${flag}`);
  }
}
