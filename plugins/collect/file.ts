import { EMPTY, map, type Observable } from 'rxjs';
import { findLost } from '../../operators/internal-files.ts';
import { followFiles, type LineBatch } from '../../operators/node.ts';
import {
  type CollectorState,
  type ConfigProblem,
  type EventBatch,
  isoNow,
  LineEvents,
  type PipelineRunContext,
} from '../../src/sdk/index.ts';
import { containerFields } from '../file-collector/container-fields.ts';
import { FileCollectConfig } from '../file-collector/file-config.ts';
import { warnOfSmallHeap } from '../file-collector/file-reports.ts';
import { followSettings, lineSettings } from '../file-collector/follow-settings.ts';
import { followedPositions, notingPaths } from '../file-collector/followed-positions.ts';
import { namedBy, reads } from '../file-collector/named-files.ts';
import { collectLines, lineTesting, type ReadLines } from '../lines/collect-lines.ts';

export const description = 'Reads the lines of files, and follows them as they grow and are rotated.';

export const example = `
access-log:
  plugin: file
  paths:
    - /var/log/nginx/access.log
    - /var/log/app/*.log
  backfill: true
`;

export const shownSettings = { paths: '', backfill: '' };

export const traits = { waits: true, resumes: true, emitsLines: true, reads, virtualFiles: true };

/** Lines of no file in particular are of the first one. */
export const testing = lineTesting((config: FileCollectConfig, wasThere) => ({
  ...lineSettings(config),
  fieldsOf: config.container_fields ? containerFields() : undefined,
  source: config.paths[0] ?? '',
  backfill: wasThere && config.backfill,
}));

export { FileCollectConfig };

export function get_config_schema(): typeof FileCollectConfig {
  return FileCollectConfig;
}

/** Finds a collector that reads nothing. */
export function checkConfig({ config }: { config: FileCollectConfig }): readonly ConfigProblem[] {
  if (config.paths.length > 0) return [];
  return [{ path: ['paths'], severity: 'warning', message: 'there are none, so nothing is read' }];
}

/**
 * Emits one event for each line, in batches. With `backfill`, what is in the files at the start comes first and is
 * marked so; without, only what is written from then on. A run continues after the last line that was acknowledged by the
 * one before, whatever `backfill` says; with a state folder that holds for runs of other processes as well. A line is
 * acknowledged when all that came of it was forwarded, given to the dead letter, or dropped and counted: what the pipeline
 * has given up would not fare better after a restart, and would hold back all that follows.
 *
 * A last line without a newline is taken for one after `flush_timeout`, or at the end of a run with `once`.
 *
 * A line longer than `max_line_bytes` is cut there and marked `truncated: true`. Masks see it as it is; behind them
 * the engine takes off its last 64 Ki characters, where a secret might stand that the cut made unrecognisable.
 */
export function collect({ ctx }: { ctx: PipelineRunContext<FileCollectConfig> }): Observable<EventBatch> {
  const { paths, backfill, container_fields } = ctx.config;
  if (ctx.once && !backfill && paths.length > 0) {
    ctx.logger.warn(
      'nothing to read: a run that ends needs `backfill: true`, without it files start at their end',
    );
    return EMPTY;
  }
  const positions = followedPositions(ctx);
  const settings = followSettings(ctx);
  warnOfSmallHeap(ctx, settings.maxLineBytes);
  const fieldsOf = container_fields ? containerFields() : () => undefined;
  const toLines = (batch: LineBatch): ReadLines => {
    positions.emitted(batch);
    const { path, backfill, isTruncated } = batch;
    // Of a name that is not UTF-8, what cannot be shown becomes U+FFFD.
    const source = path.toWellFormed();
    const envelope = { timestamp: isoNow(), source, fields: fieldsOf(source), backfill, isTruncated };
    const release = () => {
      positions.acknowledge(batch);
      batch.release();
    };
    return { lines: new LineEvents(batch, envelope), origin: batch, release };
  };
  return collectLines(ctx, (demand) =>
    followFiles(paths, {
      ...settings,
      demand,
      positions: notingPaths(positions, paths, ctx.state),
    }).pipe(map(toLines)),
  );
}

/** The files that no longer have the lines that were emitted since the last commit of a pipeline with `exactly_once`. */
export function lostSources(args: { config: FileCollectConfig; state: CollectorState }) {
  return findLost(args.state, namedBy(args.config.paths));
}
