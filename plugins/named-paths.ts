import picomatch from 'picomatch';
import { isGlob } from '../operators/file-lines/expand-paths.ts';

/** Whether one of `patterns` names a file of this path, be it there or not. */
export function namesPath(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => (isGlob(pattern) ? picomatch.isMatch(path, pattern) : pattern === path));
}
