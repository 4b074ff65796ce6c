import {
  type CollectedEvent,
  type LineMapping,
  oncePerContext,
  ParsedEvents,
  type PipelineRunContext,
  type RowMapping,
  type Rows,
} from '../../src/sdk/index.ts';
import { Condition } from './condition.ts';
import type { Cel } from './program.ts';

/** The configuration of `filter`, without its schema. */
interface FilterSettings {
  readonly keep?: string | undefined;
  readonly drop?: string | undefined;
}

type Context = PipelineRunContext<FilterSettings>;

/** What `filter` does, without its schema: all that a worker loads. */
export function filtering(cel: Cel) {
  const filterOf = oncePerContext((ctx: Context) => new LineFilter(ctx.config, cel));
  return {
    process: ({ ctx, event }: { ctx: Context; event: CollectedEvent }): readonly CollectedEvent[] =>
      filterOf(ctx).keeps(event) ? [event] : [],
    mapLines: ({ ctx }: { ctx: Context }): LineMapping | undefined => filterOf(ctx).mapping,
    mapRows: ({ ctx, rows }: { ctx: Context; rows: Rows }): RowMapping | undefined =>
      rows instanceof ParsedEvents ? filterOf(ctx).mappingOf(rows) : undefined,
  };
}

class LineFilter {
  /** Undefined if the condition reads more than the line. */
  readonly mapping: LineMapping | undefined;
  readonly #condition: Condition;
  readonly #keepsWhatHolds: boolean;

  constructor({ keep, drop = '' }: FilterSettings, cel: Cel) {
    this.#condition = new Condition(keep ?? drop, cel);
    this.#keepsWhatHolds = keep !== undefined;
    const { holdsForLine, holdsInText, failsInText } = this.#condition;
    if (holdsForLine === undefined) return;
    const keeps = (line: string) => holdsForLine(line) === this.#keepsWhatHolds;
    const keepsIn = this.#keepsWhatHolds ? holdsInText : failsInText;
    this.mapping = { map: (line) => (keeps(line) ? line : undefined), keeps, keepsIn };
  }

  keeps(event: CollectedEvent): boolean {
    return this.#condition.holds(event) === this.#keepsWhatHolds;
  }

  mappingOf(rows: ParsedEvents): RowMapping {
    return (start, end, { dropped, failed }) => {
      const isKept = (position: number): boolean => {
        try {
          if (this.keeps(rows.eventAt(position))) return true;
          dropped(position);
        } catch (error) {
          failed(position, error);
        }
        return false;
      };
      return rows.slice(start, end).select((position) => isKept(start + position));
    };
  }
}
