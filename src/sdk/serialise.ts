import { PluginError } from './errors.ts';
import type { CollectedEvent } from './events.ts';

/** Where the error of `serialise` has its event, for any installed copy of millrace; nothing that prints errors shows it. */
const EVENT = Symbol.for('millrace.unserialisableEvent');

/**
 * An event as JSON: `timestamp` and `data` first, then the rest as it stands. A bigint becomes a string of digits.
 *
 * @param indent spaces per level; none gives one line.
 * @throws PluginError, permanent and without content, for an event that JSON cannot hold: one that contains itself.
 *
 * @example
 * serialise({ timestamp: '2026-01-01T00:00:00.000Z', data: { size: 10n } });
 * // '{"timestamp":"2026-01-01T00:00:00.000Z","data":{"size":"10"}}'
 */
export function serialise(event: CollectedEvent, indent?: number): string {
  try {
    return toJson(inOrder(event), indent);
  } catch (error) {
    throw Object.defineProperty(error as object, EVENT, { value: event });
  }
}

/** The event that `serialise` could not write, of its error; undefined for any other error. */
export function unserialisableEvent(error: unknown): unknown {
  return (error as { [EVENT]?: unknown } | null | undefined)?.[EVENT];
}

/**
 * {@link serialise} with a newline after it.
 *
 * @example
 * toJsonLine({ timestamp: '2026-01-01T00:00:00.000Z', data: {} });
 * // '{"timestamp":"2026-01-01T00:00:00.000Z","data":{}}\n'
 */
export function toJsonLine(event: CollectedEvent, indent?: number): string {
  return `${serialise(event, indent)}\n`;
}

/**
 * {@link serialise} for other values that hold events.
 *
 * @example
 * toJson({ 'first event': { data: { size: 10n } } }); // '{"first event":{"data":{"size":"10"}}}'
 */
export function toJson(value: unknown, indent?: number): string {
  try {
    return stringify(value, indent) ?? 'null';
  } catch {
    // Not as the cause: its message names keys of the event.
    throw new PluginError('an event cannot be written as JSON: it contains itself, or its toJSON fails', {
      permanent: true,
    });
  }
}

/** The replacer is costly, and few events hold a bigint: only what fails without it is tried with it. */
function stringify(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, digits, indent);
  }
}

/** Most events have the order already. */
function inOrder(event: CollectedEvent): CollectedEvent {
  const [first, second] = Object.keys(event);
  if (first === 'timestamp' && second === 'data') return event;
  const { timestamp, data, ...rest } = event;
  return { timestamp, data, ...rest };
}

function digits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
