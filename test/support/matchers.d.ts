import type { MillraceMatchers } from '../../src/testing/matchers.ts';

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends MillraceMatchers<R> {}
}
