import Sequencer from '@jest/test-sequencer';

/** Test files that take long, by where they are in the repository. */
const SLOW = /\/test\/(?:docs|cli\/redact|examples\/tests|testing\/conformance)\.test\.ts$/;

/**
 * Starts slow test files first, so that none of them is still running when all others are done. Jest knows how long files
 * take only from the last run, and on a fresh clone starts the largest first.
 */
export default class SlowFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [
      ...sorted.filter(({ path }) => SLOW.test(path)),
      ...sorted.filter(({ path }) => !SLOW.test(path)),
    ];
  }
}
