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
import { FollowSession } from './follow/follow-session.ts';
import type { FollowSettings, Positions } from './follow/follow-settings.ts';
import type { LineBatch } from './follow/line-block.ts';
import { sharedMemory } from './follow/process-limits.ts';

export type { Fingerprint } from './follow/file-fingerprint.ts';
export type { FileId } from './follow/file-system.ts';
export type { FollowSettings, KnownFile, Positions } from './follow/follow-settings.ts';
export type { FoundFile, StartPosition } from './follow/followed-files.ts';
export type { LineBatch } from './follow/line-block.ts';

/** Milliseconds between looks for new, truncated and rotated files. */
const POLL_MS = 1000;
/** Polls, hence seconds, for which a last line may lack its newline, and a rotated file may still grow. */
const QUIET_POLLS = 5;
const CHUNK_BYTES = 128 * 1024;
/** Small enough for the stages of a pipeline to overlap, large enough to cost nothing per line. */
const BATCH_LINES = 512;
/** Whole lines of this length are passed on; it is what one file can hold in memory. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

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
  memory: (value) => hasMethods(value, 'take', 'give') || 'a MemoryBudget',
  pollMs: COUNT,
  quietPolls: POLLS,
  flushPolls: POLLS,
  maxOpenFiles: COUNT_OR_INFINITY,
  scheduler: SCHEDULER,
};

/**
 * The lines of files as they are written, in batches that know their place in the file to the byte.
 *
 * `paths` may be globs; files that appear later are picked up, files that are missing or cannot be read are waited
 * for. A file is known by device and inode, so it is read once whatever its names, and one that is
 * rotated away is read to its end before the file that takes its place is started. One that was truncated is read from
 * its beginning, even if it has grown past where it was; NULs that the truncation left there are skipped. It emits no
 * more lines than `demand` has room for, and holds two chunks in memory, and of each file a last line that has no end
 * yet, up to `maxLineBytes`; all of them together up to `memory`.
 *
 * Completes only with `once`; then, if there is a file that could not be read, it errors after all the others.
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
