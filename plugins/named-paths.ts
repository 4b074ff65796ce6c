import { basename } from 'node:path';
import picomatch from 'picomatch';
import { isGlob } from '../operators/files/follow/expand-paths.ts';

/** Whether one of `patterns` names a file of this path, be it there or not. */
export function namesPath(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => (isGlob(pattern) ? picomatch.isMatch(path, pattern) : pattern === path));
}

/** Tells whether one of `patterns` excludes a path: by the name of the file, or by all of it if the pattern has a slash. */
export function excludedBy(patterns: readonly string[]): (path: string) => boolean {
  const matchers = patterns.map((pattern) => {
    const matches = picomatch(pattern, { dot: true });
    return pattern.includes('/') ? matches : (path: string) => matches(basename(path));
  });
  return (path) => matchers.some((matches) => matches(path));
}
