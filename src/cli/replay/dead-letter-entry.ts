import { isEvent } from '../../sdk/event-batch.ts';
import type { CollectedEvent } from '../../sdk/events.ts';
import type { PluginKind } from '../../sdk/plugin.ts';

/** The entry of a configuration that failed on an event. */
export interface FailedPlugin {
  readonly plugin: string;
  /** Undefined in entries of versions that did not say it. */
  readonly pluginKind: PluginKind | undefined;
}

/** What one line of a dead-letter file is. */
export type DeadLetterEntry =
  | (FailedPlugin & {
      readonly kind: 'event';
      readonly pipeline: string;
      readonly event: CollectedEvent;
    })
  /** The event had not passed every mask: it is not there. */
  | { readonly kind: 'withheld'; readonly pipeline: string; readonly plugin: string }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Reasons never quote the line: it may hold an event. */
export function readEntry(line: string): DeadLetterEntry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: 'unreadable', reason: 'it is no JSON' };
  }
  if (!isEvent(value)) return { kind: 'unreadable', reason: 'it is no event, `{ data: { … } }`' };
  const { pipeline, plugin, kind, event, withheld } = value.data as Record<string, unknown>;
  if (typeof pipeline !== 'string' || typeof plugin !== 'string') {
    return {
      kind: 'unreadable',
      reason: 'it is no entry of a dead letter: `pipeline` or `plugin` is missing',
    };
  }
  const pluginKind = kind === 'process' || kind === 'forward' ? kind : undefined;
  if (isEvent(event)) return { kind: 'event', pipeline, plugin, pluginKind, event };
  if (event === undefined && withheld !== undefined) return { kind: 'withheld', pipeline, plugin };
  return { kind: 'unreadable', reason: 'it has no event, and does not say that one was withheld' };
}
