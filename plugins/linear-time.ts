import v8 from 'node:v8';

/*
 * V8 has a second engine for expressions, which never goes back. This makes it take over where the first one goes
 * back more than 50,000 times. It counts for expressions that are compiled later, so this module is imported
 * before any of a configuration is. A V8 version that does not know a flag prints a line about it and goes on.
 */
v8.setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');

const LINEAR_FLAG = 'experimental-regexp-engine';

/**
 * Whether V8's second engine can run an expression: one without look-around, back-references, the flags `i` and
 * `u`, and repetitions of more than 16, on Node 20.
 *
 * @example
 * takesOverInLinearTime(/^(a+)+$/g); // true
 * takesOverInLinearTime(/^(a+)+$/gi); // false
 */
export function takesOverInLinearTime({ source, flags }: RegExp): boolean {
  // Only while the flag `l` is known does the constructor say what the engine can run.
  v8.setFlagsFromString(`--enable-${LINEAR_FLAG}`);
  try {
    new RegExp(source, `${flags}l`);
    return true;
  } catch {
    return false;
  } finally {
    v8.setFlagsFromString(`--no-enable-${LINEAR_FLAG}`);
  }
}
