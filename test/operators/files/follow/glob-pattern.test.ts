import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import picomatch from 'picomatch';
import { GlobListings } from '../../../../operators/files/follow/expand-paths.ts';
import { GLOB_OPTIONS, isGlob, toPicomatch } from '../../../../operators/files/follow/glob-pattern.ts';
import { namedBy } from '../../../../plugins/file-collector/named-files.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const folder = tempFolder();

const NAMES = [
  ...['a.log', 'b.log', 'ab.log', 'a1.log', '1.log', '2.log', '.a.log', '.swap.log', '.b'],
  ...[
    '{b}.log',
    '!a.log',
    '(a).log',
    '+(a).log',
    '@(a|b).log',
    '[x].log',
    ']a.log',
    'a*.log',
    'a\\b.log',
    '-.log',
  ],
  ...['^.log', '$.log', '"a".log', "it's.log", 'a,b.log', 'd.log', '\\d.log'],
  ...['v/x.log', 'v/.x.log', '.hid/x.log', 'v/w/x.log', 'v/.w/x.log', '{v}/x.log'],
];

/** What they find is what bash finds with `globstar`, which follows no `**` into hidden folders either. */
const PATTERNS = [
  ...[
    '*.log',
    '.*.log',
    '?.log',
    '[!a]*.log',
    '[^a]*.log',
    '[!a]*/x.log',
    '[.]a.log',
    '[+-9]*.log',
    '[!.]*.log',
  ],
  ...[
    '{[!a],.s}*.log',
    '{.a,b}.log',
    '{a,b}.log',
    '{1..2}.log',
    '\\{b\\}.log',
    '\\{*\\}.log',
    '[[:digit:]]*.log',
  ],
  ...[
    '[]a]*.log',
    '[!]a]*.log',
    '[\\]a]*.log',
    'a\\*.log',
    '\\[x\\].log',
    '\\!*.log',
    '[!]*.log',
    'a[/]*.log',
  ],
  ...[
    '**/x.log',
    '*/x.log',
    'v/*',
    'v/.*.log',
    '*/{x,.x}.log',
    'v/[!a]*.log',
    '\\d*.log',
    '\\{v\\}/*.log',
    '*[\\\\]*.log',
  ],
  ...[
    '*\\".log',
    '[a-b].log',
    '[!a-b].log',
    '{a,{b,1}}.log',
    '{v/x,a}.log',
    '[^^]*.log',
    '*\\$.log',
    'a,*.log',
    '{,a}b.log',
  ],
];

function makeFiles(): void {
  for (const name of NAMES) {
    fs.mkdirSync(dirname(folder(name)), { recursive: true });
    fs.writeFileSync(folder(name), '');
  }
}

function foundByBash(pattern: string): string[] {
  const script = `shopt -s nullglob globstar; LC_ALL=C; for f in ${pattern}; do [ -f "$f" ] && printf '%s\\n' "$f"; done`;
  const text = execFileSync('bash', ['-c', `${script}; true`], { cwd: folder(), encoding: 'utf8' });
  return [...new Set(text.split('\n').filter((name) => name !== ''))].sort();
}

const relative = (paths: readonly string[]) => paths.map((path) => path.slice(folder('x').length - 1)).sort();

describe.each(PATTERNS)('the pattern %s', (pattern) => {
  it('finds what a shell finds, and is known to name it', async () => {
    makeFiles();
    const expected = foundByBash(pattern);
    const { paths } = await new GlobListings().matches(folder(pattern));
    expect(relative(paths)).toEqual(expected);
    const names = namedBy([pattern]);
    expect(NAMES.filter(names).sort()).toEqual(expected);
  });
});

describe.each([
  ['!(a)*.log', ['!(a)1.log'], ['b.log', '.swap.log']],
  ['+(a)*.log', ['+(a)1.log'], ['a1.log', 'aa.log']],
  ['@(a|b)*.log', ['@(a|b)1.log'], ['a1.log']],
  ['!a*.log', ['!a1.log'], ['b.log']],
])('what has a meaning only to other programs, as in %s', (pattern, same, others) => {
  it('is literal', () => {
    const matches = picomatch(toPicomatch(pattern, { dot: false }), GLOB_OPTIONS);
    expect([same.filter((name) => matches(name)), others.filter((name) => matches(name))]).toEqual([
      same,
      [],
    ]);
  });
});

it.each([
  [['a', 'a.log', 'a{b}.log', 'a{}', '!a', '+(a)', 'a\\b', 'a[', 'a[]', '{', 'a]', '[a/b]'], false],
  [['*', 'a?', '[a]', '[!a]', '{a,b}', '{1..3}', '\\{b\\}', '\\*', '**/a'], true],
])('tells the path of one file from a pattern: %j', (patterns, expected) => {
  expect(patterns.map(isGlob)).toEqual(patterns.map(() => expected));
});
