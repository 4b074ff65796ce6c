import { counted } from '../counted.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { FollowedFile } from './followed-file.ts';

/**
 * Marks a file as truncated: what is held is the begin of a line, then it begins anew. Bytes that were seen and not read
 * are counted as lost; of those that were written and cut off between two looks nobody knows.
 */
export function truncate(file: FollowedFile, { log, onGap }: Pick<FollowSettings, 'log' | 'onGap'>): void {
  if (file.isTruncated) return;
  const bytes = file.unread;
  file.isTruncated = true;
  const fields = { path: file.path, bytes };
  if (bytes === 0) {
    log.info(`${file.path} was truncated: reading it from its begin`, fields);
    return;
  }
  onGap(bytes);
  log.warn(
    `${file.path} was truncated before it was read: lost at least ${counted(bytes, 'byte')}; let logrotate rename files instead`,
    fields,
  );
}
