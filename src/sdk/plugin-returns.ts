import { isFatal, isPermanent, MillraceError, PluginError, safeReason } from './errors.ts';

/** What kind of value it is, and nothing of its content. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Array.isArray(value)) return 'an array';
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise';
  if (typeof (value as { subscribe?: unknown }).subscribe === 'function') return 'an Observable';
  return 'an object';
}

/**
 * A function of a plugin returned what it must not. `who` is `processor parse`, say, and `did` what its function did. The
 * run fails without a restart: what was meant cannot be told, and it is the plugin that has to be corrected.
 */
export function wrongReturn(who: string, did: string, expected: string): MillraceError {
  const message = `${who}: ${did}; expected ${expected}. The run fails, because what was meant cannot be told; correct the plugin`;
  return Object.assign(new MillraceError('MILLRACE_PLUGIN_RETURN', message), {
    fatal: true,
    permanent: true,
  });
}

/** The error of a function of a plugin, as one that says whose it is. */
export function failedIn(who: string, name: string, cause: unknown): PluginError {
  const options = { cause, permanent: isPermanent(cause) };
  const error = new PluginError(`${who} failed in ${name}: ${safeReason(cause)}`, options);
  return Object.assign(error, { fatal: isFatal(cause) });
}

/** {@link kindOf} a value that should be an event. */
export function describeKind(value: unknown): string {
  const kind = kindOf(value);
  return kind === 'an object' ? `${kind} that is not an event` : kind;
}

/** Calls a function of a plugin whose errors fail the run, so that they say whose they are. */
export function calledFor<T>(who: string, name: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw failedIn(who, name, cause);
  }
}
