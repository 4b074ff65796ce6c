/**
 * Whether the `count` latest of `total` are worth a log line: the first three, then whenever a power of ten is
 * reached. What goes wrong on every event must not flood the log.
 */
export function isNoteworthy(total: number, count = 1): boolean {
  const before = total - count;
  return before < 3 || Math.floor(Math.log10(total)) > Math.floor(Math.log10(before));
}
