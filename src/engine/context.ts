import type { Observable } from 'rxjs';
import type { Demand } from '../../operators/index.ts';
import type { PluginConfig } from '../sdk/config.ts';
import type {
  CollectorState,
  Host,
  Logger,
  PipelineRunContext,
  PluginStats,
  RunInfo,
} from '../sdk/context.ts';
import type { PluginMetrics } from '../sdk/metrics.ts';

/** What the contexts of all plugins of a pipeline have in common. */
export interface SharedContext {
  readonly pipeline: string;
  readonly logger: Logger;
  readonly host: Host;
  readonly info: RunInfo;
  readonly once: boolean;
  readonly random: () => number;
  readonly shared_cache: Record<string, unknown>;
  /** Emits when output files are to be closed and opened again. */
  readonly reopen$?: Observable<unknown> | undefined;
}

interface OwnContext {
  readonly config: PluginConfig;
  readonly cache: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly ended: AbortSignal;
  readonly beforeEnd?: ((work$: Observable<unknown>) => void) | undefined;
  readonly stats: PluginStats;
  readonly metrics: PluginMetrics;
  readonly demand: Demand;
  readonly buffer?: PipelineRunContext['buffer'];
  readonly state: CollectorState;
}

/** The context of one plugin entry in one run of a pipeline: docs/specification.md#26-pipelineruncontext. */
export function createContext(shared: SharedContext, own: OwnContext): PipelineRunContext {
  return Object.freeze({ ...shared, ...own, pipeline_config: own.config.parent });
}
