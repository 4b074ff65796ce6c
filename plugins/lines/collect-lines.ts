import { map, type Observable } from 'rxjs';
import { untilAborted } from '../../operators/index.ts';
import {
  type CollectedEvent,
  EventBatch,
  type EventOrigin,
  type LineEnvelope,
  type LineEvents,
  type PipelineRunContext,
  type SourceText,
} from '../../src/sdk/index.ts';
import { BatchDemand } from './batch-demand.ts';
import { eventsOfText } from './events-of-text.ts';

/** Lines of a batch, if there is room for so many. */
export const BATCH_LINES = 4096;

/** Lines that a reader has read together, from one source. */
export interface ReadLines {
  readonly lines: LineEvents;
  readonly origin: EventOrigin;
  /** To be called once the lines are acknowledged: notes that, and gives their memory back. */
  release(): void;
}

type Context = Pick<PipelineRunContext<never>, 'demand' | 'state' | 'stats' | 'signal'>;

/** Collects the lines of a reader, which reads no more of them than the demand has room for. */
export function collectLines(
  ctx: Context,
  read: (demand: BatchDemand) => Observable<ReadLines>,
): Observable<EventBatch> {
  const demand = lineDemand(ctx);
  return read(demand).pipe(
    map(({ lines, origin, release }) => {
      const bytes = origin.endOffset - origin.startOffset;
      demand.emitted(lines.size, bytes);
      ctx.stats.bytes(bytes);
      const acknowledge = () => {
        release();
        demand.acknowledged(lines.size, bytes);
      };
      return new EventBatch(lines, acknowledge, origin);
    }),
    untilAborted(ctx.signal),
  );
}

export function lineDemand({ demand, state }: Pick<Context, 'demand' | 'state'>): BatchDemand {
  return new BatchDemand(demand, state, BATCH_LINES);
}

/** How lines are made of text. */
export interface LineSettings {
  readonly maxLineBytes: number;
  readonly skipEmptyLines: boolean;
}

interface TextSettings extends LineSettings {
  /** Where text comes from if a test does not say. */
  readonly source: string;
  /** What the data of an event from a source has beside `line` and `source`. */
  readonly fieldsOf?: ((source: string) => LineEnvelope['fields']) | undefined;
  readonly backfill: boolean;
}

/** `testing` of a collector of lines. */
export function lineTesting<Config>(settingsOf: (config: Config, wasThere: boolean) => TextSettings) {
  return {
    batchDemand: ({ ctx }: { ctx: Context }) => lineDemand(ctx),
    eventsOfText(args: { config: Config } & SourceText): readonly CollectedEvent[] {
      const settings = settingsOf(args.config, args.wasThere);
      const source = args.source ?? settings.source;
      return eventsOfText(args.text, { ...settings, source, fields: settings.fieldsOf?.(source) });
    },
  };
}
