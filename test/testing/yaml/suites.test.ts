import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../../src/config/load-config.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { testPipeline } from '../../../src/testing/test-pipeline.ts';
import { loadSuites } from '../../../src/testing/yaml/load-suites.ts';
import { CONFIG, folderOf, load, refusal, run, runOne } from './helpers.ts';

/** Outside the project, modules of a test do not find it. */
const RXJS = join(process.cwd(), 'node_modules/rxjs/dist/cjs/index.js');
const TEST = 'collect: { log: [x] }, expect: { archive: [x] }';
const names = (suites: Awaited<ReturnType<typeof load>>) =>
  suites.flatMap(({ tests }) => tests.map(({ name }) => name));

describe('a file of tests', () => {
  it('tests the configuration beside it, and comes with it', async () => {
    const files = {
      'web.yaml': `${CONFIG}tests: { a: { ${TEST} } }\n`,
      'web.test.yaml': `tests: { b: { ${TEST} } }\n`,
    };
    const folder = folderOf(files);
    const paths = (...names: string[]) => names.map((name) => join(folder, name));
    const byConfig = await loadSuites(paths('web.yaml'), {});
    expect(byConfig.map(({ file }) => file)).toEqual(paths('web.yaml', 'web.test.yaml'));
    expect(byConfig[1]?.files).toEqual(paths('web.test.yaml', 'web.yaml'));
    // Together they are one configuration, whose tests belong to the file in which they stand.
    expect(names(byConfig)).toEqual(['a', 'b']);
    expect(names(await loadSuites(paths('web.test.yaml'), {}))).toEqual(['b']);
    expect(names(await loadSuites(paths('web.yaml', 'web.test.yaml', './web.yaml'), {}))).toEqual(['a', 'b']);
    expect((await run(byConfig)).every(({ isPassed }) => isPassed)).toBe(true);
  });

  it('may name several configurations, which are merged', async () => {
    const [head = '', rest = ''] = CONFIG.split('pipelines:');
    const suites = await load({
      'tests/site.test.yaml': `config: [../base.yaml, ../site.yaml]\ntests: { t: { ${TEST} } }\n`,
      'base.yaml': head,
      'site.yaml': `pipelines:${rest}`,
    });
    expect(await run(suites)).toMatchObject([{ name: 't', isPassed: true }]);
    expect(suites[0]?.files).toHaveLength(3);
  });

  it('is refused where there is nothing that it could test', async () => {
    expect(await refusal({ 'web.test.yaml': `tests: { t: { ${TEST} } }\n` })).toEqual([
      'web.test.yaml: there is no web.yaml beside this file; name what it tests: `config: [FILE]`',
    ]);
    expect(await refusal({ 'web.test.yaml': `config: nowhere.yaml\ntests: {}\n` })).toEqual([
      'nowhere.yaml: there is no such file',
    ]);
  });

  it.each([
    ['tests: {}\ntest: {}\n', 'web.test.yaml:2:1: test: unknown key `test`; did you mean `tests`?'],
    ['tests: {}\nconfig: 3\n', 'web.test.yaml:2:9: config: found 3; expected a list or a string'],
    ['tests: {}\nconfig: []\n', 'web.test.yaml:2:9: config: found an empty list; expected at least 1 item'],
    [
      'tests: {}\nenv: { A: [] }\n',
      'web.test.yaml:2:11: env.A: found an empty list; expected a string, a number or true or false',
    ],
    [
      'tests: {}\npipelines: {}\n',
      'web.test.yaml:2:1: pipelines: a file of tests holds `config`, `env` and `tests`; `pipelines` belongs into the configuration that it tests',
    ],
    ['tests: 3\n', 'web.test.yaml:1:8: tests: found 3; expected a mapping of names to tests'],
    ['tests: { t: 3 }\n', 'web.test.yaml:1:13: tests.t: found 3; expected a mapping'],
  ])('is refused if it is wrong: %j', async (text, message) => {
    expect(await refusal({ 'web.test.yaml': text, 'web.yaml': CONFIG })).toContain(message);
  });

  it('may be given to loadConfig, alone or with its configuration', async () => {
    const folder = folderOf({ 'web.yaml': CONFIG, 'web.test.yaml': `tests: { t: { ${TEST} } }\n` });
    for (const given of [['web.test.yaml'], ['web.yaml', 'web.test.yaml']]) {
      const loaded = await loadConfig(
        given.map((name) => join(folder, name)),
        { env: {} },
      );
      expect(Object.keys(loaded.config.pipelines)).toEqual(['web']);
      expect(loaded.files).toEqual([join(folder, 'web.yaml'), join(folder, 'web.test.yaml')]);
    }
  });
});

describe('a file without tests', () => {
  it('gives no suite, and need not be a whole configuration', async () => {
    expect(await load({ 'part.yaml': 'collectors: {}\n' })).toEqual([]);
  });

  it('must be readable', async () => {
    expect(await refusal({ 'part.yaml': 'collectors: {\n' })).toEqual([
      expect.stringContaining('part.yaml:2:1: the file is not valid YAML'),
    ]);
  });
});

describe('environment variables', () => {
  const config = CONFIG.replace('k-[0-9]+', '$' + '{PATTERN}').replace(
    'path: /nowhere',
    'path: "$' + '{OUT}"',
  );
  const body = 'collect: { log: [abc] }, expect: { archive: [';

  it('come from the test before the process', async () => {
    const suites = await load(
      {
        'c.yaml': `${config}tests:\n  a: { env: { PATTERN: b }, ${body}'a<:KEY:>c'] } }\n  b: { ${body}'<:KEY:>bc'] } }\n`,
      },
      { PATTERN: 'a', OUT: '/out' },
    );
    expect((await run(suites)).map(({ findings }) => findings)).toEqual([[], []]);
  });

  it('come from the file of tests, and are put into the tests as well', async () => {
    const suites = await load({
      'c.test.yaml': `env: { PATTERN: b, OUT: 1 }\ntests:\n  a: { env: { WHO: 'b' }, collect: { log: ["$\{WHO}$\{PATTERN}"] }, expect: { archive: ['<:KEY:><:KEY:>'] } }\n`,
      'c.yaml': config,
    });
    expect(await run(suites)).toMatchObject([{ isPassed: true }]);
  });

  it('that are missing are named, with what a test can do', async () => {
    const text = `${config}tests:\n  a: { env: { PATTERN: b }, ${body}] } }\n`;
    expect(await refusal({ 'c.yaml': text })).toEqual([
      'c.yaml:7:34: forwarders.archive.path: the environment variable OUT is not set; give it to the tests with `env: { OUT: … }`, set it, give a default with $' +
        '{OUT:-…}, or write $$' +
        '{OUT} for the text itself',
    ]);
  });

  it('that only a test has are not missing in a run', async () => {
    const text = `${CONFIG}tests:\n  a: { env: { WHO: ada }, collect: { log: ['$\{WHO}'] }, expect: { archive: [ada] } }\n`;
    const folder = folderOf({ 'c.yaml': text });
    const { tests } = await loadConfig([join(folder, 'c.yaml')], { env: {} });
    expect(tests.definitions.get('a')?.collect).toEqual({ log: ['ada'] });
  });
});

describe('a test', () => {
  it('runs a pipeline that is disabled', async () => {
    const config = CONFIG.replace('process: secrets', 'process: secrets\n    enabled: false');
    expect(await run(await load({ 'c.yaml': `${config}tests: { t: { ${TEST} } }\n` }))).toMatchObject([
      { isPassed: true },
    ]);
  });

  it('runs a pipeline beside one with exactly_once', async () => {
    const other = `
  exact: { collect: log, forward: disk, exactly_once: true }
`;
    const config = CONFIG.replace('pipelines:\n', `pipelines:${other}`).replace(
      'forwarders:\n',
      'forwarders:\n  disk: { plugin: disk, path: /nowhere, filename: a.jsonl }\n',
    );
    expect(
      await run(await load({ 'c.yaml': `${config}tests: { t: { pipeline: web, ${TEST} } }\n` })),
    ).toMatchObject([{ isPassed: true, findings: [] }]);
  });

  it('can run the real collector and forwarder, if virtual time governs them', async () => {
    const result = await runOne(
      'collect: { api: keep }, forward: { live: keep }, expect: { live: { times: [1m, 2m] } }',
    );
    expect(result.findings).toEqual([]);
  });

  it('says so if virtual time does not govern what it keeps', async () => {
    const config = CONFIG.replace('plugin: file, paths: [/nowhere/web.log]', 'plugin: ./never.mjs');
    const suites = await load({
      'c.yaml': `${config}tests:\n  t: { collect: { log: keep }, expect: { archive: [] } }\n`,
      'never.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const collect = () => new Promise(() => {});\n`,
    });
    const [result] = await run(suites);
    expect(result?.findings.map(({ message }) => message)).toEqual([
      'the run did not end, and `keep` runs the real log: virtual time governs neither files nor networks nor functions of the host. Give marbles, or end the run with `until`',
    ]);
  });

  it('that cannot be run has failed, and says why', async () => {
    const config = CONFIG.replace("plugin: regex_mask, rules: { KEY: 'k-[0-9]+' }", 'plugin: ./later.mjs');
    const suites = await load({
      'c.yaml': `${config}tests:\n  t: { ${TEST} }\n`,
      'later.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = async ({ event }) => event;\n`,
    });
    const [result] = await run(suites);
    expect(result).toMatchObject({ isPassed: false, run: undefined, place: { line: 18 } });
    expect(result?.findings[0]?.message).toMatch(
      /^the test could not be run: virtual time does not govern promises, and secrets \(\S*later\.mjs\) returned some/,
    );
  });

  it.each([
    ['setImmediate', 'new Promise((done) => setImmediate(() => done(event)))', 'setImmediate() at'],
    [
      'a promise of setImmediate',
      'promisify(setImmediate)().then(() => event)',
      'virtual time does not govern promises, and secrets (',
    ],
    [
      'setImmediate of node:timers',
      'new Observable((to) => { later(() => to.next(event)); })',
      'a timer of node:timers was set by',
    ],
    [
      'process.nextTick',
      'new Observable((to) => { globalThis.process.nextTick(() => to.next(event)); })',
      'nextTick() at',
    ],
    [
      'queueMicrotask',
      'new Observable((to) => { queueMicrotask(() => to.next(event)); })',
      'queueMicrotask() at',
    ],
  ])('names the plugin, file and line of a processor that waits by %s', async (_, body, message) => {
    const config = CONFIG.replace("plugin: regex_mask, rules: { KEY: 'k-[0-9]+' }", 'plugin: ./later.mjs');
    const suites = await load({
      'c.yaml': `${config}tests:\n  t: { ${TEST} }\n`,
      'later.mjs': `import { Observable } from '${RXJS}';
import { promisify } from 'node:util';
import { setImmediate as later } from 'node:timers';
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ event }) =>
  ${body};\n`,
    });
    const [result] = await run(suites);
    const found = result?.findings[0]?.message ?? '';
    expect(found).toContain(message);
    expect(found).toContain('later.mjs');
    if (message.includes(' at') || message.includes('set by')) expect(found).toMatch(/later\.mjs:6:\d+/);
  });

  it.each([
    ['at once', "{ event.data.line = 'changed'; return [event]; }"],
    ['in a generator', undefined],
    ['in an Observable', "defer(() => { event.data.extra = 'changed'; return [event]; })"],
  ])('names a processor that changes an event %s, which it may not', async (_, body) => {
    const config = CONFIG.replace("plugin: regex_mask, rules: { KEY: 'k-[0-9]+' }", 'plugin: ./own.mjs');
    const suites = await load({
      'c.yaml': `${config}tests:\n  t: { ${TEST} }\n`,
      'own.mjs': `import { defer } from '${RXJS}';
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
${body === undefined ? 'export function* process({ event }) { delete event.data.line; yield event; }' : `export const process = ({ event }) => ${body};`}\n`,
    });
    const [result] = await run(suites);
    expect(result?.findings[0]?.message).toMatch(
      /^the test could not be run: secrets \(\S*own\.mjs\) changed an event, which others may share: TypeError: Cannot .*own\.mjs:3; return a new event/,
    );
  });

  it('does not take a write to a character of a string for a change of an event', async () => {
    const config = CONFIG.replace("plugin: regex_mask, rules: { KEY: 'k-[0-9]+' }", 'plugin: ./own.mjs');
    const suites = await load({
      'c.yaml': `${config}tests:\n  t: { collect: { log: [private] }, expect: { archive: [] } }\n`,
      'own.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ event }) => { event.data.line[0] = 'x'; return [event]; };\n`,
    });
    const [result] = await run(suites);
    expect(result?.findings).toEqual([]);
  });

  it('leaves the values of a test in code as they are', async () => {
    const data = { user: 'ada', tags: ['a'] };
    const config = await parseConfig({
      collectors: { log: { plugin: 'test', interval: 1 } },
      forwarders: { archive: { plugin: 'noop' } },
      pipelines: { main: { collect: 'log', forward: 'archive' } },
      host_config: {},
    });
    const result = await testPipeline(config, { collect: { log: { marbles: 'a|', values: { a: data } } } });
    expect(result.events('archive')[0]?.data).toEqual(data);
    expect([Object.isFrozen(data), Object.isFrozen(data.tags)]).toEqual([false, false]);
  });

  it('is stopped at `until`, and covers that time', async () => {
    const result = await runOne(
      "collect: { log: { marbles: 'a 1d b' } }, until: 30d, expect: { state: stopped }",
    );
    expect(result).toMatchObject({ isPassed: true, virtualMs: 30 * 86_400_000 });
    expect(result.realMs).toBeLessThan(100_000);
  });

  it('repeats random waits for the same seed', async () => {
    const body = (seed: number) =>
      `collect: { log: [x] }, forward: { archive: { fails: 1 } }, seed: ${seed}, expect: { archive: { times: [0s] } }`;
    const messages = await Promise.all(
      [1, 1, 2].map(async (seed) => (await runOne(body(seed))).findings[0]?.message),
    );
    expect(messages[0]).toBe(messages[1]);
    expect(messages[0]).not.toBe(messages[2]);
  });

  it('points at the assertion that does not hold', async () => {
    const result = await runOne('collect: { log: [x] }, expect: { archive: [x, y] }');
    expect(result.findings[0]?.place).toMatchObject({
      line: 18,
      column: 54,
      excerpt: expect.stringContaining('| '),
    });
  });
});
