import { firstValueFrom } from 'rxjs';
import { Manager, type ManagerOptions } from '../../engine/manager.ts';
import type { AnalyticsConfig } from '../../sdk/config.ts';
import type { CollectPlugin } from '../../sdk/plugin.ts';
import { pipelineResults } from '../run-report.ts';
import { RunTimes } from '../run-times.ts';
import type { PipelineResult } from '../summary.ts';
import { replayConfig } from './replay-config.ts';
import type { ReplayTarget } from './replay-targets.ts';

/** Runs of one pipeline over parts of a dead-letter file, each to its end: one for each target. */
export class ReplayPasses {
  readonly #config: AnalyticsConfig;
  readonly #pipeline: string;
  readonly #options: ManagerOptions;
  #manager: Manager | undefined;
  #isStopped = false;

  constructor(config: AnalyticsConfig, pipeline: string, options: ManagerOptions) {
    this.#config = config;
    this.#pipeline = pipeline;
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Stops the pass that runs; those that come later do not begin. */
  stop(): void {
    this.#isStopped = true;
    this.#manager?.stop();
  }

  /** Sends what `plugin` collects to a target. How it ended; nothing if it did not begin. */
  async run(target: ReplayTarget, plugin: CollectPlugin): Promise<PipelineResult[]> {
    if (this.#isStopped) return [];
    const config = replayConfig(this.#config, this.#pipeline, { plugin, target });
    const manager = new Manager(config, this.#options);
    const times = new RunTimes();
    times.follow(manager.states$);
    this.#manager = manager;
    manager.start(this.#pipeline);
    await firstValueFrom(manager.finished$);
    return pipelineResults(config, [this.#pipeline], manager, times);
  }
}
