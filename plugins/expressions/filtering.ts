import {
  type CollectedEvent,
  type LineMapping,
  type PipelineRunContext,
  PluginError,
} from '../../src/sdk/index.ts';
import { type Cel, CelExpression } from './cel.ts';

/** The configuration of `filter`, without its schema. */
export interface FilterSettings {
  readonly keep?: string | undefined;
  readonly drop?: string | undefined;
}

type Context = PipelineRunContext<FilterSettings>;

/** What `filter` does, without its schema: all that a worker loads. */
export function filtering(cel: Cel) {
  const filters = new WeakMap<Context, LineFilter>();
  const filterOf = (ctx: Context): LineFilter => {
    let filter = filters.get(ctx);
    if (filter === undefined) {
      filter = new LineFilter(ctx.config, cel);
      filters.set(ctx, filter);
    }
    return filter;
  };
  return {
    process: ({ ctx, event }: { ctx: Context; event: CollectedEvent }): readonly CollectedEvent[] =>
      filterOf(ctx).keeps(event) ? [event] : [],
    mapLines: ({ ctx }: { ctx: Context }): LineMapping | undefined => filterOf(ctx).mapping,
  };
}

class LineFilter {
  /** Undefined if the condition reads more than the line. */
  readonly mapping: LineMapping | undefined;
  readonly #condition: CelExpression;
  readonly #wanted: boolean;

  constructor({ keep, drop = '' }: FilterSettings, cel: Cel) {
    this.#condition = new CelExpression(keep ?? drop, cel);
    this.#wanted = keep !== undefined;
    const keeps = (line: string) => this.#keeps(this.#condition.ofLine(line));
    if (this.#condition.readsLineOnly) {
      this.mapping = { map: (line) => (keeps(line) ? line : undefined), keeps };
    }
  }

  keeps(event: CollectedEvent): boolean {
    return this.#keeps(this.#condition.of(event));
  }

  #keeps(result: unknown): boolean {
    if (typeof result === 'boolean') return result === this.#wanted;
    throw new PluginError('the condition gave a value that is neither true nor false');
  }
}
