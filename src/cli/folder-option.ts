import { InvalidArgumentError } from 'commander';

/**
 * The value of an option that names a folder. An empty one comes of a variable that is not set; one that begins like an
 * option is the next of them, where the value was forgotten.
 */
export function folder(path: string): string {
  if (path === '') throw new InvalidArgumentError('It is empty; name a folder.');
  if (path.startsWith('-'))
    throw new InvalidArgumentError(`Name a folder ahead of it; one of that name is ./${path}.`);
  return path;
}
