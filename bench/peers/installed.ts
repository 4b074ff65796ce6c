import { spawnSync } from 'node:child_process';
import type { Found } from './peer.ts';

/**
 * Asks a program for its version, by its own means.
 *
 * @param pattern of which the first group is the version.
 */
export function installed(
  command: string,
  args: readonly string[],
  pattern: RegExp,
  env?: Readonly<Record<string, string>>,
): Found {
  const { error, stdout } = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (error !== undefined) return { missing: `${command} is not installed` };
  return { version: pattern.exec(stdout)?.[1] ?? 'of unknown version' };
}
