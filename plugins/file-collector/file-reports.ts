import { getHeapStatistics } from 'node:v8';
import { counted } from '../../operators/internal.ts';
import type { GoneFile } from '../../operators/internal-files.ts';
import type { PipelineRunContext } from '../../src/sdk/index.ts';
import { LEAST_LINE_BYTES } from './file-config.ts';

type Context = PipelineRunContext<unknown>;

const MIB = 1024 * 1024;
/** MiB of V8's heap for all but the lines, and for each MiB of a line: rules make copies, of two bytes for each character. */
const HEAP = { base: 32, perLine: 10 };
/** MiB that V8 counts on top of `--max-old-space-size`. */
const YOUNG_HEAP = 48;

/** A process that a line ends reads that line again when it is started again, and ends again. */
export function warnOfSmallHeap({ logger, pipeline, pipeline_config }: Context, maxLineBytes: number): void {
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

/** The most files that one message names. */
const MOST_NAMES = 5;

/** Files that are gone since an earlier run: each that was not read as far as it was seen is reported. */
export function reportGone(files: readonly GoneFile[], { logger, stats, pipeline }: Context): void {
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
