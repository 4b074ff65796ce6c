import { MillraceError } from '../../sdk/errors.ts';
import type { Plugin, PluginKind } from '../../sdk/plugin.ts';
import type { Subject } from './subject.ts';

/** One thing that a plugin must do. */
export interface Check {
  readonly name: string;
  readonly kinds: readonly PluginKind[];
  /** Whether a plugin of these kinds has to pass it. Default: each of them. */
  readonly applies?: (plugin: Plugin) => boolean;
  /** Throws if the plugin does not do it. Returns why it could not be looked at, if it could not. */
  readonly run: (subject: Subject) => undefined | string | Promise<undefined | string>;
}

export const ALL_KINDS: readonly PluginKind[] = ['collect', 'process', 'forward'];

/** What a plugin does not do, in words from which its author knows what to change. */
export class CheckFailure extends MillraceError {
  constructor(message: string, options?: ErrorOptions) {
    super('MILLRACE_CONFORMANCE', message, options);
    this.name = 'CheckFailure';
  }
}

export function demand(isMet: boolean, message: string): asserts isMet {
  if (!isMet) throw new CheckFailure(message);
}

/** What went wrong, in the words of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : `a thrown ${String(error)}`;
}
