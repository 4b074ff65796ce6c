import { createRequire } from 'node:module';

/**
 * Loads all of RxJS that the engine uses from one file in place of 109, before the engine asks for them: see `build/`.
 * Here and not in the engine, for it changes what `require` gives: that is the application's, which this process is.
 */
export function loadRxjsAtOnce(): void {
  createRequire(import.meta.url)('#rxjs-modules');
}
