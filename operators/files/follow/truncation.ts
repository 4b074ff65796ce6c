import { counted } from '../../support/counted.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';

type Settings = Pick<FollowSettings, 'log' | 'onGap' | 'onTruncation'>;

const ADVICE = 'let logrotate rename files instead';

/**
 * Marks a file as truncated, because it has become shorter: what is held is the beginning of a line, then it is read
 * from its beginning. Bytes that were seen and not read are counted as lost. How many were written and cut off between
 * two looks cannot be known.
 */
export function truncate(file: FollowedFile, { log, onGap, onTruncation }: Settings): void {
  if (file.isTruncated) return;
  const bytes = file.unread;
  file.isTruncated = true;
  onTruncation();
  if (bytes === 0) {
    log.warn(
      `${file.path} was truncated: reading it from its beginning. Lines written just before the truncation may be ` +
        `lost, an unknown number; ${ADVICE}`,
      { path: file.path },
    );
    return;
  }
  onGap(bytes);
  log.warn(
    `${file.path} was truncated before it was read: lost at least ${counted(bytes, 'byte')}, and an unknown number ` +
      `that was written just before; ${ADVICE}`,
    { path: file.path, bytes },
  );
}

/**
 * Marks a file as truncated, because the bytes that were read of it are others by now: it was truncated and has grown
 * again, or another file has got its inode. What of its present size is new cannot be known, so nothing counts as lost.
 */
export function replace(file: FollowedFile, { log, onTruncation }: Settings): void {
  if (file.isTruncated) return;
  file.isTruncated = true;
  onTruncation();
  log.warn(
    `${file.path} does not hold any more what was read of it, so it was truncated or replaced: reading it from its ` +
      `beginning. Lines written just before that may be lost, an unknown number; ${ADVICE}`,
    { path: file.path },
  );
}
