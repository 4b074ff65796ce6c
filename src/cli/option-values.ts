import { InvalidArgumentError } from 'commander';
import { type ListenAddress, parseListenAddress } from '../sdk/listen-address.ts';

// How the values of options are read. Each throws InvalidArgumentError for one that it does not take.

/** The value of an option that names a folder. */
export function folder(path: string): string {
  // From a variable that is not set, as in `--state-dir "$STATE"`.
  if (path === '') throw new InvalidArgumentError('It is empty; name a folder.');
  // The next option, because the value was forgotten.
  if (path.startsWith('-')) {
    throw new InvalidArgumentError(`Name a folder before it; a folder of that name is ./${path}.`);
  }
  return path;
}

/** The value of an option in MiB. */
export function mebibytes(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new InvalidArgumentError('It must be a number of MiB, 1 or more.');
  }
  return value;
}

/** The value of an option in seconds. */
export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('It must be a number of seconds, 0 or more.');
  }
  return value;
}

/** The value of an option that says where to listen. */
export function address(text: string): ListenAddress {
  const parsed = parseListenAddress(text);
  if (parsed === undefined) throw new InvalidArgumentError('It must be a port, or HOST:PORT.');
  return parsed;
}

const MOST = 9_999_999;

/** The value of an option that counts something, from 1 to `most`. */
export function wholeNumber(most = MOST): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
  };
}

/** The value of an option that is a seed, or `random`. */
export function seed(text: string): number {
  return text === 'random' ? 1 + Math.floor(Math.random() * MOST) : wholeNumber()(text);
}

/** The value of an option that is a time with its unit. */
export function duration(text: string): string {
  if (/^\d+(?:\.\d+)?(?:ms|[smhd])$/.test(text)) return text;
  throw new InvalidArgumentError('Expected a time with its unit, such as 5ms or 2s.');
}

/** The values of an option that may be repeated. */
export function list(text: string, previous: readonly string[] = []): string[] {
  return [...previous, text];
}
