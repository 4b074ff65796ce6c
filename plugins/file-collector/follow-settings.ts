import { MAX_LINE_BYTES } from '../../operators/internal.ts';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import { BATCH_LINES, type LineSettings } from '../lines/collect-lines.ts';
import type { FileCollectConfig } from './file-config.ts';
import { excludedBy } from './named-files.ts';

/** Seconds. */
const FLUSH_TIMEOUT = 5;
const POLL_MS = 1000;
/** Names of files that no mask can look into. */
const COMPRESSED = ['*.gz', '*.zst', '*.xz', '*.bz2'];
/** Some 3,000 lines of usual length: a batch goes through the thread pool three times, which costs more than its bytes. */
const CHUNK_BYTES = 512 * 1024;

export function lineSettings({ max_line_bytes, skip_empty_lines }: FileCollectConfig): LineSettings {
  return { maxLineBytes: max_line_bytes ?? MAX_LINE_BYTES, skipEmptyLines: skip_empty_lines ?? false };
}

/** What an entry says of following its files, with the defaults. */
export function followSettings({
  config,
  once,
  logger,
  pipeline,
  stats,
}: PipelineRunContext<FileCollectConfig>) {
  const { flush_timeout: flushTimeout = FLUSH_TIMEOUT, exclude = COMPRESSED } = config;
  const { maxLineBytes, skipEmptyLines } = lineSettings(config);
  return {
    isExcluded: excludedBy(exclude),
    skipEmptyLines,
    once,
    allowMissing: config.allow_missing ?? false,
    maxLineBytes,
    encoding: config.encoding,
    batchLines: BATCH_LINES,
    chunkBytes: Math.min(CHUNK_BYTES, maxLineBytes),
    pollMs: POLL_MS,
    flushPolls: flushTimeout === null ? Infinity : Math.ceil((flushTimeout * 1000) / POLL_MS),
    log: {
      warn: logger.warn,
      info: (message: string, fields?: Record<string, unknown>) =>
        logger.info(`${pipeline}: ${message}`, fields),
    },
    onBacklog: (bytes: number) => stats.backlog(bytes),
    onGap: (bytes: number) => stats.lost(bytes),
    onLostFile: () => stats.lostFile(),
    onTruncation: () => stats.truncated(),
  };
}
