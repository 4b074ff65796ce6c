import type { MarbleValues } from './event-values.ts';
import { toEqualMarbles, toForward } from './matchers.ts';

/**
 * Matchers for Jest and Vitest:
 *
 *     import { expect } from '@jest/globals';
 *     import { millraceMatchers } from 'millrace/testing';
 *     expect.extend(millraceMatchers);
 */
export const millraceMatchers = { toEqualMarbles, toForward };

/**
 * The types of the matchers. Tell TypeScript that `expect` has them:
 *
 *     declare module 'expect' {
 *       interface Matchers<R> extends MillraceMatchers<R> {}
 *     }
 */
export interface MillraceMatchers<R> {
  toEqualMarbles(marbles: string, values?: MarbleValues): R;
  toForward(forwarder: string, marbles: string, values?: MarbleValues): R;
}
