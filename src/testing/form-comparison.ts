import type { PipelineRunContext } from '../sdk/context.ts';
import { silentLogger } from '../sdk/context.ts';
import type { CollectedEvent } from '../sdk/events.ts';
import { silentMetrics, silentStats } from '../sdk/metrics.ts';
import { needsOrder, type ProcessPlugin } from '../sdk/plugin.ts';
import { memoryState } from '../state/state-store.ts';
import { differenceOf, FormProblem, mapByFasterForm, type RowOutcome } from './faster-forms.ts';
import { asLines, asParsed, type FormedRows } from './rows-of-events.ts';
import { copyOf } from './stand-ins.ts';

/** What a faster form made of an event. */
interface Foreseen {
  readonly by: string;
  readonly outcome: RowOutcome;
}

const FORMS = [asLines, asParsed] as const;

/**
 * Compares what `process` makes of the events of a test with what the faster forms of the processor make of them, as a run
 * would use these. A test follows each event through `process`, because rows cannot be followed.
 */
export class FormComparison {
  /** How the forms differ, for the first event for which they do. */
  difference: string | undefined;
  readonly #plugin: ProcessPlugin;
  readonly #foreseen = new WeakMap<CollectedEvent, Foreseen[]>();
  readonly #contexts = new WeakMap<object, PipelineRunContext<never>[]>();
  /** Forms that saw not all events, where results depend on the events before. */
  readonly #left = new Set<(typeof FORMS)[number]>();
  #usesChance = false;

  /** Undefined if `process` is all that a processor has. */
  static of(plugin: ProcessPlugin): FormComparison | undefined {
    const hasForm = plugin.mapLines !== undefined || plugin.mapRows !== undefined;
    return hasForm && plugin.joinLines === undefined ? new FormComparison(plugin) : undefined;
  }

  private constructor(plugin: ProcessPlugin) {
    this.#plugin = plugin;
  }

  /** These events come to `process` now. */
  foresee(ctx: PipelineRunContext<never>, events: readonly CollectedEvent[]): void {
    if (this.difference !== undefined) return;
    FORMS.forEach((form, index) => {
      const parts = form(events);
      const isAll = parts.reduce((count, { rows }) => count + rows.size, 0) === events.length;
      if (!isAll && needsOrder(this.#plugin, ctx.config)) this.#left.add(form);
      if (this.#left.has(form)) return;
      for (const part of parts) this.#foreseePart(this.#contextsOf(ctx)[index] as typeof ctx, part, events);
    });
  }

  /** What `process` made of one of the events. */
  compare(event: CollectedEvent, processed: RowOutcome): void {
    const foreseen = this.#foreseen.get(event) ?? [];
    this.#foreseen.delete(event);
    for (const { by, outcome } of foreseen) {
      if (this.#usesChance) return;
      this.difference ??= differenceOf(event, by, outcome, processed);
    }
  }

  #foreseePart(
    ctx: PipelineRunContext<never>,
    { start, rows }: FormedRows,
    events: readonly CollectedEvent[],
  ): void {
    try {
      const mapped = mapByFasterForm(this.#plugin, ctx, rows);
      mapped?.outcomes.forEach((outcome, position) => {
        const event = events[start + position] as CollectedEvent;
        const foreseen = this.#foreseen.get(event) ?? [];
        foreseen.push({ by: mapped.by, outcome });
        this.#foreseen.set(event, foreseen);
      });
    } catch (error) {
      if (!(error instanceof FormProblem)) throw error;
      this.difference ??= error.message;
    }
  }

  /** Contexts for the forms, in which they neither count, log nor change anything that `process` uses. */
  #contextsOf(ctx: PipelineRunContext<never>): readonly PipelineRunContext<never>[] {
    const known = this.#contexts.get(ctx) ?? FORMS.map(() => this.#contextBeside(ctx));
    this.#contexts.set(ctx, known);
    return known;
  }

  #contextBeside(ctx: PipelineRunContext<never>): PipelineRunContext<never> {
    // A file in which a mask lists what it has found is written once.
    const { audit: _, ...settings } = { ...(ctx.config as object) } as Record<string, unknown>;
    return {
      ...ctx,
      config: copyOf(ctx.config, settings) as never,
      logger: silentLogger,
      stats: silentStats,
      metrics: silentMetrics,
      cache: {},
      shared_cache: Object.create(ctx.shared_cache),
      state: memoryState(ctx.pipeline, 'faster-form'),
      // Chance is not the same for two forms.
      random: () => {
        this.#usesChance = true;
        return 0;
      },
    };
  }
}
