import type { FollowedFile } from './followed-file.ts';

/**
 * Polls that leave a quiet file alone whose watch is alive: one in five looks all the same, for what a watch does not
 * show, such as writes to a network file system from elsewhere.
 */
const RESTS = 4;

/** Spreads the looks at many files over the polls. */
export function firstRests(number: number): number {
  return number % (RESTS + 1);
}

/** Whether this poll may leave a file alone. A link may be led elsewhere, which no watch on the file shows. */
export function mayRest(file: FollowedFile, isWatched: boolean): boolean {
  if (!isWatched || !file.isAtEnd || file.isLinked || file.isGone) return false;
  if (file.rests === 0) {
    file.rests = RESTS;
    return false;
  }
  file.rests--;
  return true;
}
