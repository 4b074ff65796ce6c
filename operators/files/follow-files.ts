import { asyncScheduler, Observable, of } from 'rxjs';
import {
  assertTextList,
  BOOLEAN,
  type Check,
  type Checks,
  COUNT,
  COUNT_OR_INFINITY,
  checkOptions,
  DEMAND,
  FUNCTION,
  hasMethods,
  type Optional,
  SCHEDULER,
} from '../support/check-options.ts';
import { MAX_LINE_BYTES } from '../support/max-line-bytes.ts';
import { FollowSession } from './follow/follow-session.ts';
import type { FollowSettings, Positions } from './follow/follow-settings.ts';
import type { LineBatch } from './follow/line-block.ts';
import { sharedMemory } from './follow/memory-budget.ts';
import { isEncoding } from './follow/text-encoding.ts';

export type { Fingerprint } from './follow/file-fingerprint.ts';
export type { FileId } from './follow/file-status.ts';
export type { FollowSettings, KnownFile, Positions } from './follow/follow-settings.ts';
export type { LineBatch } from './follow/line-block.ts';
export type { FoundFile, StartPosition } from './follow/start-position.ts';

/** Milliseconds between looks for new, truncated and rotated files. */
const POLL_MS = 1000;
/** Polls, hence seconds, for which a last line may lack its newline, and a rotated file may still grow. */
const QUIET_POLLS = 5;
const CHUNK_BYTES = 128 * 1024;
/** Small enough for the stages of a pipeline to overlap, large enough to cost nothing per line. */
const BATCH_LINES = 512;

const ignore = () => {};

const newLinesOnly: Positions = {
  startAt: ({ existed, size }) => ({
    offset: existed ? size : 0,
    isUnterminated: false,
    mayBeInLine: existed,
  }),
  forget: ignore,
};

const DEFAULTS: Omit<FollowSettings, 'memory'> = {
  demand: { room: Infinity, room$: of(Infinity) },
  positions: newLinesOnly,
  isExcluded: () => false,
  allowMissing: true,
  once: false,
  log: { warn: ignore, info: ignore },
  onBacklog: ignore,
  onGap: ignore,
  onLostFile: ignore,
  onTruncation: ignore,
  batchLines: BATCH_LINES,
  skipEmptyLines: false,
  chunkBytes: CHUNK_BYTES,
  maxLineBytes: MAX_LINE_BYTES,
  encoding: 'utf-8',
  pollMs: POLL_MS,
  quietPolls: QUIET_POLLS,
  flushPolls: QUIET_POLLS,
  maxOpenFiles: Number.POSITIVE_INFINITY,
  scheduler: asyncScheduler,
};

const POLLS: Check = (value) =>
  value === 0 || COUNT_OR_INFINITY(value) === true || 'an integer of at least 0, or Infinity';
const CHECKS: Checks<FollowSettings> = {
  demand: DEMAND,
  positions: (value) => hasMethods(value, 'startAt', 'forget') || 'Positions, such as AcknowledgedPositions',
  isExcluded: FUNCTION,
  allowMissing: BOOLEAN,
  once: BOOLEAN,
  log: (value) => hasMethods(value, 'warn', 'info') || 'an object with the functions warn and info',
  onBacklog: FUNCTION,
  onGap: FUNCTION,
  onLostFile: FUNCTION,
  onTruncation: FUNCTION,
  batchLines: COUNT,
  skipEmptyLines: BOOLEAN,
  chunkBytes: COUNT,
  maxLineBytes: COUNT,
  encoding: (value) =>
    (typeof value === 'string' && isEncoding(value)) ||
    'a label of an encoding, such as utf-8 or windows-1252',
  memory: (value) => hasMethods(value, 'take', 'give') || 'a MemoryBudget',
  pollMs: COUNT,
  quietPolls: POLLS,
  flushPolls: POLLS,
  maxOpenFiles: COUNT_OR_INFINITY,
  scheduler: SCHEDULER,
};

/**
 * Emits the lines of files as they are written, in batches with their exact byte offsets in the file.
 *
 * `paths` may be globs. It finds files that appear later, and waits for files that are missing or cannot be read. It
 * identifies a file by device and inode, so it reads a file with several names once, and reads a rotated file to its end
 * before its successor. It reads a truncated file from its beginning, even if the file has grown beyond the offset, and
 * skips NULs that the truncation left. It emits no more lines than `demand` has room for. It holds two chunks in memory,
 * and for each file a last line without an end, up to `maxLineBytes`; together up to `memory`.
 *
 * Completes only with `once`. If a file could not be read, it then errors after it has read all others.
 * Unsubscribing closes all files.
 *
 * @throws TypeError for `paths` that are not an array of strings, and for a setting that is unknown or of the wrong type.
 * @throws RangeError for a number out of range.
 *
 * @example
 * fs.writeFileSync(`${folder}/access.log`, 'GET /\nGET /about\n');
 * const positions = new AcknowledgedPositions(new Map(), { backfill: true });
 * const line$ = followFiles([`${folder}/*.log`], { positions, once: true }).pipe(concatMap(({ lines }) => lines));
 * await firstValueFrom(line$.pipe(toArray())); // ['GET /', 'GET /about']
 */
export function followFiles(
  paths: readonly string[],
  settings: Optional<FollowSettings> = {},
): Observable<LineBatch> {
  assertTextList('followFiles', 'paths', paths, "['/var/log/app/*.log']");
  checkOptions('followFiles', settings, CHECKS);
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const all: FollowSettings = { ...DEFAULTS, memory: sharedMemory(), ...Object.fromEntries(given) };
  return new Observable((subscriber) => {
    const session = new FollowSession(paths, all, subscriber);
    subscriber.add(() => session.close());
    session.start();
  });
}
