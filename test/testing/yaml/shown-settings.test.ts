import { describe, expect, it } from '@jest/globals';
import { failureText } from '../../../src/cli/test-report.ts';
import { drawSvg } from '../../../src/testing/draw/draw-svg.ts';
import { drawText } from '../../../src/testing/draw/draw-text.ts';
import { testPipeline } from '../../../src/testing/index.ts';
import { junitXml } from '../../../src/testing/yaml/junit.ts';
import { load, run } from './helpers.ts';

const FOREIGN = `export default {
  get_config_schema: () => ({ safeParse: (data) => ({ success: true, data }) }),
  forward: () => [],
};
`;

const CONFIG = `collectors:
  log: { plugin: file, paths: ['/a', '/b/\${SECRET}'] }
  ticks: { plugin: test, interval: 5 }
processors:
  mask: { plugin: regex_mask, rules: { KEY: 'k-\${SECRET}', PIN: 'literal-expression' } }
forwarders:
  archive: { plugin: disk, path: '/srv/\${SECRET}/x', filename: '\${FILE}.jsonl' }
  mine: { plugin: ./mine.mjs, url: 'https://user:literal@host', level: 3, loud: true, dsn: '\${SECRET}' }
pipelines:
  web: { collect: [log, ticks], process: mask, forward: [archive, mine] }
host_config: {}
`;
const ENV = { SECRET: 'hunter2', FILE: 'filesecret' };
const reference = (name: string) => `\${${name}}`;
const SECRET = reference('SECRET');
const VALUES = /hunter2|filesecret|literal/;

describe('what is shown of settings', () => {
  it.each([
    ['the configuration itself', 'c.yaml'],
    ['a file of tests', 'c.test.yaml'],
  ])('has no values of environment variables, for tests in %s', async (_, file) => {
    const tests = 'tests:\n  t: { collect: { log: [one] }, expect: { archive: [two] } }\n';
    const files = file === 'c.yaml' ? { [file]: CONFIG + tests } : { [file]: tests, 'c.yaml': CONFIG };
    const results = await run(await load({ ...files, 'mine.mjs': FOREIGN }, ENV));
    const [result] = results;
    if (result?.run === undefined) throw new Error(result?.findings[0]?.message ?? 'no result');
    expect(result.isPassed).toBe(false);
    const text = drawText(result.run.trace, { width: 200 });
    const svg = await drawSvg(result.run.trace);
    for (const output of [text, svg, junitXml(results, failureText), failureText(result)]) {
      expect(output).not.toMatch(VALUES);
    }
    const settings = Object.fromEntries(result.run.trace.rows.map((row) => [row.place.name, row.settings]));
    expect(settings).toEqual({
      log: { paths: ['/a', `/b/${SECRET}`] },
      ticks: { interval: 5 },
      mask: { rules: ['KEY', 'PIN'] },
      archive: { path: `/srv/${SECRET}/x`, filename: `${reference('FILE')}.jsonl` },
      mine: { level: 3, loud: true, dsn: SECRET },
    });
  });

  it('is only what is known to be harmless of a configuration object', async () => {
    const { trace } = await testPipeline({
      collectors: { fn: { plugin: 'test', interval: 2 } },
      processors: { mask: { plugin: 'regex_mask', rules: { KEY: 'hunter2' } } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'fn', process: 'mask', forward: 'out' } },
      host_config: {},
    });
    expect(trace.rows.map(({ settings }) => settings)).toEqual([{ interval: 2 }, { rules: ['KEY'] }, {}]);
  });
});
