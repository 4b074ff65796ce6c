import type { PipelineConfig } from './config.ts';
import type { PluginKind } from './contract.ts';
import type { CollectTraits, ForwardTraits, ProcessTraits } from './traits.ts';

/** What of a zod schema the engine uses, so that a plugin may bring its own copy of zod. */
export interface ConfigSchema {
  safeParse(
    input: unknown,
    context?: { readonly jitless?: boolean },
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly ConfigSchemaIssue[] } };
}

export interface ConfigSchemaIssue {
  readonly code?: string;
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/** A problem that only the plugin can see, found when the configuration is loaded. */
export interface ConfigProblem {
  /** Where, inside the plugin's configuration. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The nearest right name, if there is one. */
  readonly suggestion?: string | undefined;
  /** A warning is of what is right and hardly meant: the configuration is valid all the same. Default: error. */
  readonly severity?: 'error' | 'warning';
}

/** An entry of a pipeline, as the plugins of the other entries see it. */
export interface PipelineEntry {
  readonly name: string;
  readonly kind: PluginKind;
  /** The plugin as the configuration names it. */
  readonly plugin: string;
  /** The validated fields of the entry. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly traits: Readonly<CollectTraits & ProcessTraits & ForwardTraits>;
}

/** Where an entry is in a pipeline. */
export interface PipelinePlace<Config> {
  /** Of the entry. */
  readonly name: string;
  readonly config: Config;
  /** The collectors, and the processors in front of it, in their order. Empty for a collector. */
  readonly before: readonly PipelineEntry[];
  /** The processors after it, in their order, and the forwarders. Empty for a forwarder. */
  readonly after: readonly PipelineEntry[];
  readonly pipeline: PipelineConfig;
}

/** What does not fit together in a pipeline. */
export interface PipelineProblem {
  readonly message: string;
  /** The entry of the pipeline that the message is about. Default: the one of the plugin. */
  readonly at?: PipelineEntry;
  /** The configuration is valid in spite of a warning. Warnings are for enabled pipelines. Default: error. */
  readonly severity?: 'error' | 'warning';
}
