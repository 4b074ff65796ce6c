import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { svgNames } from '../../../src/cli/test.ts';
import { assign } from '../../../src/testing/yaml/assignment.ts';
import { junitXml } from '../../../src/testing/yaml/junit.ts';
import type { TestResult } from '../../../src/testing/yaml/test-suite.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const result = (name: string, message?: string, file = 'c.yaml'): TestResult => {
  const place = { file, line: 3, column: 5, excerpt: undefined };
  return {
    file,
    name,
    place,
    isPassed: message === undefined,
    findings: message === undefined ? [] : [{ path: 'expect', message, place }],
    run: undefined,
    runs: [],
    virtualMs: 0,
    realMs: 1500,
  };
};
const textOf = ({ findings }: TestResult) => findings.map(({ message }) => message).join('\n');

describe('junitXml', () => {
  it('has a suite for each file and a case for each test', () => {
    expect(
      junitXml([result('one'), result('two', 'wrong'), result('three', undefined, 'd.yaml')], textOf),
    ).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites tests="3" failures="1" errors="0" time="4.500" name="millrace test">',
        '  <testsuite tests="2" failures="1" errors="0" time="3.000" name="c.yaml">',
        '    <testcase name="one" classname="c.yaml" file="c.yaml" line="3" time="1.500"/>',
        '    <testcase name="two" classname="c.yaml" file="c.yaml" line="3" time="1.500">',
        '      <failure message="wrong" type="expect">wrong</failure>',
        '    </testcase>',
        '  </testsuite>',
        '  <testsuite tests="1" failures="0" errors="0" time="1.500" name="d.yaml">',
        '    <testcase name="three" classname="d.yaml" file="d.yaml" line="3" time="1.500"/>',
        '  </testsuite>',
        '</testsuites>',
        '',
      ].join('\n'),
    );
  });

  it('escapes everything, and replaces what XML cannot hold', () => {
    const nasty = '<a href="x">&amp; \'q\'</a>]]>\u0000\u001b[31m\ud800\uffff\n\ttab😀';
    const xml = junitXml([result(nasty, nasty)], textOf);
    const safe = "&lt;a href=&quot;x&quot;&gt;&amp;amp; 'q'&lt;/a&gt;]]&gt;\ufffd\ufffd[31m\ufffd\ufffd";
    expect(xml).toContain(`<testcase name="${safe}&#10;&#9;tab😀"`);
    expect(xml).toContain(
      `<failure message="${safe}&#10;&#9;tab😀" type="expect">${safe}\n&#9;tab😀</failure>`,
    );
  });
});

describe('svgNames', () => {
  const names = (...tests: [file: string, name: string][]) =>
    svgNames(tests.map(([file, name]) => ({ file, name })));

  it('are the file and the name, safe in any file system', () => {
    expect(
      names(
        ['examples/web.yaml', 'keys are masked'],
        ['web.test.yaml', '../../etc/passwd'],
        ['ö.yml', 'Ünïcode: 10 %'],
      ),
    ).toEqual(['web-keys-are-masked.svg', 'web-etc-passwd.svg', 'o-unicode-10.svg']);
  });

  it('are never the same for two tests', () => {
    const all = names(
      ['web.yaml', 'a b'],
      ['web.test.yaml', 'a-b'],
      ['web.yaml', 'c'],
      ['日.yaml', '本'],
      ['本.yaml', '日'],
    );
    expect(new Set(all).size).toBe(5);
    expect(all[0]).toMatch(/^web-a-b-[0-9a-f]{8}\.svg$/);
    expect(all[2]).toBe('web-c.svg');
    expect(all[3]).toMatch(/^test-[0-9a-f]{8}\.svg$/);
  });

  it('are cut, and stay different', () => {
    const [one = '', two] = names(['c.yaml', `${'long '.repeat(40)}1`], ['c.yaml', `${'long '.repeat(40)}2`]);
    expect(one.length).toBeLessThan(100);
    expect(one).not.toBe(two);
  });

  it('stay the same whatever tests there are besides', () => {
    expect(names(['c.yaml', 'a'])).toEqual(names(['c.yaml', 'a'], ['c.yaml', 'b']).slice(0, 1));
  });
});

describe('assign', () => {
  const fits = (wish: RegExp, name: string) => wish.test(name);

  it('gives as many as possible one each, where a greedy choice would not', () => {
    expect(assign([/a/, /anna/], ['anna', 'ada'], fits)).toEqual([1, 0]);
    expect(assign([/./, /^a/, /^ab/], ['abc', 'a', 'x'], fits)).toEqual([2, 1, 0]);
  });

  it('leaves those without', () => {
    expect(assign([/x/, /a/, /a/], ['a'], fits)).toEqual([undefined, 0, undefined]);
    expect(assign([], ['a'], fits)).toEqual([]);
    expect(assign([/a/], [], fits)).toEqual([undefined]);
  });

  it('gives as many as any choice could', () => {
    /** The most that can have one, by trying every choice. */
    const most = (wishes: number[][], taken: number[] = []): number => {
      const [first, ...rest] = wishes;
      if (first === undefined) return 0;
      const open = first.filter((item) => !taken.includes(item));
      return Math.max(most(rest, taken), ...open.map((item) => 1 + most(rest, [...taken, item])));
    };
    const wishes = fc.array(fc.array(fc.nat(5), { maxLength: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(wishes, (left) => {
        const given = assign(left, [0, 1, 2, 3, 4, 5], (wish, item) => wish.includes(item));
        const items = given.filter((item) => item !== undefined);
        expect(new Set(items).size).toBe(items.length);
        expect(given.every((item, index) => item === undefined || left[index]?.includes(item))).toBe(true);
        expect(items.length).toBe(most(left));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('compares alike items a few times each, whether or not there are enough', () => {
    for (const count of [900, 1100]) {
      let compared = 0;
      const items = Array.from({ length: 1000 }, () => 'alike');
      const given = assign(Array.from({ length: count }), items, () => {
        compared++;
        return true;
      });
      expect(given.filter((item) => item !== undefined)).toHaveLength(Math.min(count, 1000));
      expect(compared).toBeLessThanOrEqual(2100);
    }
  });
});
