import { EMPTY, map, type Observable } from 'rxjs';
import { z } from 'zod';
import { SettledPositions } from '../../operators/file-lines/settled-positions.ts';
import { type FileId, followFiles, type LineBatch } from '../../operators/follow-files.ts';
import { untilAborted } from '../../operators/until-aborted.ts';
import {
  CollectConfigBase,
  type CollectedLineEvent,
  EventBatch,
  isoNow,
  type PipelineRunContext,
  path,
} from '../../src/models/index.ts';

export const description = 'Reads the lines of files, and follows them as they grow and are rotated.';

export const example = `
access-log:
  plugin: file
  paths:
    - /var/log/nginx/access.log
    - /var/log/app/*.log
  backfill: true
`;

/** Specification 2.7: file. `paths` may be globs. */
export const FileCollectConfig = CollectConfigBase.extend({
  paths: z.array(path()),
  backfill: z.boolean().default(false),
});
export type FileCollectConfig = Readonly<z.output<typeof FileCollectConfig>>;

export function get_config_schema(): typeof FileCollectConfig {
  return FileCollectConfig;
}

/**
 * Emits one event for each line, in batches. With `backfill`, what is in the files at the start comes first and is
 * marked so; without, only what is written from then on. A run after a failed one goes on behind the last line
 * that was settled.
 */
export function collect({ ctx }: { ctx: PipelineRunContext<FileCollectConfig> }): Observable<EventBatch> {
  const { paths, backfill } = ctx.config;
  if (ctx.once && !backfill) {
    ctx.logger.warn(
      'nothing to read: a run that ends needs `backfill: true`, without it files start at their end',
    );
    return EMPTY;
  }
  const positions = new SettledPositions(offsetsOf(ctx.cache), { backfill });
  return followFiles(paths, {
    demand: ctx.demand,
    once: ctx.once,
    positions,
    log: ctx.logger,
    onBacklog: (bytes) => ctx.stats.backlog(bytes),
  }).pipe(
    map((batch) => toEvents(batch, positions)),
    untilAborted(ctx.signal),
  );
}

/** Kept over restarts, so that no line is lost or doubled by one. */
function offsetsOf(cache: Record<string, unknown>): Map<FileId, number> {
  cache.offsets ??= new Map<FileId, number>();
  return cache.offsets as Map<FileId, number>;
}

function toEvents(batch: LineBatch, positions: SettledPositions): EventBatch {
  const { lines, path: source, backfill } = batch;
  const timestamp = isoNow();
  const events = lines.map((line): CollectedLineEvent => ({ timestamp, data: { line, source }, backfill }));
  return new EventBatch(events, (outcome) => positions.settle(batch, outcome !== 'failed'));
}
