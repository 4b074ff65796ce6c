import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** The options of commands that keep checkpoints, or show them. */
export interface StateOptions {
  readonly stateDir?: string;
  /** False for `--no-state`. */
  readonly state?: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The folder of checkpoints; undefined with `--no-state`. */
export function stateFolder(options: StateOptions, env: Env = process.env): string | undefined {
  if (options.state === false) return undefined;
  return options.stateDir === undefined ? defaultStateFolder(env) : resolve(options.stateDir);
}

/** The user's folder for state, as the XDG base directory specification has it: a relative one does not count. */
export function defaultStateFolder(env: Env = process.env): string {
  const { XDG_STATE_HOME: base = '' } = env;
  return join(isAbsolute(base) ? base : join(homedir(), '.local', 'state'), 'millrace');
}
