import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { loadSuites } from '../../../src/testing/yaml/load-suites.ts';
import { runTest } from '../../../src/testing/yaml/run-test.ts';
import type { TestResult } from '../../../src/testing/yaml/test-suite.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { CONFIG, folderOf, load, refusal, run } from './helpers.ts';

/** Masks keys of four digits or fewer only: longer ones leave a rest. */
const FORGETFUL = CONFIG.replace("'k-[0-9]+'", "'k-[0-9]{1,4}'").replace(', dead_letter: letters', '');

async function runAny(any: string, more = '', config = CONFIG): Promise<TestResult> {
  const [result] = await run(await load({ 'c.yaml': `${config}tests:\n  t:\n    any: { ${any} }\n${more}` }));
  return result as TestResult;
}

const KEYS =
  "collect: { log: { events: 0..50, rate: 10/s, values: ['GET /', { regex: 'key k-[0-9]{1,12}' }] } }";
const NO_DIGITS = `always: '!data.line.matches("[0-9]")'`;

describe('generated events', () => {
  it('are tried as often as asked, and hold', async () => {
    const result = await runAny(
      `runs: 30, ${KEYS}, ${NO_DIGITS}, laws: [nothing_lost, order, no_secret_out]`,
    );
    expect(result.findings).toEqual([]);
    expect(result).toMatchObject({ isPassed: true, generated: { runs: 30, seed: 1 } });
    expect(result.generated?.smallest).toBeUndefined();
  });

  it('are reduced to the smallest test that fails, which fails in the same way when it is pasted', async () => {
    const result = await runAny(`${KEYS}, ${NO_DIGITS}`, '', FORGETFUL);
    expect(result.isPassed).toBe(false);
    // One event at once, and one digit more than the rule masks.
    expect(result.generated?.smallest?.yaml).toBe(`tests:
  't, smallest':
    collect:
      log: ['key k-00000']
    expect:
      always: ['!data.line.matches("[0-9]")']`);
    expect(result.findings.map(({ path, place }) => [path, place.line])).toEqual([
      ['any.always', FORGETFUL.split('\n').length + 2],
    ]);
    const pasted = await run(await load({ 'c.yaml': `${FORGETFUL}${result.generated?.smallest?.yaml}\n` }));
    expect(pasted[0]?.findings.map(({ message }) => message)).toEqual(
      result.findings.map(({ message }) => message),
    );
  });

  it('come in time, with failures of collectors and forwarders, and the reduced test has them', async () => {
    // Fails when two events are a second apart, a collector has failed, and the forwarder has been tried again.
    const result = await runAny(
      `runs: 200, collect: { log: { events: 0..10, rate: 1..2/s, fails: 0..2, values: [a, b] } },
       forward: { archive: { takes: 0s..2s, fails: 0..3 } }`,
      '    expect: { retries: 0, states: [running, completed] }\n',
    );
    expect(result.isPassed).toBe(false);
    const yaml = result.generated?.smallest?.yaml as string;
    expect(yaml).toMatch(/archive: \{ fails: 1 \}|marbles: \['#', '\|'\]/);
    const pasted = await run(await load({ 'c.yaml': `${CONFIG}${yaml}\n` }));
    expect(pasted[0]?.findings.map(({ message }) => message)).toEqual(
      result.findings.map(({ message }) => message),
    );
  });

  it('are the same for the same seed, and others for another one', async () => {
    const folder = folderOf({
      'c.yaml': `${CONFIG}tests:\n  t:\n    any: { runs: 20, ${KEYS}, ${NO_DIGITS} }\n`,
    });
    const collected = async (options: object) => {
      const [suite] = await loadSuites([join(folder, 'c.yaml')], {}, options);
      const [test] = suite?.tests ?? [];
      if (test === undefined) throw new Error('there is no test');
      const { runs, generated } = await runTest(test, 'c.yaml');
      expect(generated).toEqual({ runs: 20, seed: 1, ...options });
      return runs.map((one) => one.left('log'));
    };
    const usual = await collected({});
    expect(usual).toHaveLength(20);
    expect(await collected({})).toEqual(usual);
    expect(await collected({ seed: 7 })).not.toEqual(usual);
    expect(await collected({ runs: 5 })).toEqual(usual.slice(0, 5));
  });

  it.each([
    ['{ choice: [ada, { regex: "[0-9]{3}" }] }', /^(?:ada|\d{3})$/],
    [
      '{ template: "GET /{path} {n}", with: { path: { choice: [users, orders] }, n: { number: 1..9 } } }',
      /^GET \/(?:users|orders) [1-9]$/,
    ],
    // One with a newline in it is two lines.
    ['{ text: 3..5 }', /^.{0,5}$/su],
    ['{ file: words.txt }', /^(?:one|two)$/],
  ])('are lines: %s', async (generator, expression) => {
    const folder = folderOf({
      'words.txt': 'one\ntwo\n',
      'c.yaml': `${CONFIG}tests:\n  t:\n    any: { runs: 30, collect: { log: { events: 1, values: [${generator}] } } }\n    expect: { archive: { count: { at_least: 1 } } }\n`,
    });
    const [result] = await run(await loadSuites([join(folder, 'c.yaml')], {}));
    expect(result?.findings).toEqual([]);
    const lines = result?.runs.map((one) => one.left('log')[0]?.data.line) ?? [];
    expect(lines).toHaveLength(30);
    for (const line of lines) expect(line).toMatch(expression);
    expect(new Set(lines).size).toBeGreaterThan(1);
  });

  it('have fields of any kind, at any depth', async () => {
    const result = await runAny(
      `runs: 30, collect: { log: { events: 1, values: [
         { fields: { user: { choice: [ada, bob] }, http: { fields: { status: { number: 100..599 } } }, load: { number: 0.5..1.5 }, tags: { list: x, length: 1..2 } } }
       ] } }`,
      `    expect: { archive: { always: [
        'data.user in ["ada", "bob"]', 'data.http.status >= 100 && data.http.status < 600',
        'data.load >= 0.5 && data.load <= 1.5', 'size(data.tags) in [1, 2]'] } }\n`,
    );
    expect(result.findings).toEqual([]);
  });

  it('fail if no run had an event that an assertion could look at', async () => {
    const none = await runAny("collect: { log: { events: 0, values: [x] } }, always: 'true'");
    expect(none.findings.map(({ message }) => message)).toEqual([
      'there was no event to look at; if that is right, say so with `count: 0` or an empty list',
    ]);
    const some = await runAny("collect: { log: { events: 0..1, values: [x] } }, always: 'true'");
    expect(some.isPassed).toBe(true);
  });

  it('are written so that YAML gives them back, whatever characters they have', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 3 }),
        async (values) => {
          const file = values.map((value) => JSON.stringify(value)).join('\n');
          const folder = folderOf({
            'all.jsonl': `${file}\n`,
            'c.yaml': `${CONFIG}tests:\n  t: { any: { runs: 3, collect: { log: { events: 1, values: [{ file: all.jsonl }] } }, always: 'false' } }\n`,
          });
          const [result] = await run(await loadSuites([join(folder, 'c.yaml')], {}));
          const yaml = result?.generated?.smallest?.yaml as string;
          writeFileSync(join(folder, 'again.yaml'), `${CONFIG}${yaml}\n`);
          const [again] = await run(await loadSuites([join(folder, 'again.yaml')], {}));
          expect(again?.run?.left('log')).toEqual(result?.run?.left('log'));
        },
      ),
      { numRuns: propertyRuns(4), examples: [[['${HOME} true', "it's", 'true', '# no comment']]] },
    );
  });
});

describe('a wrong `any` is refused', () => {
  it.each([
    [
      'collect: { lgo: { values: [x] } }, laws: [order]',
      'any.collect.lgo: the pipeline `web` has no collector `lgo`; did you mean `log`?',
    ],
    ['collect: { log: { values: [x] } }', 'tests.t.expect: missing; expected a mapping'],
    [
      'collect: { log: { events: 5..2, values: [x] } }, laws: [order]',
      'any.collect.log.events: found the string "5..2"; expected a number of events up to 1000, or a range such as 0..200',
    ],
    [
      'collect: { log: { rate: 10, values: [x] } }, laws: [order]',
      'any.collect.log.rate: found 10; expected a string',
    ],
    [
      'collect: { log: { rate: 0/s, values: [x] } }, laws: [order]',
      'expected a rate above 0, or a range of them, such as 10/s, 1..100/m or 6/h',
    ],
    [
      "collect: { log: { values: [{ regex: '(' }] } }, laws: [order]",
      'values[0].regex: found the string "("; expected a valid regular expression',
    ],
    [
      "collect: { log: { values: [{ regex: '(?<=a)b' }] } }, laws: [order]",
      'values[0].regex: no strings can be made for this expression',
    ],
    [
      "collect: { log: { values: [{ template: 'GET {x}', with: {} }] } }, laws: [order]",
      'the template has {x}; say here how it is made',
    ],
    ['collect: { log: { values: [{ file: none.txt }] } }, laws: [order]', 'none.txt cannot be read'],
  ])('%s', async (any, message) => {
    const [first] = await refusal({ 'c.yaml': `${CONFIG}tests:\n  t: { any: { ${any} } }\n` });
    expect(first).toContain(message);
  });

  it('also where something is said twice, or compared with a snapshot', async () => {
    const any = 'any: { collect: { log: { values: [x] } }, laws: [order] }';
    const problems = await refusal({
      'c.yaml': `${CONFIG}tests:\n  t: { ${any}, collect: { log: [x] }, expect: { laws: [order], archive: { snapshot: true } } }\n`,
    });
    expect(problems.join('\n')).toContain('any.collect.log: `collect` has it as well; write it once');
    expect(problems.join('\n')).toContain('any.laws: `expect` has it as well; write it once');
    expect(problems.join('\n')).toContain('a test with `any` has no snapshot');
  });
});
