import { escapeBytes } from '../../support/escaped-bytes.ts';

const ESCAPED = /[\udc80-\udcff]+/gu;
/** A part of a line of a container, as Kubernetes stores it: the runtime cuts lines inside characters as well. */
const CONTAINER_LINE = /^\d{4}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP](?::\S*)? /;

/**
 * Where lines hold a byte that is not UTF-8, as an index; undefined if they hold none. Half of a character at the start or
 * the end of a part of a container's line does not count, and at the end of `isCut` lines neither.
 */
export function findInvalidUtf8(bytes: Buffer, { isCut = false } = {}): number | undefined {
  const text = escapeBytes(bytes);
  for (const { 0: found, index } of text.matchAll(ESCAPED)) {
    const start = text.lastIndexOf('\n', index) + 1;
    const end = index + found.length;
    const isAtEnd = /^\r?(?:\n|$)/.test(text.slice(end, end + 2));
    if (isCut && isAtEnd) continue;
    const header = CONTAINER_LINE.exec(text.slice(start, index))?.[0];
    if (header !== undefined && (isAtEnd || start + header.length === index)) continue;
    return Buffer.byteLength(text.slice(0, index));
  }
  return undefined;
}
