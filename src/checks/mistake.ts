import type { ConfigMistake } from '../sdk/plugin.ts';

/** A mistake at a path of the whole configuration. */
export interface Mistake extends ConfigMistake {
  /** Where the caret goes; the value unless told otherwise. */
  readonly at?: 'key' | 'value';
  /** The message is a plugin's, so it may quote the value of an environment variable. */
  readonly foreign?: boolean;
}
