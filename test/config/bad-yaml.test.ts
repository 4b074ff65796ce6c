import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { folderOf, load, REST, refusal, testHost } from './helpers.ts';

const bomb = () => {
  const levels = ['l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]'];
  for (let n = 1; n < 10; n += 1)
    levels.push(
      `l${n}: &l${n} [${Array(10)
        .fill(`*l${n - 1}`)
        .join(', ')}]`,
    );
  return `host_config:\n  ${levels.join('\n  ')}\n`;
};

describe('a file that was named by accident', () => {
  const NO_CONFIGURATION =
    '<dir>/c.yaml: this is not a millrace configuration: it has none of the top-level sections collectors, ' +
    'processors, forwarders, pipelines, host_config and tests. The content of the file is not shown here, because ' +
    'it may be secret';

  it.each([
    ['a log that is not YAML', 'ERROR: login: password=hunter2\n\t[x]: {hunter2\n'],
    ['a log that looks like a mapping', 'ERROR: password=hunter2\nhunter2: text\n'],
    ['a log that looks like documents', '--- hunter2\na: 1\n--- hunter2\n'],
    ['a log of JSON', '{"text": "hunter2"}\n{"text": "hunter2"}\n'],
    ['a log with a tag', '!hunter2 a: b\n'],
    ['a log that names variables', 'user: ${HUNTER2}\n'],
    ['a log that is not YAML and has a line like a section', 'tests: 3 passed\n\t[x]: {hunter2\n'],
    ['a file with a key that begins with an underscore', '_apt: hunter2\nhunter2: b\n'],
    ['a manifest with a section further in', 'kind: Secret\ndata:\n  pipelines: {}\n  hunter2: [\n'],
    ['JSON with a section further in', '{"hunter2": {\n"x": [{ "pipelines": {} }\n'],
    ['keys that are almost sections', 'colectors: {}\nhunter2: a\n'],
  ])('is not quoted: %s', async (_, text) => {
    expect(await refusal(text)).toBe(NO_CONFIGURATION);
  });

  it('is not quoted where it is one value, whatever is in it', async () => {
    expect(await refusal('user hunter2 ${NOT_SET} went\n')).toBe(
      '<dir>/c.yaml: the file holds a single value; expected a mapping with collectors, forwarders, pipelines …',
    );
  });

  it('is shown where it has a section', async () => {
    expect(await refusal('{\n  "pipelines": {\n    "a": [\n}\n')).toContain(
      'c.yaml:4:1: the file is not valid YAML',
    );
    expect(await refusal('colectors: {}\npipelines: {}\n')).toContain('did you mean `collectors`?');
  });
});

describe('a file that is not YAML', () => {
  it.each([
    [
      'broken YAML',
      'collectors:\n  web: {plugin: test\npipelines: {}\n',
      `<dir>/c.yaml:3:1: the file is not valid YAML: too little indentation, or a quote or bracket above is not closed
    3 | pipelines: {}
      | ^`,
    ],
    [
      'a string that does not end',
      'collectors: {a: "b\n',
      '<dir>/c.yaml:2:1: the file is not valid YAML: too little indentation, or a quote or bracket above is not closed',
    ],
    [
      'an alias bomb',
      bomb(),
      `<dir>/c.yaml:5:47: the aliases of this file write out to more than 10000 values; use fewer
    5 |   l3: &l3 [*l2, *l2, *l2, *l2, *l2, *l2, *l2, *l2, *l2, *l2]
      |                                               ^`,
    ],
    [
      'an alias without an anchor',
      'host_config: {a: *nobody}\n',
      `<dir>/c.yaml:1:18: the alias *nobody has no anchor &nobody above it
    1 | host_config: {a: *nobody}
      |                  ^`,
    ],
    [
      'an alias inside its own anchor',
      'host_config: &h {a: *h}\n',
      `<dir>/c.yaml:1:21: the alias *h stands inside its own anchor
    1 | host_config: &h {a: *h}
      |                     ^`,
    ],
    [
      'a key that is a list',
      'host_config: {[a]: 1}\n',
      `<dir>/c.yaml:1:15: a key must be a string; found a list, a mapping or an alias
    1 | host_config: {[a]: 1}
      |               ^`,
    ],
    [
      'two documents',
      'host_config: {}\n---\npipelines: {}\n',
      `<dir>/c.yaml:2:1: a second document; expected one in each file
    2 | ---
      | ^`,
    ],
    ['an empty file', '', '<dir>/c.yaml: the file is empty; expected a configuration'],
    ['a file of comments', '# nothing\n', '<dir>/c.yaml: the file is empty; expected a configuration'],
    [
      'a list',
      '- a\n',
      '<dir>/c.yaml: the file holds a list; expected a mapping with collectors, forwarders, pipelines …',
    ],
    [
      'a word',
      'hello\n',
      '<dir>/c.yaml: the file holds a single value; expected a mapping with collectors, forwarders, pipelines …',
    ],
  ])('%s', async (_name, text, message) => {
    expect(await refusal(text)).toBe(message);
  });

  it('is not UTF-8', async () => {
    const file = Buffer.concat([Buffer.from('a: é\nb: x'), Buffer.from([0xff]), Buffer.from('\n')]);
    expect(await refusal({ 'c.yaml': file })).toBe(
      '<dir>/c.yaml:2:5: the file is not UTF-8; save it as UTF-8',
    );
  });

  it('is not there, or is a folder', async () => {
    const folder = folderOf({});
    const missing = join(folder, 'nowhere.yaml');
    await expect(loadConfig([missing, folder], { host: testHost })).rejects.toMatchObject({
      message: `${missing}: there is no such file\n${folder}: this is a folder; expected a file`,
      problems: [{ file: missing, line: undefined }, { file: folder }],
    });
  });

  it('is not given at all', async () => {
    await expect(loadConfig([], { host: testHost })).rejects.toThrow(
      'no file is given; expected at least one',
    );
  });
});

describe('problems of YAML that do not hide others', () => {
  it('a duplicate key names both places', async () => {
    expect(
      await refusal(`collectors:\n  web:\n    plugin: test\n    interval: 0\n    plugin: file\n${REST}`),
    ).toBe(`<dir>/c.yaml:4:15: collectors.web.interval: found 0; expected a number greater than 0
    4 |     interval: 0
      |               ^
<dir>/c.yaml:5:5: collectors.web.plugin: the key \`plugin\` is given twice; the first one is at line 3, column 5
    5 |     plugin: file
      |     ^`);
  });

  it('a tag that does not fit, and no more than that', async () => {
    const message = await refusal(`collectors: {a: {plugin: test, count: !!int x}}\n${REST}`);
    expect(message.match(/^<dir>.*$/gm)).toEqual([
      '<dir>/c.yaml:1:39: collectors.a.count: the value is not a valid !!int',
    ]);
  });

  it('an unknown tag', async () => {
    expect(
      await refusal(
        `collectors: !mine {}\nhost_config: {a: !when 1, b: !!int x}\n${REST.replace('host_config: {}', '')}`,
      ),
    ).toBe(`<dir>/c.yaml:1:13: collectors: unknown tag !mine; expected none, or !!map
    1 | collectors: !mine {}
      |             ^
<dir>/c.yaml:2:18: host_config.a: unknown tag !when; expected none, or one of !!str, !!null, !!bool, !!int, !!float
    2 | host_config: {a: !when 1, b: !!int x}
      |                  ^
<dir>/c.yaml:2:30: host_config.b: the value is not a valid !!int
    2 | host_config: {a: !when 1, b: !!int x}
      |                              ^`);
  });
});

describe('good YAML', () => {
  it('has anchors, aliases and merge keys', async () => {
    const { config } = await load(`_base: &base {plugin: test, interval: 3}
collectors:
  a: {<<: *base, count: 2}
  b: {interval: 4, <<: [*base]}
  c: *base
${REST}`);
    expect(config.collectors).toEqual({
      a: { plugin: 'test', interval: 3, count: 2 },
      b: { plugin: 'test', interval: 4, count: 2 ** 63 },
      c: { plugin: 'test', interval: 3, count: 2 ** 63 },
    });
  });

  it('resolves scalars by the core schema and keeps keys as they are written', async () => {
    const { config } = await load(`collectors: {}
forwarders: {}
pipelines: {}
host_config:
  scalars: [1, 0x10, 1.5, .inf, true, null, ~, 2026-01-01, yes, "1", !!str 1, !!int "1"]
  1: number
  __proto__: {polluted: true}
  text: |
    two
    lines
`);
    expect(config.host_config.scalars).toEqual([
      1,
      16,
      1.5,
      Number.POSITIVE_INFINITY,
      true,
      null,
      null,
      '2026-01-01',
      'yes',
      '1',
      '1',
      1,
    ]);
    expect(Object.keys(config.host_config)).toEqual(['1', 'scalars', '__proto__', 'text']);
    expect(config.host_config.text).toBe('two\nlines\n');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('may begin with a byte order mark and have Windows line ends', async () => {
    const text = `\uFEFFcollectors: {}\r\n${REST.replaceAll('\n', '\r\n')}`;
    await expect(load(text)).resolves.toMatchObject({ config: { collectors: {} } });
    expect(await refusal(`${text}wrong: 1\r\n`)).toBe(`<dir>/c.yaml:6:1: wrong: unknown key \`wrong\`
    6 | wrong: 1
      | ^`);
  });
});

describe('any text', () => {
  const good = `_base: &base {plugin: test, interval: 3}
collectors:
  a: {<<: *base, count: 2}
  b: {plugin: file, paths: ["\${DIR:-/var}/a", '/b']}
processors: {mask: {plugin: regex_mask, rules: {A: 'x+'}}}
forwarders: {out: {plugin: noop}}
pipelines: {main: {collect: [a, b], process: mask, forward: out}}
host_config: {text: "1"}
`;
  const noise = fc.constantFrom(
    ...' \n\t:-{}[],&*!|>\'"%@`#?<$~=_a1\u0000\uFEFF\uD83D',
    '__proto__',
    '<<: ',
    '---\n',
  );

  it('gives a configuration or a ConfigError', async () => {
    await expect(load(good)).resolves.toBeDefined();
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length), fc.nat(8), noise, async (at, cut, insert) => {
        const text = good.slice(0, at) + insert + good.slice(at + cut);
        const error = await load(text).then(
          () => undefined,
          (caught) => caught,
        );
        expect(error === undefined || error instanceof ConfigError).toBe(true);
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});

describe('values that YAML reads as something else', () => {
  const withRules = (rules: string) => `
collectors: {a: {plugin: test}}
processors: {m: {plugin: regex_mask, rules: ${rules}}}
forwarders: {d: {plugin: disk, path: out, filename: a.jsonl, file_mode: 0640}}
pipelines: {main: {collect: a, process: m, forward: d}}
host_config: {}
`;

  it('an escape in double quotes: the message says to write single quotes', async () => {
    expect(await refusal(withRules('{A: "\\d+"}'))).toContain(
      "Write the value in single quotes, as in '\\d+'",
    );
  });

  it('a mode that is a number: the message says to write quotes', async () => {
    expect(await refusal(withRules("{A: '\\d+'}"))).toContain(
      "forwarders.d.file_mode: found 0640; expected a string; write it in quotes: '0640'",
    );
  });

  it('a variable that holds digits: the message says to quote the reference', async () => {
    const text = withRules("{A: '\\d+'}").replace('filename: a.jsonl, file_mode: 0640', 'filename: ${NAME}');
    expect(await refusal(text, { env: { NAME: '007' } })).toContain(
      "forwarders.d.filename: found the value of ${NAME}; expected a string; write it in quotes: '${NAME}'",
    );
  });

  it('an empty name of a rule or header says what is expected', async () => {
    const text = withRules("{A: '\\d+'}").replace(
      'plugin: disk',
      "plugin: http, url: 'http://h/', headers: {'': x}",
    );
    expect(await refusal(text)).toContain('found the name ``; expected a name of a header');
  });

  it('a package that millrace depends on is no plugin', async () => {
    const message = await refusal(withRules("{A: '\\d+'}").replace('plugin: test', 'plugin: tail'));
    expect(message).toContain('unknown collect plugin `tail`; there are `beacons`');
    expect(message).not.toContain('module');
  });
});
