import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { program } from '../places.ts';

/**
 * Runs one of bench/programs in a process of its own, where nothing is compiled yet and no garbage is left of others.
 *
 * @returns the number that it prints.
 */
export async function runProgram(name: string, ...args: readonly (string | number)[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [program(name), ...args.map(String)]);
  return Number(stdout);
}
