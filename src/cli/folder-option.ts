import { InvalidArgumentError } from 'commander';

/** The value of an option that names a folder. An empty one comes of a variable that is not set. */
export function folder(path: string): string {
  if (path === '') throw new InvalidArgumentError('It is empty; name a folder.');
  return path;
}
