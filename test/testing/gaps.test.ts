import { describe, expect, it } from '@jest/globals';
import { changedConditions, changedExpressions } from '../../src/testing/gaps/change-text.ts';
import { coverageOf } from '../../src/testing/gaps/coverage.ts';
import { runMutants } from '../../src/testing/gaps/run-mutants.ts';
import { load, run } from './yaml/helpers.ts';

const CONFIG = `collectors:
  log: { plugin: file, paths: [/nowhere/web.log] }
processors:
  secrets:
    plugin: regex_mask
    rules:
      KEY: 'k-[0-9]{2}'
      USER: '(?i)user'
  slow: { plugin: filter, keep: 'data.n > 9' }
forwarders:
  archive: { plugin: noop }
  alerts: { plugin: noop }
  letters: { plugin: noop }
pipelines:
  web:
    collect: log
    process: [secrets, slow]
    forward: [archive, { to: alerts, when: data.n == 12 }]
    delivery: { attempts: 2, dead_letter: letters }
host_config: {}
`;

async function gapsOf(tests: string, env = {}) {
  const suites = await load({ 'c.yaml': `${CONFIG}tests:\n${tests}` }, env);
  const results = await run(suites);
  expect(results.flatMap(({ findings }) => findings)).toEqual([]);
  const all = suites.flatMap((suite) => suite.tests);
  return { mutation: await runMutants(all, results, 60_000), coverage: coverageOf(all, results) };
}

const WEAK = `  one:
    collect: { log: [{ n: 12, key: k-12 }] }
    expect: { archive: { all: { key: '<:KEY:>' } } }
`;
const STRONG = `  all:
    collect:
      log: { marbles: ['(abc)#', 'd|'], values: { a: { n: 12, key: k-12 }, b: { n: 10, key: User }, c: { n: 9 }, d: { n: 11 } } }
    expect:
      secrets: { count: 4 }
      archive: [{ key: '<:KEY:>' }, { key: '<:USER:>' }, { n: 11 }]
      alerts: [{ n: 12 }]
      slow: [{ key: '<:KEY:>' }, { key: '<:USER:>' }, { n: 11 }]
      states: [running, backing_off, running, completed]
  dead letters:
    collect: { log: [{ n: 10 }] }
    forward: { archive: { fails: always } }
    expect: { letters: { count: 1 }, retries: 1 }
`;

describe('mutants', () => {
  it('that no test notices are told with their place and what was changed', async () => {
    const { mutants } = (await gapsOf(WEAK)).mutation;
    const unnoticed = mutants.filter(({ noticedBy }) => noticedBy === undefined);
    const lines = unnoticed.map(({ line, column, path, what }) => `${line}:${column} ${path}: ${what}`);
    expect(lines).toEqual(
      expect.arrayContaining([
        '8:7 processors.secrets.rules.USER: removed',
        '8:7 processors.secrets.rules.USER: `(?i)` removed',
        '9:27 processors.slow.keep: `>` is `>=`',
        '17:5 pipelines.web.process: `secrets` and `slow` in the other order',
        '17:24 pipelines.web.process[1]: the processor `slow` removed',
        '18:24 pipelines.web.forward[1]: the condition `when` removed',
        '19:17 pipelines.web.delivery.attempts: removed',
        '19:30 pipelines.web.delivery.dead_letter: removed',
      ]),
    );
    expect(mutants.find(({ path, what }) => path.endsWith('KEY') && what === 'removed')).toMatchObject({
      noticedBy: 'one',
    });
  });

  it('are all noticed by tests that look at everything', async () => {
    const { mutation, coverage } = await gapsOf(STRONG);
    const { mutants, untried } = mutation;
    expect(
      mutants.filter(({ noticedBy, path }) => noticedBy === undefined && !path.includes('process')),
    ).toEqual([]);
    expect({ untried, count: mutants.length > 15 }).toEqual({ untried: 0, count: true });
    expect(coverage.filter(({ isReached }) => !isReached)).toEqual([]);
  });

  const ordersOf = async (processor: string, value: string, expected: string) => {
    const config = CONFIG.replace(/ {2}secrets:[\s\S]*?(?= {2}slow:)/, `  secrets: ${processor}\n`).replace(
      '[secrets, slow]',
      'secrets',
    );
    const tests = `tests:\n  t: { collect: { log: [${value}] }, expect: { archive: ${expected} } }\n`;
    const suites = await load({ 'c.yaml': config.replace(', slow]', ']') + tests });
    const results = await run(suites);
    expect(results.flatMap(({ findings }) => findings)).toEqual([]);
    const { mutants } = await runMutants(
      suites.flatMap((suite) => suite.tests),
      results,
      60_000,
    );
    return mutants
      .filter(({ what }) => what.endsWith('in the other order'))
      .map(({ what, noticedBy }) => [what.replace(' in the other order', ''), noticedBy]);
  };

  const CARD = "{ plugin: regex_mask, rules: { CARD: '[0-9]{16}', NUMBER: '[0-9]{4,}', WORD: 'red' } }";
  const CARD_LINE = "'card 4111111111111111 red'";

  it.each([
    [
      'rules that match the same text, noticed',
      CARD,
      CARD_LINE,
      "['card <:CARD:> <:WORD:>']",
      [['`CARD` and `NUMBER`', 't']],
    ],
    [
      'rules that match the same text, unnoticed',
      CARD,
      CARD_LINE,
      "{ none: '/[0-9]/' }",
      [['`CARD` and `NUMBER`', undefined]],
    ],
    ['rules that match different texts', CARD, "'pin 1234 red'", "{ none: '/[0-9]/' }", []],
    [
      'rules of redact',
      "{ plugin: redact, packs: [], rules: { LONG: 'k-[0-9]+', SHORT: 'k-' } }",
      "'k-123'",
      "{ none: '/k-/' }",
      [['`LONG` and `SHORT`', undefined]],
    ],
    [
      'entries of map, which see the event as it came in',
      '{ plugin: map, set: { a: \'"x"\', b: data.a } }',
      '{ a: old }',
      '{ all: { a: x } }',
      [],
    ],
  ])('change the order of %s', async (_, processor, value, expected, found) => {
    expect(await ordersOf(processor, value, expected)).toEqual(found);
  });

  it('run no longer than any run may', async () => {
    const suites = await load({
      'c.yaml': `${CONFIG}tests:\n  t: { collect: { log: [{ n: 10 }] }, forward: { archive: { takes: 1ms } }, expect: { state: completed } }\n`,
    });
    const tests = suites.flatMap((suite) => suite.tests);
    const events = Array.from({ length: 300 }, (_, n) => ({ at: `${n}ms`, value: { n: 10 } }));
    const long = tests.map((test) => ({
      ...test,
      definition: { ...test.definition, collect: { log: { events, completes_at: '1s' } } },
    }));
    const results = await run([{ ...(suites[0] as (typeof suites)[number]), tests: long }]);
    expect(results[0]?.findings).toEqual([]);
    const unnoticed = async (longest?: number) =>
      (await runMutants(long, results, 60_000, longest)).mutants.filter(
        ({ noticedBy }) => noticedBy === undefined,
      );
    expect(await unnoticed()).not.toEqual([]);
    expect(await unnoticed(-1)).toEqual([]);
  });

  it('that never come to an end are noticed, and do not take long', async () => {
    // Without `attempts`, the forwarder is tried again for a virtual day, and each attempt takes no time.
    const { mutants } = (await gapsOf(STRONG)).mutation;
    const endless = mutants.find(({ path, what }) => path.endsWith('attempts') && what === 'removed');
    expect(endless?.noticedBy).toBe('dead letters');
  });

  it('beyond the time limit are counted', async () => {
    const suites = await load({ 'c.yaml': `${CONFIG}tests:\n${WEAK}` });
    const all = suites.flatMap((suite) => suite.tests);
    const { mutants, untried } = await runMutants(all, await run(suites), -1);
    expect({ tried: mutants.length, untried: untried > 10 }).toEqual({ tried: 0, untried: true });
  });

  it('never show the values of environment variables', async () => {
    const config = CONFIG.replace('k-[0-9]{2}', '$' + '{RULE}');
    const suites = await load({ 'c.yaml': `${config}tests:\n${WEAK}` }, { RULE: 'k-[0-9]{2}' });
    const { mutants } = await runMutants(
      suites.flatMap((suite) => suite.tests),
      await run(suites),
      60_000,
    );
    const ofRule = mutants.filter(({ path }) => path.endsWith('KEY'));
    expect(ofRule.map(({ what }) => what).sort()).toEqual(['changed', 'removed']);
  });
});

describe('coverage', () => {
  it('lists what no test reaches, with its line', async () => {
    const { coverage } = await gapsOf(WEAK);
    const gaps = coverage.filter(({ isReached }) => !isReached);
    expect(gaps.map(({ line, path, gap }) => `${line} ${path}: ${gap}`)).toEqual([
      '8 processors.secrets.rules.USER: no test has text that this rule masks',
      '15 pipelines.web: no test has a collector that fails, so that the pipeline is restarted',
      '18 pipelines.web.forward: no test has a forwarder that fails and is tried again',
      '18 pipelines.web.forward[1].when: no test has an event for which this is false',
      '19 pipelines.web.delivery.dead_letter: no test has an event that becomes a dead letter',
    ]);
  });
});

describe('coverage of rules of the same name', () => {
  const config = `collectors:
  log: { plugin: file, paths: [/nowhere/web.log] }
processors:
  first: { plugin: regex_mask, rules: { KEY: 'k-[0-9]{2}' } }
  second:
    plugin: regex_mask
    rules: { KEY: 'key=[a-z]+' }
forwarders:
  archive: { plugin: noop }
pipelines:
  web: { collect: log, process: [first, second], forward: archive, restart: false, delivery: { attempts: 1 } }
host_config: {}
`;
  const rules = async (lines: string) => {
    const tests = `tests:\n  one:\n    collect: { log: ${lines} }\n    expect: { archive: { count: 1 } }\n`;
    const suites = await load({ 'c.yaml': config + tests });
    const all = suites.flatMap((suite) => suite.tests);
    return coverageOf(all, await run(suites))
      .filter(({ path }) => path.endsWith('KEY'))
      .map(({ line, path, isReached }) => `${line} ${path} ${isReached}`);
  };

  it('tells the processors apart', async () => {
    expect(await rules('[k-12]')).toEqual([
      '4 processors.first.rules.KEY true',
      '7 processors.second.rules.KEY false',
    ]);
    expect(await rules('["key=abc"]')).toEqual([
      '4 processors.first.rules.KEY false',
      '7 processors.second.rules.KEY true',
    ]);
    expect(await rules('["k-12 key=abc"]')).toEqual([
      '4 processors.first.rules.KEY true',
      '7 processors.second.rules.KEY true',
    ]);
  });
});

describe('changedExpressions', () => {
  it.each([
    ['(?i)^ab$', ['^ab$', '(?i)ab$', '(?i)^ab']],
    ['a(?:b|c|)d', ['a(?:c|)d', 'a(?:b|)d', 'a(?:b|c)d']],
    ['x{2,4}y*z?', ['x{3,4}y*z?', 'x{2,3}y*z?', 'x{2,4}z?', 'x{2,4}y*']],
    ['(?<=a|b)c+', ['c+', '(?<=b)c+', '(?<=a)c+', '(?<=a|b)c']],
    ['x(?!a+|b)', ['x']],
    // It only keeps the search from starting in the midst of a word.
    ['(?<!\\w)\\w+@', ['(?<!\\w)\\w@']],
    ['(?P<q>["\'])a+(?P=q)', ['(?P<q>["\'])a(?P=q)']],
    ['(', []],
  ])('%s', (source, wanted) => {
    expect(changedExpressions(source).map(({ text }) => text)).toEqual(wanted);
  });
});

describe('changedConditions', () => {
  it('leaves strings alone, and takes the items of lists away', () => {
    const changed = changedConditions('data.a in ["x > 1", "y"] && data.b <= 0.5');
    expect(changed.map(({ text }) => text)).toEqual([
      '!(data.a in ["x > 1", "y"] && data.b <= 0.5)',
      'data.a in ["x > 1", "y"] || data.b <= 0.5',
      'data.a in ["x > 1", "y"] && data.b < 0.5',
      'data.a in ["x > 1", "y"] && data.b <= 0.55',
      'data.a in ["x > 1", "y"] && data.b <= 0.45',
      'data.a in ["y"] && data.b <= 0.5',
      'data.a in ["x > 1"] && data.b <= 0.5',
    ]);
  });
});
