import { AnalyticsConfigShape } from '../sdk/config.ts';
import type { PluginKind } from '../sdk/plugin.ts';

/** A top-level key of a configuration. */
interface Section {
  readonly required: boolean;
  /** What its entries configure, if they are plugins. */
  readonly kind?: PluginKind;
  /** How many levels of names below the key are merged when there are several files. */
  readonly mergeDepth: number;
  /** What it holds, for messages. */
  readonly holds: string;
}

type SectionName = keyof typeof AnalyticsConfigShape.shape;

const names: { readonly [K in SectionName]: Omit<Section, 'required'> } = {
  collectors: { kind: 'collect', mergeDepth: 1, holds: 'a mapping of names to collectors' },
  processors: { kind: 'process', mergeDepth: 1, holds: 'a mapping of names to processors' },
  forwarders: { kind: 'forward', mergeDepth: 1, holds: 'a mapping of names to forwarders' },
  pipelines: { mergeDepth: 1, holds: 'a mapping of names to pipelines' },
  // Two levels, so that each file may bring beacons and functions of its own.
  host_config: { mergeDepth: 2, holds: 'a mapping, which may be empty: add `host_config: {}`' },
  admin: { mergeDepth: 1, holds: 'a mapping with `listen`' },
  tests: { mergeDepth: 1, holds: 'a mapping of names to tests' },
};

const optional = (name: SectionName) => AnalyticsConfigShape.shape[name].safeParse(undefined).success;

/** Every top-level key. A new one needs a field in AnalyticsConfigShape and a line above. */
export const SECTIONS: ReadonlyMap<string, Section> = new Map(
  (Object.keys(names) as SectionName[]).map((name) => [name, { ...names[name], required: !optional(name) }]),
);

/** The sections of plugins, by kind. */
export const PLUGIN_SECTIONS = {
  collect: 'collectors',
  process: 'processors',
  forward: 'forwarders',
} as const satisfies Record<PluginKind, SectionName>;
