// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to environment variables are the subject
import { describe, expect, it } from '@jest/globals';
import { substitute, withPlainReferences } from '../../src/config/environment.ts';
import { load, REST, refusal } from './helpers.ts';

describe('substitute', () => {
  const env = { HOST: 'db', EMPTY: '', _X1: 'x', MONEY: '$&${HOST}' };

  it.each([
    ['${HOST}:80', 'db:80'],
    ['${NO:-localhost}:80', 'localhost:80'],
    ['${EMPTY:-full}', 'full'],
    ['${EMPTY}|${NO:-}|${_X1}', '||x'],
    ['$${HOST} $${NO} $$HOST', '${HOST} ${NO} $$HOST'],
    ['^a{2}${1}$', '^a{2}${1}$'],
    ['$HOST ${} ${HOST', '$HOST ${} ${HOST'],
    ['${MONEY}', '$&${HOST}'],
  ])('%s', (text, result) => {
    expect(substitute(text, env)).toMatchObject({ text: result, missing: [] });
  });

  it.each([
    ['${A-s3cret}', '${A:-default}'],
    ['${A:=s3cret}', '${A:-default}'],
    ['${A:?s3cret}', '${A}'],
    ['${A:+s3cret}', '${A}'],
    ['${ A }', '${A}'],
    ['${env:A}', '${A}'],
    ['${env.A}', '${A}'],
    ['${{ A }}', '${A}'],
  ])('%s stays, and is warned of', (written, meant) => {
    const { text, missing, lookalikes } = substitute(`x ${written}`, { A: 'a' });
    expect({ text, missing }).toEqual({ text: `x ${written}`, missing: [] });
    expect(lookalikes).toHaveLength(1);
    expect(lookalikes[0]).toContain(`write \`${meant}\``);
    expect(lookalikes[0]).not.toContain('s3cret');
    expect(substitute(`x $${written}`, { A: 'a' })).toMatchObject({ text: `x ${written}`, lookalikes: [] });
  });

  it.each(['$HOME', '$HOME/log', 'file:$HOME', '/a/$HOME/b'])('%s is warned of if it is set', (text) => {
    expect(substitute(text, { HOME: '/root' }).lookalikes).toHaveLength(1);
    expect(substitute(text, {}).lookalikes).toEqual([]);
  });

  it.each(['^\\$HOME$', 'a$', 'US$HOME', '${1}', 'a{2}${1}', '${}', '$(HOME)'])(
    '%s is not warned of',
    (text) => {
      expect(substitute(text, { HOME: '/root' })).toMatchObject({ text, lookalikes: [] });
    },
  );

  it('does not take inherited properties for variables', () => {
    expect(substitute('${constructor}', {}).missing).toEqual(['constructor']);
  });
});

describe('withPlainReferences', () => {
  it.each([
    ['{ a: ${A}, b: [${B:-x, [y] #z}] }', '{ a: xxxx, b: [xxxxxxxxxxxxxxx] }'],
    ['$${A} ${1} $A ${A', '$xxxx ${1} $A ${A'],
    ['{ a: ${ A }, b: [${A-x}, ${env:A}] }', '{ a: xxxxxx, b: [xxxxxx, xxxxxxxx] }'],
    // What may be the ends of two scalars stays as it is.
    [`["\${A:-", "}"] ['\${A:-', '}'] "\${A:-\\n}"`, `["\${A:-", "}"] ['\${A:-', '}'] "\${A:-\\n}"`],
    ['${A:-\n}', '${A:-\n}'],
  ])('%s', (text, result) => {
    expect(withPlainReferences(text)).toBe(result);
  });
});

describe('environment variables in a file', () => {
  const env = { INTERVAL: '7', NAME: 'yes', HASH: 'a: b # c', TOKEN: 'hunter2', LIST: '[1]' };

  it('are resolved in plain scalars, and stay strings in quoted ones', async () => {
    const text = `collectors: {}
forwarders: {}
pipelines: {}
host_config:
  number: \${INTERVAL}
  float: \${INTERVAL}.5
  fallback: \${NONE:-true}
  text: "\${INTERVAL}"
  single: '\${INTERVAL}'
  block: |
    \${INTERVAL}
  empty: \${NONE:-}
  structure: [\${HASH}, "\${LIST}"]
  tagged: !!str \${INTERVAL}
  literal: $\${INTERVAL}
  \${key}: kept
  # \${COMMENT}
`;
    const { config } = await load(text, { env });
    expect(config.host_config).toEqual({
      number: 7,
      float: 7.5,
      fallback: true,
      text: '7',
      single: '7',
      block: '7\n',
      empty: '',
      structure: ['a: b # c', '[1]'],
      tagged: '7',
      literal: '${INTERVAL}',
      '${key}': 'kept',
    });
  });

  it('need no quotes in flow collections, and are typed there as in block style', async () => {
    const { config } = await load(
      `collectors: { a: { plugin: test, interval: \${INTERVAL}, count: \${NONE:-3} } }
forwarders: { \${key}: { plugin: noop } }
pipelines: {}
host_config:
  flow: { a: \${HASH}, b: x\${INTERVAL}y, c: [\${INTERVAL}, '\${INTERVAL}', !!int '\${INTERVAL}', $\${INTERVAL}] }
  defaults: [\${NONE:-a, b: {c} #d}, "\${NONE:-", "}", '\${NONE:-it}''s']
  json: {"a": "\${NAME}\\n", "b": \${NONE:-true}}
`.replace('{c}', '{c'),
      { env },
    );
    expect(config.collectors.a).toMatchObject({ interval: 7, count: 3 });
    expect(Object.keys(config.forwarders)).toEqual(['${key}']);
    expect(config.host_config).toEqual({
      flow: { a: 'a: b # c', b: 'x7y', c: [7, '7', 7, '${INTERVAL}'] },
      defaults: ['a, b: {c #d', '${NONE:-', '}', "it's"],
      json: { a: 'yes\n', b: true },
    });
  });

  it.each([
    'x, plugin: file',
    '{}',
    ']',
    '*a',
    '&a',
    '# c',
    '"',
    "'",
    'a: b',
    '\n  b: c',
    '- a',
    '<<: *a',
    '!!int 1',
  ])('never change the structure of a file: %j', async (value) => {
    const text = `collectors: {}
forwarders: {}
pipelines: {}
host_config: { flow: { a: \${V} }, list: [\${V}, b], nested: { a: [{ b: x\${V} }] } }
`;
    const { config } = await load(text, { env: { V: value } });
    expect(config.host_config).toEqual({
      flow: { a: value },
      list: [value, 'b'],
      nested: { a: [{ b: `x${value}` }] },
    });
  });

  it('are problems in flow collections at their place', async () => {
    expect(await refusal(`collectors: {a: {plugin: test, count: \${INTERVALL}}}\n${REST}`, { env })).toMatch(
      /^<dir>\/c\.yaml:1:39: collectors\.a\.count: the environment variable INTERVALL is not set; .*\n {4}1 \| collectors: \{a: \{plugin: test, count: \$\{INTERVALL\}\}\}\n/,
    );
  });

  it('are problems if they are missing, and cause no others', async () => {
    const text = `collectors:
  a:
    plugin: test
    interval: \${INTERVALL}
    count: 0
${REST}`;
    expect(
      await refusal(text, { env }),
    ).toBe(`<dir>/c.yaml:4:15: collectors.a.interval: the environment variable INTERVALL is not set; set it, give a default with \${INTERVALL:-…}, or write $\${INTERVALL} for the text itself
    4 |     interval: \${INTERVALL}
      |               ^
<dir>/c.yaml:5:12: collectors.a.count: found 0; expected a number greater than 0
    5 |     count: 0
      |            ^`);
  });

  it('never show their values', async () => {
    const text = `collectors:
  a: {plugin: test, interval: "\${TOKEN}"}
  b: {plugin: "\${TOKEN}"}
  c: {plugin: "./\${TOKEN}.mjs"}
  d: {plugin: host_exec, fn: "\${TOKEN}"}
processors:
  p: {plugin: regex_mask, rules: {A: "(\${TOKEN}"}}
forwarders: {}
pipelines:
  main: {collect: "\${TOKEN}", forward: ["x\${TOKEN}"]}
host_config: {}
`;
    const message = await refusal(text, { env });
    expect(message.split('\n').filter((line) => line.startsWith('<dir>'))).toHaveLength(7);
    expect(message).not.toContain('hunter2');
    expect(message).toContain(
      'collectors.a.interval: found the value of ${TOKEN}; expected a number, such as `5s`\n',
    );
    expect(message).toContain('collectors.c.plugin: the module `./${TOKEN}.mjs` does not exist');
    expect(message).toContain('pipelines.main.collect: unknown collector `${TOKEN}`');
    expect(message).toContain('pipelines.main.forward[0]: unknown forwarder `x${TOKEN}`');
  });
});
