import { getHeapStatistics } from 'node:v8';
import { EMPTY, map, type Observable } from 'rxjs';
import * as z from 'zod';
import { untilAborted } from '../../operators/index.ts';
import { counted, MAX_LINE_BYTES } from '../../operators/internal.ts';
import { findLost, type GoneFile, UNSURE_CHARACTERS } from '../../operators/internal-files.ts';
import { AcknowledgedPositions, followFiles, type LineBatch, type Positions } from '../../operators/node.ts';
import {
  bytes,
  CollectConfigBase,
  type CollectedEvent,
  type CollectorState,
  type ConfigProblem,
  EventBatch,
  isoNow,
  LineEvents,
  type PipelineRunContext,
  path,
  type SourceText,
  seconds,
  type WrittenFile,
} from '../../src/sdk/index.ts';
import { BatchDemand } from '../batch-demand.ts';
import { encoding } from '../encoding.ts';
import { eventsOfText as linesOfText } from '../events-of-text.ts';
import { excludedBy, NamedFiles, namedBy } from '../named-files.ts';

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

export const testing = { eventsOfText, batchDemand };

/** Lines of no file in particular are of the first one. */
function eventsOfText({
  config,
  text,
  source = config.paths[0] ?? '',
  wasThere,
}: { config: FileCollectConfig } & SourceText): readonly CollectedEvent[] {
  const { max_line_bytes: maxLineBytes = MAX_LINE_BYTES, skip_empty_lines: skipEmptyLines = false } = config;
  return linesOfText(text, { source, backfill: wasThere && config.backfill, maxLineBytes, skipEmptyLines });
}

function batchDemand({ ctx }: { ctx: PipelineRunContext<FileCollectConfig> }): BatchDemand {
  return new BatchDemand(ctx.demand, ctx.state, BATCH_LINES);
}

/** Above what is taken off the end of a line that is cut. */
const LEAST_LINE_BYTES = 2 * UNSURE_CHARACTERS;
/** Seconds. */
const FLUSH_TIMEOUT = 5;
const POLL_MS = 1000;
/** Names of files that no mask can look into. */
const COMPRESSED = ['*.gz', '*.zst', '*.xz', '*.bz2'];
/** Lines of a batch, if there is room for so many. */
const BATCH_LINES = 4096;
/** Some 3,000 lines of usual length: a batch goes through the thread pool three times, which costs more than its bytes. */
const CHUNK_BYTES = 512 * 1024;
/** The longest that fits into a string, whatever its characters. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;

/** docs/specification.md#27-collect-plugins-and-their-events. `paths` may be globs. The fields after `backfill` are additions. */
export const FileCollectConfig = CollectConfigBase.extend({
  paths: z.array(path()).describe('Paths of files, or glob patterns of paths.'),
  backfill: z.boolean().default(false).describe('Start with what is in the files. Default: at their end.'),
  exclude: z
    .array(z.string().min(1))
    .optional()
    .describe('Glob patterns of files that are not read. Default: compressed files.'),
  allow_missing: z.boolean().optional().describe('With `--once`: files may be missing. Default: false.'),
  max_line_bytes: bytes()
    .min(LEAST_LINE_BYTES)
    .max(LONGEST_LINE_BYTES)
    .optional()
    .describe('A longer line is cut there, and its event is marked `truncated: true`. Default: 4 MiB.'),
  flush_timeout: seconds()
    .min(1)
    .nullable()
    .optional()
    .describe('Seconds after which a last line without a newline is emitted; null: never. Default: 5.'),
  skip_empty_lines: z
    .boolean()
    .optional()
    .describe('Emit no event for a line without characters. Default: false.'),
  encoding: encoding()
    .optional()
    .describe('The encoding of the files, such as `windows-1252` or `utf-16le`. Default: utf-8.'),
});
export type FileCollectConfig = Readonly<z.output<typeof FileCollectConfig>>;

export function get_config_schema(): typeof FileCollectConfig {
  return FileCollectConfig;
}

/** Finds a collector that reads nothing. */
export function checkConfig({ config }: { config: FileCollectConfig }): readonly ConfigProblem[] {
  if (config.paths.length > 0) return [];
  return [{ path: ['paths'], severity: 'warning', message: 'there are none, so nothing is read' }];
}

const namedFiles = new WeakMap<FileCollectConfig, NamedFiles>();

/** Whether one of `paths` names this file, be it there or not, by whatever path it is written. */
function reads({ config, file }: { config: FileCollectConfig; file: WrittenFile }): boolean {
  let named = namedFiles.get(config);
  if (named === undefined) {
    named = new NamedFiles(config.paths);
    namedFiles.set(config, named);
  }
  return named.has(file);
}

/**
 * Emits one event for each line, in batches. With `backfill`, what is in the files at the start comes first and is
 * marked so; without, only what is written from then on. A run goes on behind the last line that was acknowledged by the
 * one before, whatever `backfill` says; with a state folder that holds for runs of other processes as well. A line is
 * acknowledged when all that came of it was forwarded, given to the dead letter, or dropped and counted: what the pipeline
 * has given up would not fare better after a restart, and would hold back all that follows for ever.
 *
 * A last line without a newline is taken for one after `flush_timeout`, or at the end of a run with `once`.
 *
 * A line longer than `max_line_bytes` is cut there and marked `truncated: true`. Masks see it as it is; behind them
 * the engine takes off its last 64 Ki characters, where a secret might stand that the cut made unrecognisable.
 */
export function collect({ ctx }: { ctx: PipelineRunContext<FileCollectConfig> }): Observable<EventBatch> {
  const { paths, backfill, max_line_bytes: maxLineBytes = MAX_LINE_BYTES } = ctx.config;
  const { flush_timeout: flushTimeout = FLUSH_TIMEOUT, exclude = COMPRESSED } = ctx.config;
  const { skip_empty_lines: skipEmptyLines = false } = ctx.config;
  if (ctx.once && !backfill && paths.length > 0) {
    ctx.logger.warn(
      'nothing to read: a run that ends needs `backfill: true`, without it files start at their end',
    );
    return EMPTY;
  }
  const { state, logger, pipeline } = ctx;
  const positions = new AcknowledgedPositions(state, {
    backfill,
    wasFollowed: wasFollowed(state),
    isFollowed: namedBy(paths),
    onGone: (files) => reportGone(files, ctx),
  });
  const demand = batchDemand({ ctx });
  warnOfSmallHeap(ctx, maxLineBytes);
  return followFiles(paths, {
    demand,
    isExcluded: excludedBy(exclude),
    skipEmptyLines,
    once: ctx.once,
    allowMissing: ctx.config.allow_missing ?? false,
    maxLineBytes,
    encoding: ctx.config.encoding,
    batchLines: BATCH_LINES,
    chunkBytes: Math.min(CHUNK_BYTES, maxLineBytes),
    pollMs: POLL_MS,
    flushPolls: flushTimeout === null ? Infinity : Math.ceil((flushTimeout * 1000) / POLL_MS),
    positions: noting(positions, () => {
      state.set(PATHS, [...paths]);
      // Now: a file that is renamed before the next run is found by it only if it is known.
      state.commit();
    }),
    log: { warn: logger.warn, info: (message, fields) => logger.info(`${pipeline}: ${message}`, fields) },
    onBacklog: (bytes) => ctx.stats.backlog(bytes),
    onGap: (bytes) => ctx.stats.lost(bytes),
    onLostFile: () => ctx.stats.lostFile(),
    onTruncation: () => ctx.stats.truncated(),
  }).pipe(
    map((batch) => {
      const bytes = batch.endOffset - batch.startOffset;
      demand.emitted(batch.size, bytes);
      positions.emitted(batch);
      ctx.stats.bytes(bytes);
      return toEvents(batch, () => {
        positions.acknowledge(batch);
        demand.acknowledged(batch.size, bytes);
        batch.release();
      });
    }),
    untilAborted(ctx.signal),
  );
}

const MIB = 1024 * 1024;
/** MiB of V8's heap for all but the lines, and for each MiB of a line: rules make copies, of two bytes for each character. */
const HEAP = { base: 32, perLine: 10 };
/** MiB that V8 counts on top of `--max-old-space-size`. */
const YOUNG_HEAP = 48;

/** A process that a line ends reads that line again when it is started again, and ends again. */
function warnOfSmallHeap(
  { logger, pipeline, pipeline_config }: PipelineRunContext<FileCollectConfig>,
  maxLineBytes: number,
): void {
  if ((pipeline_config.pipelines[pipeline]?.process ?? []).length === 0) return;
  const heap = Math.floor(getHeapStatistics().heap_size_limit / MIB) - YOUNG_HEAP;
  const needed = HEAP.base + Math.ceil((HEAP.perLine * maxLineBytes) / MIB);
  if (heap >= needed) return;
  const most = Math.floor(((heap - HEAP.base) * MIB) / HEAP.perLine);
  const lower = most < LEAST_LINE_BYTES ? '' : `set \`max_line_bytes\` to ${most} or less, or `;
  logger.warn(
    `${pipeline}: a line of \`max_line_bytes\` (${counted(maxLineBytes, 'byte')}) may need more memory than this process ` +
      `has, would end it, and would be read again at the next start: ${lower}give V8 a heap of ${needed} MiB ` +
      `(NODE_OPTIONS=--max-old-space-size=${needed}; now ${heap})`,
    { max_line_bytes: maxLineBytes, heap_mib: heap },
  );
}

/** The files that no longer have the lines that were emitted since the last commit of a pipeline with `exactly_once`. */
export function lostSources({
  config,
  state,
}: {
  config: FileCollectConfig;
  state: CollectorState;
}): Promise<readonly string[]> {
  return findLost(state, namedBy(config.paths));
}

/** The most files that one message names. */
const MOST_NAMES = 5;

/** Files that are gone since an earlier run: each that was not read as far as it was seen is reported. */
function reportGone(
  files: readonly GoneFile[],
  { logger, stats, pipeline }: PipelineRunContext<FileCollectConfig>,
): void {
  for (const { path, offset, unread: bytes, isReplaced } of files) {
    if (isReplaced) stats.truncated();
    if (bytes === 0) continue;
    stats.lost(bytes);
    stats.lostFile();
    logger.warn(
      `${pipeline}: ${path} ${isReplaced ? 'was truncated or replaced' : 'is gone'} since an earlier run: after ` +
        `${counted(offset, 'byte')} that were read, at least ${counted(bytes, 'byte')} were not. If the file was ` +
        'compressed, copied or moved, its lines are there',
      { path, bytes },
    );
  }
  const read = files.filter(({ unread }) => unread === 0);
  if (read.length === 0) return;
  const names = read.slice(0, MOST_NAMES).map(({ path }) => path);
  const more = read.length > MOST_NAMES ? ` and ${read.length - MOST_NAMES} more` : '';
  logger.info(
    `${pipeline}: gone, truncated or replaced since an earlier run, which had read all that it had seen: ` +
      `${names.join(', ')}${more}. Lines that were written to ${read.length === 1 ? 'it' : 'them'} since were not read`,
    { files: read.length },
  );
}

/** Where the state has the paths that were followed last; the keys of positions are numbers. */
const PATHS = 'paths';

/** A file at a path that the last run had has come since; one at another path may be as old as the configuration. */
function wasFollowed(state: CollectorState): (path: string) => boolean {
  const paths = state.get(PATHS);
  if (!Array.isArray(paths)) return () => false;
  const patterns = paths.filter((path) => typeof path === 'string');
  return namedBy(patterns);
}

/** Calls `note` when all files have their positions: from then on one that has none is new. */
function noting(positions: AcknowledgedPositions, note: () => void): Positions {
  return {
    startAt: (file) => positions.startAt(file),
    recognised: (id, fingerprint, start) => positions.recognised(id, fingerprint, start),
    forget: (id, end) => positions.forget(id, end),
    deleted: (id) => positions.deleted(id),
    known: () => positions.known(),
    seen: (id, size) => positions.seen(id, size),
    found: (isThere, mayBeThere) => {
      positions.found(isThere, mayBeThere);
      note();
    },
  };
}

function toEvents(batch: LineBatch, acknowledge: () => void): EventBatch {
  const { path, backfill, isTruncated } = batch;
  // Of a name that is not UTF-8, what cannot be shown becomes U+FFFD.
  const envelope = { timestamp: isoNow(), source: path.toWellFormed(), backfill, isTruncated };
  return new EventBatch(new LineEvents(batch, envelope), acknowledge, batch);
}
