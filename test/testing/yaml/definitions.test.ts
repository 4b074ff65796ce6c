import { describe, expect, it } from '@jest/globals';
import { jsonSchema } from '../../../src/config/json-schema.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { CONFIG, folderOf, refusal } from './helpers.ts';

const MARK = '▸';
const LINE = CONFIG.split('\n').length + 1;

/** What is wrong with a test whose body is written in flow style. A mark stands where the message must point. */
async function refused(marked: string): Promise<string[]> {
  const body = marked.replace(MARK, '');
  const column = '  t: { '.length + (marked.includes(MARK) ? marked.indexOf(MARK) : 0) + 1;
  const messages = await refusal({ 'c.yaml': `${CONFIG}tests:\n  t: { ${body} }\n` });
  const place = `c.yaml:${LINE}:${marked.includes(MARK) ? column : 3}: tests.t`;
  const [first = '', ...others] = messages;
  expect(first.slice(0, place.length)).toBe(place);
  return [first.slice(place.length), ...others];
}

const COLLECT = 'collect: { log: [x] }';

describe('a wrong test names its line, what was wanted, and the nearest right name', () => {
  it.each([
    // Its own keys
    [
      `▸colect: {}, ${COLLECT}, expect: { state: completed }`,
      '.colect: unknown key `colect`; did you mean `collect`?',
    ],
    ['expect: { state: completed }', '.collect: missing; expected a mapping'],
    [COLLECT, '.expect: missing; expected a mapping'],
    [
      `pipeline: ▸wbe, ${COLLECT}, expect: { state: completed }`,
      '.pipeline: unknown pipeline `wbe`; did you mean `web`?',
    ],
    [
      `pipeline: ▸x, ${COLLECT}, expect: { state: completed }`,
      '.pipeline: unknown pipeline `x`; there are `web`',
    ],
    [`seed: ▸1.5, ${COLLECT}, expect: { state: completed }`, '.seed: found 1.5; expected a whole number'],
    [
      `until: ▸5, ${COLLECT}, expect: { state: completed }`,
      '.until: found 5; expected a duration with its unit, such as 250ms, 3s, 1m30s, 2h or 1d',
    ],
    [`once: ▸1, ${COLLECT}, expect: { state: completed }`, '.once: found 1; expected true or false'],
    // Collectors
    [
      'collect: { ▸lgo: [x] }, expect: { state: completed }',
      '.collect.lgo: the pipeline `web` has no collector `lgo`; did you mean `log`?',
    ],
    [
      'collect: { ▸archive: [x] }, expect: { state: completed }',
      '.collect.archive: the pipeline `web` has no collector `archive`; it has `log`, `api`',
    ],
    [
      'collect: { log: ▸kep }, expect: { state: completed }',
      '.collect.log: found the string "kep"; expected `keep`; did you mean `keep`?',
    ],
    [
      'collect: { log: { ▸marble: x, marbles: a } }, expect: { state: completed }',
      '.collect.log.marble: unknown key `marble`; did you mean `marbles`?',
    ],
    [
      'collect: { ▸log: { values: {} } }, expect: { state: completed }',
      '.collect.log.marbles: missing; expected a string or a list',
    ],
    [
      'collect: { log: [x, ▸null] }, expect: { state: completed }',
      '.collect.log[1]: found nothing (null); expected a string, a number, true or false or a mapping',
    ],
    [
      "collect: { log: { marbles: ▸'(ab' } }, expect: { state: completed }",
      ".collect.log.marbles: the marbles '(ab' cannot be read: a ( is not closed; see docs/testing.md for the syntax",
    ],
    [
      "collect: { log: { marbles: [a, ▸'a|b'] } }, expect: { state: completed }",
      ".collect.log.marbles[1]: the marbles 'a|b' cannot be read: something follows the end; see docs/testing.md for the syntax",
    ],
    [
      "collect: { log: { marbles: ▸'a 5s|' } }, expect: { state: completed }",
      ".collect.log.marbles: the time `5s` in the marbles 'a 5s|' is read as letters: set it off by spaces, and let something follow it, as in 'a 5s b' or '5s |'",
    ],
    [
      "collect: { log: { marbles: ▸'a 5s' } }, expect: { state: completed }",
      ".collect.log.marbles: the time `5s` in the marbles 'a 5s' is read as letters: set it off by spaces, and let something follow it, as in 'a 5s b' or '5s |'",
    ],
    [
      "collect: { log: { marbles: ▸'ab|', values: { a: x } } }, expect: { state: completed }",
      '.collect.log.marbles: the letter `b` has no value; add it to `values`',
    ],
    [
      "collect: { log: { marbles: 'a|', values: { a: x, ▸b: y } } }, expect: { state: completed }",
      '.collect.log.values.b: the marbles have no letter `b`',
    ],
    [
      "collect: { log: { marbles: 'a|', values: { ▸aa: x } } }, expect: { state: completed }",
      '.collect.log.values.aa: found the name `aa`; expected exactly 1 character',
    ],
    // Forwarders
    [
      `${COLLECT}, forward: { ▸lve: keep }, expect: { state: completed }`,
      '.forward.lve: the pipeline `web` has no forwarder `lve`; did you mean `live`?',
    ],
    [
      `${COLLECT}, forward: { live: { takes: ▸3 } }, expect: { state: completed }`,
      '.forward.live.takes: found 3; expected a duration with its unit, such as 250ms, 3s, 1m30s, 2h or 1d',
    ],
    [
      `${COLLECT}, forward: { live: { fails: ▸-1 } }, expect: { state: completed }`,
      '.forward.live.fails: found -1; expected a number of at least 0',
    ],
    [
      `${COLLECT}, forward: { live: { ▸fail: 1 } }, expect: { state: completed }`,
      '.forward.live.fail: unknown key `fail`; did you mean `fails`?',
    ],
    [
      `${COLLECT}, forward: { live: { fails: { from: 2s, to: ▸1s } } }, expect: { state: completed }`,
      '.forward.live.fails.to: 1s is not after 2s: an outage ends later than it begins',
    ],
    // Expectations of entries
    [`${COLLECT}, expect: ▸{}`, '.expect: nothing is asserted; name a forwarder and what it is to get'],
    [
      `${COLLECT}, expect: { ▸archve: [] }`,
      '.expect.archve: the pipeline `web` has no entry `archve`; did you mean `archive`?',
    ],
    [
      `${COLLECT}, expect: { archive: ▸2 }`,
      '.expect.archive: found 2; expected a mapping or a list, such as `[GET /, { user: ada }]`',
    ],
    [
      `${COLLECT}, expect: { archive: ▸{} }`,
      '.expect.archive: nothing is asserted here; add `marbles`, `count`, `all` or another assertion',
    ],
    [
      `${COLLECT}, expect: { archive: { ▸cuont: 1 } }`,
      '.expect.archive.cuont: unknown key `cuont`; did you mean `count`?',
    ],
    [
      `${COLLECT}, expect: { archive: { count: ▸-1 } }`,
      '.expect.archive.count: found -1; expected a number of at least 0',
    ],
    [
      `${COLLECT}, expect: { archive: { count: { ▸least: 1 } } }`,
      '.expect.archive.count.least: unknown key `least`; did you mean `at_least`?',
    ],
    [
      `${COLLECT}, expect: { archive: { values: ▸{ a: x }, count: 1 } }`,
      '.expect.archive.values: values belong to marbles: add `marbles`, or compare with `exactly` or `in_order`',
    ],
    [
      `${COLLECT}, expect: { archive: { within: ▸1s, count: 1 } }`,
      '.expect.archive.within: within belongs to `marbles` or `times`, of which there are none',
    ],
    [
      `${COLLECT}, expect: { archive: { times: [▸1] } }`,
      '.expect.archive.times[0]: found 1; expected a duration with its unit, such as 250ms, 3s, 1m30s, 2h or 1d',
    ],
    [
      `${COLLECT}, expect: { archive: { all: { line: ▸'/(/' } } }`,
      '.expect.archive.all.line: found the string "/(/"; expected a valid regular expression between the slashes (Unterminated group)',
    ],
    [
      `${COLLECT}, expect: { archive: { none: [x, ▸'/a/k'] } }`,
      '.expect.archive.none[1]: found the string "/a/k"; expected a valid regular expression between the slashes (k is not a flag; flags are i, m, s and u)',
    ],
    [
      `${COLLECT}, expect: { archive: { in_order: ▸[] } }`,
      '.expect.archive.in_order: found an empty list; expected at least 1 item',
    ],
    [
      `${COLLECT}, expect: { archive: { marbles: ▸'a|' } }`,
      ".expect.archive.marbles: the marbles 'a|' have an end, but what an entry got has none; leave out | and #, and assert `state` and `ended_at`",
    ],
    [
      `${COLLECT}, expect: { archive: { marbles: ▸'ab' } }`,
      '.expect.archive.marbles: the letter `b` has no value; add it to `values`',
    ],
    [
      `collect: { log: { marbles: 'a|' }, api: { marbles: 'a|' } }, expect: { archive: { marbles: ▸'a' } }`,
      '.expect.archive.marbles: several collectors emit `a`; say in `values` what it stands for here',
    ],
    // Expectations of the run
    [
      `${COLLECT}, expect: { state: ▸complete }`,
      '.expect.state: found the string "complete"; expected `running`, `backing_off`, `completed`, `failed`, `stopped` or `crashed`; did you mean `completed`?',
    ],
    [
      `${COLLECT}, expect: { dropped: ▸nothing }`,
      '.expect.dropped: found the string "nothing"; expected `none`, such as `[{ by: secrets, reason: processor_failed }]`',
    ],
    [
      `${COLLECT}, expect: { dropped: [{ by: ▸secrts }] }`,
      '.expect.dropped[0].by: the pipeline `web` has no entry `secrts`; did you mean `secrets`?',
    ],
    [
      `${COLLECT}, expect: { dropped: [{ reason: ▸filterd }] }`,
      '.expect.dropped[0].reason: found the string "filterd"; expected `filtered`, `collector_failed`, `processor_failed`, `forwarder_failed`, `no_route`, `route_failed`, `buffer_full` or `given_up`; did you mean `filtered`?',
    ],
    [
      `${COLLECT}, expect: { retries: ▸many }`,
      '.expect.retries: found the string "many"; expected a number or a mapping, such as `2`',
    ],
    [
      `${COLLECT}, expect: { contains_no: ['a', ▸''] }`,
      '.expect.contains_no[1]: found the string ""; expected at least 1 character',
    ],
    [
      `${COLLECT}, expect: { ended_at: ▸soon }`,
      '.expect.ended_at: found the string "soon"; expected a duration with its unit, such as 250ms, 3s, 1m30s, 2h or 1d',
    ],
  ])('%s', async (body, message) => {
    expect(await refused(body)).toEqual([message]);
  });

  it('with a word that is nearly an assertion', async () => {
    expect(await refused(`${COLLECT}, expect: { ▸stat: [] }`)).toEqual([
      '.expect.stat: the pipeline `web` has no entry `stat`; did you mean `state`?',
    ]);
  });

  it('with more values than there are letters', async () => {
    const values = Array.from({ length: 10_001 }, () => 'x').join(', ');
    expect(await refused(`collect: { log: ▸[${values}] }, expect: { state: completed }`)).toEqual([
      '.collect.log: 10001 values; a list has at most 10000: spread them over several runs or collectors',
    ]);
  });

  it('with all problems of all tests at once', async () => {
    const tests = `tests:\n  one: { collect: { lgo: [] }, expect: { state: x } }\n  two: 3\n`;
    expect(await refusal({ 'c.yaml': CONFIG + tests })).toEqual([
      expect.stringContaining('tests.one.collect.lgo: '),
      expect.stringContaining('tests.one.expect.state: '),
      `c.yaml:${LINE + 1}:8: tests.two: found 3; expected a mapping`,
    ]);
  });

  it('and marbles that cannot be read, wanted ones beside collected ones', async () => {
    const tests =
      "tests:\n  t: { collect: { log: { marbles: '(ab' } }, expect: { archive: { marbles: 'a)' } } }\n";
    expect(await refusal({ 'c.yaml': CONFIG + tests })).toEqual([
      expect.stringContaining("tests.t.collect.log.marbles: the marbles '(ab' cannot be read"),
      expect.stringContaining("tests.t.expect.archive.marbles: the marbles 'a)' cannot be read"),
    ]);
  });

  it('and a section that is no mapping', async () => {
    expect(await refusal({ 'c.yaml': `${CONFIG}tests: [x]\n` })).toEqual([
      `c.yaml:${LINE - 1}:8: tests: found a list; expected a mapping of names to tests`,
    ]);
  });

  it('that does not say which of several pipelines it tests', async () => {
    const config = CONFIG.replace('host_config', '  api: { collect: api, forward: live }\nhost_config');
    const tests = `tests:\n  t: { ${COLLECT}, expect: { state: completed } }\n`;
    expect(await refusal({ 'c.yaml': config + tests })).toEqual([
      `c.yaml:${LINE + 1}:3: tests.t.pipeline: missing; expected the name of the pipeline to test: \`web\`, \`api\``,
    ]);
  });
});

describe('the JSON Schema of a configuration', () => {
  it('knows tests, and does not ask for them', async () => {
    const schema = await jsonSchema();
    expect(schema.required).not.toContain('tests');
    expect(schema.properties).toMatchObject({
      tests: { description: expect.any(String), additionalProperties: { $ref: '#/$defs/test' } },
    });
    expect(schema.$defs).toMatchObject({
      test: {
        anyOf: [
          { required: ['collect', 'expect'] },
          { required: ['any'] },
          { required: ['files', 'expect'] },
        ],
        additionalProperties: false,
        properties: {
          until: { type: 'string' },
          expect: { properties: { state: { anyOf: [{ enum: expect.arrayContaining(['completed']) }, {}] } } },
        },
      },
    });
  });
});

describe('tests of a configuration', () => {
  const test = (body: string) => `${CONFIG}tests:\n  t: { ${body} }\n`;

  it('are validated by loadConfig and no part of what it returns as configuration', async () => {
    const folder = folderOf({ 'good.yaml': test(`${COLLECT}, expect: { archive: [x] }`) });
    const { config, tests } = await loadConfig([`${folder}/good.yaml`], { env: {} });
    expect(Object.keys(config)).not.toContain('tests');
    expect([...tests.definitions.keys()]).toEqual(['t']);
    expect(tests.place(['t', 'expect', 'archive', 0])).toMatchObject({ line: LINE, column: 51 });
  });

  it('are validated by parseConfig too', async () => {
    const config = {
      collectors: { log: { plugin: 'test' } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'log', forward: 'out' } },
      host_config: {},
    };
    const tests = { t: { collect: { log: [] }, expect: { out: [] } } };
    expect(Object.keys(await parseConfig({ ...config, tests }))).not.toContain('tests');
    await expect(
      parseConfig({ ...config, tests: { t: { collect: {}, expect: { outt: [] } } } }),
    ).rejects.toThrow(
      'configuration: tests.t.expect.outt: the pipeline `main` has no entry `outt`; did you mean `out`?',
    );
  });
});
