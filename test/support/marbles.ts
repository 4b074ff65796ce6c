import { expect } from '@jest/globals';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';

/** Runs a test in virtual time, with Jest's comparison. */
export function marbles(test: (helpers: RunHelpers) => void): void {
  new TestScheduler((actual, expected) => expect(actual).toEqual(expected)).run(test);
}
