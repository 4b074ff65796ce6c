import picomatch from 'picomatch';

const OPTIONS = { dot: true, posix: true, windows: false };
/** How many parts of a beacon's tag come before its tail: `host/beacon/<id>/<beacon>`. */
const HEAD_PARTS = 4;

/** One part of a tag: `/` would split it, and glob patterns do not match control characters. */
function part(text: string): string {
  return text.replace(/[%/\p{Cc}]/gu, encodeURIComponent);
}

/**
 * The tag of a beacon's event. `%`, `/` and control characters inside a part are percent-encoded.
 *
 * @example
 * beaconTag('web-1', 'diskusage', ['/var', 'sample']); // 'host/beacon/web-1/diskusage/%2Fvar/sample'
 */
export function beaconTag(id: string, beacon: string, tail: readonly string[]): string {
  return ['host', 'beacon', id, beacon, ...tail].map(part).join('/');
}

/** Whether a tag matches one of the patterns: `*` stays within a part, `**` does not. */
export function tagMatcher(patterns: readonly string[]): (tag: string) => boolean {
  const matches = patterns.filter((pattern) => pattern !== '').map((pattern) => picomatch(pattern, OPTIONS));
  return (tag) => matches.some((match) => match(tag));
}

/**
 * Whether a pattern could match a tag of this beacon, so that other beacons are not read.
 * True in doubt: `**`, and groups that may reach over a `/`, could stand for anything.
 */
export function mayMatchBeacon(pattern: string, id: string, beacon: string): boolean {
  const head = beaconTag(id, beacon, []).split('/');
  const parts = pattern.split('/');
  for (const [index, name] of head.entries()) {
    const glob = parts[index];
    if (glob === undefined || glob === '') return false;
    if (glob.includes('**') || !isClosed(glob)) return true;
    if (!picomatch.isMatch(name, glob, OPTIONS)) return false;
  }
  return parts.length > HEAD_PARTS;
}

/** Whether all groups that a part opens end in it. */
function isClosed(glob: string): boolean {
  return ['()', '{}', '[]'].every(
    ([open, close]) => glob.split(open as string).length === glob.split(close as string).length,
  );
}
