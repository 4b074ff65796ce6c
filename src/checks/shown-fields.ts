import type { PluginKind } from '../models/index.ts';

/** A field that is shown, with what follows its number, if anything. */
export interface ShownField {
  readonly key: string;
  readonly unit?: string;
}

const field = (key: string): ShownField => ({ key });
const seconds = (key: string): ShownField => ({ key, unit: ' s' });

/** What tells the built-in plugins' entries apart. Expressions and arguments are not among them: they may be secret. */
const SHOWN: Readonly<Record<PluginKind, Readonly<Record<string, readonly ShownField[]>>>> = {
  collect: {
    beacons: [field('beacons')],
    file: [field('paths'), field('backfill')],
    host_exec: [field('fn'), seconds('interval')],
    test: [seconds('interval'), field('count')],
  },
  process: {
    regex_mask: [field('rules'), field('mask_char')],
    entropy_mask: [field('h_threshold'), field('length_threshold'), field('mask_char')],
    test: [seconds('delay'), seconds('delay_range'), field('child_events_count')],
  },
  forward: {
    disk: [field('path'), field('filename'), field('pretty_print')],
    noop: [],
    stdout: [field('pretty_print')],
    test: [seconds('sleep'), field('path'), field('add_event_to_shared_cache')],
  },
};

const SECRETIVE = /pass|secret|token|key|credential|auth|pin/i;

/**
 * The settings of an entry that may be shown. Of a plugin that is not built in nobody knows what is secret: only its
 * numbers and switches are shown, and references to environment variables.
 */
export function shownFields(
  kind: PluginKind,
  plugin: string,
  values: Readonly<Record<string, unknown>>,
): readonly ShownField[] {
  const shown = SHOWN[kind];
  return Object.hasOwn(shown, plugin) ? (shown[plugin] as readonly ShownField[]) : harmless(values);
}

function harmless(values: Readonly<Record<string, unknown>>): ShownField[] {
  return Object.entries(values)
    .filter(([key, value]) => {
      if (key === 'plugin') return false;
      if (typeof value === 'string') return /^\$\{\w+\}$/.test(value);
      return (typeof value === 'number' || typeof value === 'boolean') && !SECRETIVE.test(key);
    })
    .map(([key]) => field(key));
}
