import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from '../places.ts';

/**
 * Runs one of bench/programs in a process of its own, where nothing is compiled yet and no garbage is left of others.
 *
 * @returns what it prints, which is JSON: a number, say.
 */
export async function runProgram<T>(name: string, ...args: readonly (string | number)[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [program(name), ...args.map(String)]);
  return JSON.parse(stdout);
}
