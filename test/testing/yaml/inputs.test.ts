import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { testsJsonSchema } from '../../../src/config/json-schema.ts';
import { junitXml } from '../../../src/testing/yaml/junit.ts';
import { loadSuites } from '../../../src/testing/yaml/load-suites.ts';
import { CONFIG, folderOf, load, refusal, run, runOne } from './helpers.ts';

const messages = async (body: string) => (await runOne(body)).findings.map(({ message }) => message);

describe('values of a file', () => {
  const files = (body: string) => ({
    'c.yaml': `${CONFIG}tests:\n  t: { ${body} }\n`,
    'data/lines.log': 'GET /\nkey k-1\n',
    'data/events.jsonl': '{"user":"k-2"}\n{"data":{"n":1},"tag":"x"}\n',
    'data/wrong.jsonl': '{"user":\n',
  });

  it.each([
    ['lines', '{ values: { file: data/lines.log } }', "['GET /', 'key <:KEY:>']"],
    ['JSON Lines', '{ values: { file: data/events.jsonl } }', "[{ user: '<:KEY:>' }, { n: 1 }]"],
    [
      'letters',
      "{ marbles: 'a 1s b|', values: { file: data/lines.log } }",
      "{ marbles: 'a 1s b', values: { b: 'key <:KEY:>' } }",
    ],
  ])('are %s', async (_, input, expected) => {
    const results = await run(
      await load(files(`collect: { log: ${input} }, expect: { archive: ${expected} }`)),
    );
    expect(results.flatMap(({ findings }) => findings)).toEqual([]);
  });

  it.each([
    ['missing.log', /^c\.yaml:\d+:\d+: tests\.t\.collect\.log\.values: missing\.log cannot be read: ENOENT/],
    ['data/wrong.jsonl', /data\/wrong\.jsonl cannot be read: .*JSON/],
  ])('that cannot be read are refused: %s', async (file, message) => {
    const problems = await refusal(
      files(`collect: { log: { values: { file: ${file} } } }, expect: { archive: [] }`),
    );
    expect(problems[0]).toMatch(message);
  });
});

describe('several pipelines', () => {
  const TWO = `collectors:
  log: { plugin: file, paths: [/nowhere/web.log] }
  stream: { plugin: file, paths: [/nowhere/stream.jsonl] }
processors:
  secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }
  fields: { plugin: parse, format: json }
forwarders:
  agent_out: { plugin: disk, path: /nowhere }
  archive: { plugin: noop }
pipelines:
  agent: { collect: log, process: secrets, forward: agent_out }
  worker: { collect: stream, process: fields, forward: archive }
host_config: {}
tests:
`;
  const results = async (body: string) => run(await load({ 'c.yaml': `${TWO}  t: { ${body} }\n` }));

  it('run one behind the other: a collector gets what a forwarder delivers, when it delivers it', async () => {
    const [result] = await results(
      "pipeline: [agent, worker], collect: { log: { marbles: 'a 1s b|', values: { a: one, b: k-1 } }, stream: { from: agent_out } }, " +
        'forward: { agent_out: { takes: 2s } }, expect: { archive: { times: [2s, 4s] }, secrets: { count: 2 }, contains_no: k-1, state: completed, ended_at: 4s }',
    );
    expect(result?.findings).toEqual([]);
    expect(result?.run?.trace.pipeline).toBe('agent → worker');
    expect(result?.run?.stats).toMatchObject({ collected: 4, forwarded: { agent_out: 2, archive: 2 } });
  });

  it('pass lines of JSON on request, as through a file', async () => {
    const [result] = await results(
      'pipeline: [agent, worker], collect: { log: [k-1], stream: { from: agent_out, as: line } }, ' +
        'expect: { stream: { all: { line: \'/^.*"data":."line":"<:KEY:>"/\' } }, archive: { all: { data: { data: { line: "<:KEY:>" } } } } }',
    );
    expect(result?.findings.map(({ message }) => message)).toEqual([]);
  });

  it('names that are wrong are told', async () => {
    const problems = await refusal({
      'c.yaml': `${TWO}  t: { pipeline: [agent, werker], collect: { log: [a] }, expect: { archive: [] } }
  u: { pipeline: [agent, worker], collect: { stream: { from: agent_ou } }, expect: { archive: [] } }
`,
    });
    expect(problems).toEqual([
      expect.stringMatching(/tests\.t\.pipeline\[1\]: unknown pipeline `werker`; did you mean `worker`\?/),
      expect.stringMatching(
        /tests\.u\.collect\.stream\.from: .*no forwarder `agent_ou`; did you mean `agent_out`\?/,
      ),
    ]);
  });

  it('in the wrong order cannot be run', async () => {
    const [result] = await results(
      'pipeline: [worker, agent], collect: { log: [a], stream: { from: agent_out } }, expect: { archive: [] }',
    );
    expect(result?.findings[0]?.message).toMatch(/no pipeline that runs before has a forwarder agent_out/);
  });
});

describe('fails: { when }', () => {
  it('fails the calls with an event for which the condition is true', async () => {
    expect(
      await messages(
        "collect: { log: { marbles: 'a 1s b|', values: { a: { n: 1 }, b: { n: 2 } } } }, forward: { archive: { fails: { when: data.n == 2 } } }, " +
          'expect: { archive: [{ n: 1 }], live: { count: 2 }, letters: { count: 1 }, retries: 1 }',
      ),
    ).toEqual([]);
  });

  it('fails the first so many of them', async () => {
    expect(
      await messages(
        'collect: { log: [{ n: 2 }] }, forward: { archive: { fails: { when: data.n == 2, count: 1 } } }, ' +
          'expect: { archive: [{ n: 2 }], retries: 1 }',
      ),
    ).toEqual([]);
  });

  it('is refused if it is no condition', async () => {
    const [problem] = await refusal({
      'c.yaml': `${CONFIG}tests:\n  t: { collect: { log: [a] }, forward: { archive: { fails: { when: 'data.' } } }, expect: { live: [] } }\n`,
    });
    expect(problem).toMatch(
      /^c\.yaml:18:\d+: tests\.t\.forward\.archive\.fails\.when: found `data\.`; expected a valid condition/,
    );
  });
});

describe('conditions over events', () => {
  const body = (expected: string) => `collect: { log: [{ n: 1 }, { n: 2 }] }, expect: { ${expected} }`;

  it.each([
    'archive: { always: data.n < 3 }',
    'archive: { contains_no: { when: data.n > 2 } }',
    'always: [data.n < 3, data.n > 0]',
    'contains_no: [k-1, { when: has(data.secret) }]',
  ])('hold: %s', async (expected) => {
    expect(await messages(body(expected))).toEqual([]);
  });

  it.each([
    ['archive: { always: data.n < 2 }', '`data.n < 2` is false for 1 of 2 events'],
    ['archive: { contains_no: { when: data.n > 1 } }', '`data.n > 1` is true for 1 of 2 events'],
    ['always: data.m < 3', '`data.m < 3` is not what it should be for 4 of 4 events'],
    ['contains_no: [k-1, { when: data.n == 2 }]', '`data.n == 2` is true for 2 of 4 events'],
  ])('do not hold: %s', async (expected, message) => {
    expect(await messages(body(expected))).toEqual([message]);
  });

  it('look at something', async () => {
    expect(await messages('collect: { log: [] }, expect: { archive: { always: "true" } }')).toEqual([
      expect.stringMatching(/^there was no event to look at/),
    ]);
  });
});

describe('snapshots', () => {
  const TEST = (line: string, name = 't') =>
    `${CONFIG}tests:\n  ${name}: { collect: { log: { marbles: 'a 1s b|', values: { a: one, b: '${line}' } } }, expect: { archive: { snapshot: true } } }\n`;

  it('are written on request, compared, and differences are shown', async () => {
    const folder = folderOf({ 'c.yaml': TEST('k-1') });
    const file = join(folder, 'c.yaml');
    const findings = async (update = false) => {
      const suites = await loadSuites([file], {}, { update });
      const found = (await run(suites)).flatMap(({ findings }) => findings);
      if (update) await suites[0]?.snapshots.save(true);
      return found.map(({ path, message, details }) => ({ path, message, details }));
    };
    expect(await findings()).toEqual([
      {
        path: 'expect.archive.snapshot',
        message: 'there is no snapshot yet; `millrace test --update` writes it',
        details:
          '+ 0  {"line":"one","source":"/nowhere/web.log"}\n+ 1.001s  {"line":"<:KEY:>","source":"/nowhere/web.log"}',
      },
    ]);
    expect(await findings(true)).toEqual([]);
    expect(readFileSync(join(folder, 'c.snapshot'), 'utf8')).toBe(
      '# Written by `millrace test --update`. Review its changes like those of code.\n\n' +
        '"t: archive"\n  0  {"line":"one","source":"/nowhere/web.log"}\n  1.001s  {"line":"<:KEY:>","source":"/nowhere/web.log"}\n',
    );
    expect(await findings()).toEqual([]);

    writeFileSync(file, TEST('two'));
    expect(await findings()).toMatchObject([
      {
        details:
          '  0  {"line":"one","source":"/nowhere/web.log"}\n- 1.001s  {"line":"<:KEY:>","source":"/nowhere/web.log"}\n+ 1.001s  {"line":"two","source":"/nowhere/web.log"}',
      },
    ]);

    writeFileSync(file, TEST('two', '"# of \\"events\\""'));
    expect(await findings(true)).toEqual([]);
    expect(await findings()).toEqual([]);
  });
});

describe('a test of the wrong form', () => {
  it.each([
    [
      'collect: { log: hello }, expect: { archive: [] }',
      'found the string "hello"; expected `keep`, such as `[GET /, { user: ada }]`',
    ],
    [
      'collect: { log: [a] }, expect: { archive: 5 }',
      'found 5; expected a mapping or a list, such as `[GET /, { user: ada }]`',
    ],
    ['collect: { log: [a] }, expect: { archive: { count: x } }', /such as `3`$/],
  ])('is told with an example: %s', async (body, message) => {
    const [problem] = await refusal({ 'c.yaml': `${CONFIG}tests:\n  t: { ${body} }\n` });
    expect(problem).toEqual(
      typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    );
  });
});

describe('the JSON Schema of files of tests', () => {
  it('describes every key', () => {
    const missing: string[] = [];
    const look = (schema: unknown, path: string) => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties = {}, ...rest } = schema as {
        properties?: Record<string, { description?: string }>;
      };
      for (const [key, property] of Object.entries(properties)) {
        if (property.description === undefined) missing.push(`${path}.${key}`);
        look(property, `${path}.${key}`);
      }
      for (const inner of Object.values(rest)) look(inner, path);
    };
    const schema = testsJsonSchema();
    look(schema, '');
    expect(missing).toEqual([]);
    expect(Object.keys(schema.properties as object)).toEqual(['config', 'env', 'tests']);
  });
});

describe('JUnit', () => {
  it('has the kind of a failure, and errors for tests that could not be run', async () => {
    const results = await run(
      await load({
        'c.yaml': `${CONFIG}tests:
  wrong: { collect: { log: [a] }, expect: { archive: { times: [1s] } } }
  endless: { collect: { api: keep }, until: 1s, expect: { archive: [] }, forward: { archive: keep } }
`,
      }),
    );
    const xml = junitXml(results, () => '');
    expect(xml).toMatch(/<failure message="[^"]+" type="times">/);
  });
});
