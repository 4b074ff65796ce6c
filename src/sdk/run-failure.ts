import { safeReason } from './errors.ts';

/** The collectors that errors are of. The errors stay as they were thrown, for programs that look at them. */
const collectors = new WeakMap<object, string>();

/** Notes whose error it is, for {@link failureReason}. Returns the error. */
export function nameCollector(error: unknown, collector: string): unknown {
  if (typeof error === 'object' && error !== null) collectors.set(error, collector);
  return error;
}

/** Why a run has failed, for the log: {@link safeReason}, with the collector that failed if it was one. */
export function failureReason(error: unknown): string {
  const reason = safeReason(error);
  const collector = collectors.get(error as object);
  if (collector === undefined || reason.startsWith(`collector ${collector}`)) return reason;
  return `collector ${collector}: ${reason}`;
}
