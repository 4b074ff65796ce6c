import { describe, expect, it } from '@jest/globals';
import { beaconTag, mayMatchBeacon, tagMatcher } from '../../src/host/beacon-tags.ts';

describe('beaconTag', () => {
  it.each([
    ['web-1', 'loadavg', ['sample'], 'host/beacon/web-1/loadavg/sample'],
    ['a/b', 'process', ['x/y', 'started'], 'host/beacon/a%2Fb/process/x%2Fy/started'],
    ['50%', 'file_watch', ['/etc/a\nb', 'created'], 'host/beacon/50%25/file_watch/%2Fetc%2Fa%0Ab/created'],
    ['büro 1', 'diskusage', ['/', 'sample'], 'host/beacon/büro 1/diskusage/%2F/sample'],
  ])('of %s, %s, %j is %4$s', (id, beacon, tail, tag) => {
    expect(beaconTag(id, beacon, tail)).toBe(tag);
  });
});

const TAG = 'host/beacon/web-1/process/nginx/started';

describe.each([
  ['**', true],
  ['host/**', true],
  [TAG, true],
  ['host/beacon/*/process/**', true],
  ['host/beacon/*/pro*/**', true],
  ['host/beacon/*/{process,loadavg}/**', true],
  ['host/beacon/*/!(loadavg)/**', true],
  ['host/beacon/{web-1/process,web-2/loadavg}/**', true],
  ['host/beacon/*/process/*/started', true],
  ['host/beacon/*/*', false],
  ['host/beacon/*', false],
  ['host/beacon/*/process/*', false],
  ['host/beacon/web-2/process/**', false],
  ['host/beacon/*/!(process)/**', false],
  ['host/beacon/*//**', false],
  ['*', false],
  ['', false],
])('the pattern %j', (pattern, matches) => {
  it(`${matches ? 'matches' : 'does not match'} ${TAG}`, () => {
    expect(tagMatcher([pattern])(TAG)).toBe(matches);
  });

  it('never leaves out a beacon that it could match', () => {
    if (matches) expect(mayMatchBeacon(pattern, 'web-1', 'process')).toBe(true);
  });
});

describe('mayMatchBeacon', () => {
  it.each(['host/beacon/*/loadavg/**', 'host/beacon/web-2/**', 'host/other/**', 'host/beacon/*/*', '*', ''])(
    'leaves out what %j cannot match',
    (pattern) => {
      expect(mayMatchBeacon(pattern, 'web-1', 'process')).toBe(false);
    },
  );

  it('knows an id that is encoded in tags', () => {
    expect(mayMatchBeacon('host/beacon/*/loadavg/**', 'a/b', 'loadavg')).toBe(true);
    expect(mayMatchBeacon('host/beacon/a%2Fb/loadavg/**', 'a/b', 'loadavg')).toBe(true);
  });
});

describe('tagMatcher', () => {
  it('matches names that begin with a dot', () => {
    expect(tagMatcher(['host/beacon/*/file_watch/**'])('host/beacon/.x/file_watch/.env/created')).toBe(true);
  });

  it('matches if one of several patterns does, and nothing without patterns', () => {
    expect(tagMatcher(['a/*', 'host/**'])(TAG)).toBe(true);
    expect(tagMatcher([])(TAG)).toBe(false);
  });
});
