import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../src/config/config-error.ts';
import { load, REST, refusal } from './helpers.ts';

const MARK = '▸';

/**
 * The message for one entry, written as a flow mapping on line 1. A mark in it stands before the place that the
 * message must point at; without a mark that is the entry's key.
 */
async function refusedEntry(section: string, marked: string): Promise<string> {
  const entry = marked.replace(MARK, '');
  const column = marked.includes(MARK) ? section.length + 7 + marked.indexOf(MARK) : section.length + 4;
  const rest = ['collectors', 'forwarders', 'pipelines', 'host_config'].filter((name) => name !== section);
  const message = await refusal(
    `${section}: {x: ${entry}}\n${rest.map((name) => `${name}: {}`).join('\n')}\n`,
  );
  const [place, ...text] = (message.split('\n')[0] ?? '').split(': ');
  expect(place).toBe(`<dir>/c.yaml:1:${column}`);
  return text.join(': ');
}

describe('an entry', () => {
  it.each([
    // Bounds of SPEC section 8, from outside; test/sdk/specification.test.ts tries both sides of each.
    [
      'collectors',
      '{plugin: test, interval: ▸0}',
      'collectors.x.interval: found 0; expected a number greater than 0',
    ],
    [
      'collectors',
      '{plugin: test, count: ▸0}',
      'collectors.x.count: found 0; expected a number greater than 0',
    ],
    [
      'collectors',
      '{plugin: test, count: ▸9223372036854775807}',
      'collectors.x.count: found the string "9223372036854775807"; expected a number of at most 9007199254740991',
    ],
    [
      'processors',
      '{plugin: redact, ▸keys: [ssn]}',
      'processors.x.keys: unknown key `keys`; did you mean `fields`?',
    ],
    [
      'processors',
      '{plugin: redact, fields: ▸[ssn]}',
      'processors.x.fields: found a list; expected a mapping, such as `{ user.email: { hmac: { key_env: MASK_KEY } }, *.ssn: mask, debug.*: drop }`',
    ],
    [
      'processors',
      '{plugin: redact, blocks: ▸true}',
      'processors.x.blocks: found true; expected false or a mapping, such as `{ lines: 200, timeout: 5 }`',
    ],
    ['collectors', '{plugin: test, count: ▸1.5}', 'collectors.x.count: found 1.5; expected a whole number'],
    [
      'processors',
      '{plugin: test, delay: ▸0}',
      'processors.x.delay: found 0; expected a number greater than 0',
    ],
    [
      'processors',
      '{plugin: test, child_events_count: ▸-1}',
      'processors.x.child_events_count: found -1; expected a number greater than 0',
    ],
    [
      'processors',
      '{plugin: entropy_mask, mask_char: ▸""}',
      'processors.x.mask_char: found the string ""; expected exactly 1 character',
    ],
    [
      'processors',
      '{plugin: regex_mask, rules: {}, mask_char: ▸ab}',
      'processors.x.mask_char: found the string "ab"; expected exactly 1 character',
    ],
    [
      'processors',
      '{plugin: entropy_mask, delimeter: ▸"  "}',
      'processors.x.delimeter: found the string "  "; expected exactly 1 character',
    ],
    [
      'processors',
      '{plugin: entropy_mask, h_threshold: ▸1.01}',
      'processors.x.h_threshold: found 1.01; expected a number of at most 1',
    ],
    [
      'processors',
      '{plugin: entropy_mask, h_threshold: ▸-0.1}',
      'processors.x.h_threshold: found -0.1; expected a number of at least 0',
    ],
    [
      'processors',
      '{plugin: entropy_mask, length_threshold: ▸1}',
      'processors.x.length_threshold: found 1; expected a number greater than 1',
    ],
    [
      'processors',
      '{plugin: entropy_mask, alphabet: ▸""}',
      'processors.x.alphabet: found the string ""; expected at least 1 character',
    ],
    // Types, fields and keys.
    [
      'collectors',
      '{plugin: test, interval: ▸abc}',
      'collectors.x.interval: found the string "abc"; expected a number, such as `5s`',
    ],
    [
      'collectors',
      '{plugin: test, interval: ▸.nan}',
      'collectors.x.interval: found .nan; expected a finite number',
    ],
    ['collectors', '{plugin: file}', 'collectors.x.paths: missing; expected a list'],
    [
      'collectors',
      '{plugin: file, paths: [▸""]}',
      'collectors.x.paths[0]: found the string ""; expected at least 1 character',
    ],
    ['collectors', '{interval: 1}', 'collectors.x.plugin: missing; expected a string'],
    ['collectors', '{▸plugin: }', 'collectors.x.plugin: found nothing (null); expected a string'],
    ['collectors', '▸test', 'collectors.x: found the string "test"; expected a mapping'],
    [
      'collectors',
      '{plugin: test, ▸intervall: 5}',
      'collectors.x.intervall: unknown key `intervall`; did you mean `interval`?',
    ],
    ['collectors', '{plugin: test, ▸"a.b": 5}', 'collectors.x["a.b"]: unknown key `a.b`'],
    [
      'collectors',
      '{plugin: test, ▸__proto__: {a: 1}}',
      'collectors.x.__proto__: the name `__proto__` is reserved by JavaScript; choose another',
    ],
    [
      'processors',
      '{plugin: test, ▸delay_range: {minimum: 1, maximun: 2}}',
      'processors.x.delay_range.maximum: missing; expected a number',
    ],
    [
      'processors',
      '{plugin: test, delay_range: {minimum: ▸2, maximum: 1}}',
      'processors.x.delay_range.minimum: found 2; expected a number that is not above maximum',
    ],
    [
      'processors',
      '{plugin: regex_mask, rules: {A: ▸1}}',
      "processors.x.rules.A: found 1; expected a string; write it in quotes: '1'",
    ],
    [
      'processors',
      '{plugin: regex_mask, rules: {A: ▸"("}}',
      'processors.x.rules.A: found the string "("; expected a valid regular expression (Unterminated group)',
    ],
    // Plugins.
    [
      'collectors',
      '{plugin: ▸disk}',
      'collectors.x.plugin: `disk` is a forward plugin; expected a collect plugin',
    ],
    [
      'collectors',
      '{plugin: http, path: ▸logs}',
      'collectors.x.path: found the string "logs"; expected a path that starts with `/`',
    ],
    [
      'forwarders',
      "{plugin: datadog, url: 'https://x/', api_key: {env: HOME}, tags: [▸'a,b']}",
      'forwarders.x.tags[0]: found the string "a,b"; expected a tag without commas, such as `env:prod`',
    ],
    [
      'forwarders',
      '{plugin: ▸file}',
      'forwarders.x.plugin: `file` is a collect plugin; expected a forward plugin; did you mean `disk`?',
    ],
    [
      'collectors',
      '{plugin: ▸splunk_hec}',
      'collectors.x.plugin: `splunk_hec` is a forward plugin; expected a collect plugin; did you mean `http`?',
    ],
    [
      'collectors',
      '{plugin: ▸fil}',
      'collectors.x.plugin: unknown collect plugin `fil`; there are `beacons`, `file`, `stdin`, `test`, `host_exec`, `exec`, `journald`, `kafka`, `nats`, `http`, `syslog`, `otlp`, and no package of that name in <dir> or above it; did you mean `file`?',
    ],
    [
      'collectors',
      '{plugin: ▸constructor}',
      'collectors.x.plugin: unknown collect plugin `constructor`; there are `beacons`, `file`, `stdin`, `test`, `host_exec`, `exec`, `journald`, `kafka`, `nats`, `http`, `syslog`, `otlp`, and no package of that name in <dir> or above it',
    ],
  ])('%s: %s', async (section, entry, message) => {
    expect(await refusedEntry(section, entry)).toBe(message);
  });

  it.each([
    ['opensearch', 'elasticsearch'],
    ['OpenSearch', 'elasticsearch'],
    ['splunk', 'splunk_hec'],
    ['hec', 'splunk_hec'],
    ['webhook', 'http'],
    ['vector', 'http'],
    ['aws-s3', 's3'],
    ['redpanda', 'kafka'],
    ['opentelemetry', 'otlp'],
    ['relp', 'syslog'],
    ['blackhole', 'noop'],
    ['elasticserch', 'elasticsearch'],
  ])('that names %s as its plugin, for which there is %s', async (name, meant) => {
    const message = await refusedEntry('forwarders', `{plugin: ▸${name}}`);
    expect(message).toContain(`unknown forward plugin \`${name}\``);
    expect(message).toMatch(RegExp(`; did you mean \`${meant}\`\\?$`));
  });

  it('with a path that begins with ~, which nobody would expand', async () => {
    const wanted =
      'a path without `~`, which only shells expand; write $' + '{HOME}, or ./~ for a folder of that name';
    expect(await refusedEntry('collectors', '{plugin: file, paths: [▸~/app.log]}')).toBe(
      `collectors.x.paths[0]: found the string "~/app.log"; expected ${wanted}`,
    );
    expect(await refusedEntry('forwarders', '{plugin: disk, path: ▸"~"}')).toContain(
      'expected a path without',
    );
    const { config } = await load(`collectors: {x: {plugin: file, paths: [./~/a, "~a"]}}\n${REST}`);
    expect(config.collectors.x).toMatchObject({ paths: ['./~/a', '~a'] });
  });

  it('with wrong rules, of all kinds at once', async () => {
    const message = await refusal(
      `processors: {m: {plugin: regex_mask, mask_char: 7, rules: {A: '(', B: 7, C: 'x['}}}\ncollectors: {}\n${REST}`,
    );
    expect(message.match(/^<dir>.*$/gm)).toEqual([
      expect.stringContaining('mask_char: found 7'),
      expect.stringContaining('rules.A: found the string "("; expected a valid regular expression'),
      expect.stringContaining('rules.B: found 7; expected a string'),
      expect.stringContaining('rules.C: found the string "x["; expected a valid regular expression'),
    ]);
  });

  it('with an unknown host function', async () => {
    const message = await refusedEntry('collectors', '{plugin: host_exec, fn: ▸test.pin}');
    expect(message).toMatch(/^collectors\.x\.fn: .*; did you mean `test\.ping`\?$/);
  });

  it('with path beside add_event_to_shared_cache', async () => {
    const message = await refusedEntry(
      'forwarders',
      '{plugin: test, path: /a, add_event_to_shared_cache: ▸true}',
    );
    expect(message).toMatch(/^forwarders\.x.*add_event_to_shared_cache/);
  });

  it('shortens a long value', async () => {
    const message = await refusedEntry('collectors', `{plugin: test, interval: ▸${'x'.repeat(500)}}`);
    expect(message).toBe(
      `collectors.x.interval: found the string "${'x'.repeat(59)}…"; expected a number, such as \`5s\``,
    );
  });
});

describe('pipelines', () => {
  /** The messages for the pipeline `main`; marks stand before the places that they must point at. */
  const pipeline = async (marked: string) => {
    const text = marked.replaceAll(MARK, '');
    const columns = [...marked.matchAll(/▸/g)].map((mark, index) => mark.index - index + 19);
    const message = await refusal(
      `pipelines: {main: ${text}}
collectors: {web: {plugin: test}, broken: {plugin: test, interval: 1}}
forwarders: {disk: {plugin: noop}}
host_config: {}
`,
    );
    const heads = message.split('\n').filter((line) => line.startsWith('<dir>'));
    const places = columns.length === 0 ? [13] : columns;
    expect(heads.map((head) => head.split(': ')[0])).toEqual(
      places.map((column) => `<dir>/c.yaml:1:${column}`),
    );
    return heads.map((head) => head.slice(head.indexOf(': ') + 2));
  };

  it.each([
    [
      '{collect: ▸wev, forward: disk}',
      ['pipelines.main.collect: unknown collector `wev`; did you mean `web`?'],
    ],
    [
      '{collect: [web, ▸disk], forward: [▸toString]}',
      [
        'pipelines.main.collect[1]: `disk` is a forwarder; expected the name of a collector',
        'pipelines.main.forward[0]: unknown forwarder `toString`; there are `disk`',
      ],
    ],
    [
      '{collect: web, process: ▸mask, forward: disk}',
      ['pipelines.main.process: unknown processor `mask`; `processors` has none'],
    ],
    [
      '{collect: ▸[], forward: ▸[]}',
      [
        'pipelines.main.collect: found an empty list; expected at least one name of a collector',
        'pipelines.main.forward: found an empty list; expected at least one name of a forwarder',
      ],
    ],
    [
      '{collect: [web, ▸web], forward: [disk, ▸disk, ▸oh]}',
      [
        'pipelines.main.collect[1]: `web` is named twice: each event would come twice',
        'pipelines.main.forward[1]: `disk` is named twice: each event would go there twice',
        'pipelines.main.forward[2]: unknown forwarder `oh`; there are `disk`',
      ],
    ],
    ['{collect: web}', ['pipelines.main.forward: missing; expected a list or a string']],
    [
      '{collect: ▸{web: 1}, forward: disk, ▸enabeld: yes}',
      [
        'pipelines.main.collect: found a mapping; expected a list or a string',
        'pipelines.main.enabeld: unknown key `enabeld`; did you mean `enabled`?',
      ],
    ],
    [
      '{collect: [web, ▸3], forward: disk, restart: ▸"no"}',
      [
        "pipelines.main.collect[1]: found 3; expected a string; write it in quotes: '3'",
        'pipelines.main.restart: found the string "no"; expected true or false',
      ],
    ],
    [
      '{collect: web, forward: disk, delivery: {dead_letter: ▸disc, ▸atempts: 1}, buffer: {when_full: ▸drop_oldst}}',
      [
        'pipelines.main.delivery.dead_letter: unknown forwarder `disc`; did you mean `disk`?',
        'pipelines.main.delivery.atempts: unknown key `atempts`; did you mean `attempts`?',
        'pipelines.main.buffer.when_full: found the string "drop_oldst"; expected `drop_oldest` or `drop_newest`; did you mean `drop_oldest`?',
      ],
    ],
    [
      '{collect: web, forward: disk, buffer: {type: ▸dsk}}',
      ['pipelines.main.buffer.type: found the string "dsk"; expected `memory` or `disk`'],
    ],
    [
      '{collect: web, forward: disk, buffer: {type: disk, path: b, when_full: ▸drop_newest}}',
      [
        'pipelines.main.buffer.when_full: found the string "drop_newest"; expected `wait`, `drop_oldest` or `reject`; to use `drop_newest`, set `type: memory`; did you mean `drop_oldest`?',
      ],
    ],
    [
      '{collect: web, forward: disk, buffer: {type: disk, path: b, when_full: ▸reject}}',
      [
        'pipelines.main.buffer.when_full: no collector of the pipeline can tell its senders what to send again, as `http` and `otlp` can, so `reject` would do what `wait` does (there is `web`); use `wait`, or `drop_oldest`',
      ],
    ],
  ])('%s', async (text, messages) => {
    expect(await pipeline(text)).toEqual(messages);
  });
});

it('a key that is misspelt in a form is told by its name, and not as a key of another form', async () => {
  const text = await refusal(`
processors: { r: { plugin: redact, action: { default: { hmac: { keys: [{ env: K26 }] } } } } }
collectors: {}
${REST}`);
  expect(text.match(/processors\..*$/gm)).toEqual([
    'processors.r.action.default.hmac.keys[0].key_env: missing; expected a string',
    'processors.r.action.default.hmac.keys[0].env: unknown key `env`',
  ]);
});

it('the problems of all rules are reported together, each at its place', async () => {
  const text = await refusal(`
processors:
  r:
    plugin: redact
    packs: [defalt]
    rules:
      A: '('
      B: { match: '(a+)+(?=b)$', check: crad }
  m: { plugin: regex_mask, rules: { A: 7, B: '(b+)+(?=c)$' } }
collectors: {}
${REST}`);
  expect(text.match(/processors[^:]*: (?:found the string "[^"]*"|found 7|this \w+)/g)).toEqual([
    'processors.r.packs[0]: found the string "defalt"',
    'processors.r.rules.A: found the string "("',
    'processors.r.rules.B.match: this expression',
    'processors.r.rules.B.check: found the string "crad"',
    'processors.m.rules.A: found 7',
    'processors.m.rules.B: this expression',
  ]);
  expect(text).toMatch(/did you mean `default`\?/);
  expect(text).toMatch(/did you mean `card`\?/);
});

describe('the whole configuration', () => {
  it('misses sections', async () => {
    expect(await refusal('tests: {}\n')).toBe(
      [
        '<dir>/c.yaml:1:1: collectors: missing; expected a mapping of names to collectors',
        '<dir>/c.yaml:1:1: forwarders: missing; expected a mapping of names to forwarders',
        '<dir>/c.yaml:1:1: pipelines: missing; expected a mapping of names to pipelines',
        '<dir>/c.yaml:1:1: host_config: missing; expected a mapping, which may be empty: add `host_config: {}`',
      ].join('\n'),
    );
  });

  it('has sections of a wrong type, which cause no further problems', async () => {
    const text =
      'collectors: [web]\nforwarders:\npipelines: {main: {collect: web, forward: out}}\nhost_config: 1\n';
    expect(
      await refusal(text),
    ).toBe(`<dir>/c.yaml:1:13: collectors: found a list; expected a mapping of names to collectors
    1 | collectors: [web]
      |             ^
<dir>/c.yaml:2:1: forwarders: found nothing (null); expected a mapping of names to forwarders
    2 | forwarders:
      | ^
<dir>/c.yaml:4:14: host_config: found 1; expected a mapping, which may be empty: add \`host_config: {}\`
    4 | host_config: 1
      |              ^`);
  });

  it('tells all problems at once, by place, and uses the names of wrong entries', async () => {
    const text = `collector: {}
collectors:
  web:
    plugin: file
    backfill: "yes"
  ticks:
    plugin: test
\tcount: 0
`.replace('\t', '    ');
    const rest = `forwarders:
  out: {plugin: nop}
pipelines:
  main:
    collect: [web, tick]
    forward: out
host_config: {}
`;
    expect(
      await refusal(text + rest),
    ).toBe(`<dir>/c.yaml:1:1: collector: unknown key \`collector\`; did you mean \`collectors\`?
    1 | collector: {}
      | ^
<dir>/c.yaml:3:3: collectors.web.paths: missing; expected a list
    3 |   web:
      |   ^
<dir>/c.yaml:5:15: collectors.web.backfill: found the string "yes"; expected true or false
    5 |     backfill: "yes"
      |               ^
<dir>/c.yaml:8:12: collectors.ticks.count: found 0; expected a number greater than 0
    8 |     count: 0
      |            ^
<dir>/c.yaml:10:17: forwarders.out.plugin: unknown forward plugin \`nop\`; there are \`datadog\`, \`disk\`, \`elasticsearch\`, \`http\`, \`loki\`, \`kafka\`, \`nats\`, \`noop\`, \`otlp\`, \`s3\`, \`splunk_hec\`, \`stdout\`, \`syslog\`, \`test\`, and no package of that name in <dir> or above it; did you mean \`noop\`?
   10 |   out: {plugin: nop}
      |                 ^
<dir>/c.yaml:13:20: pipelines.main.collect[1]: unknown collector \`tick\`; did you mean \`ticks\`?
   13 |     collect: [web, tick]
      |                    ^`);
  });

  it('gives problems as data, too', async () => {
    const error = await load(`collectors: {x: {plugin: test, intervall: 1}}\n${REST}`).catch(
      (caught) => caught,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ name: 'ConfigError', code: 'MILLRACE_CONFIG' });
    expect(error.problems).toEqual([
      {
        file: expect.stringMatching(/c\.yaml$/),
        line: 1,
        column: 32,
        path: 'collectors.x.intervall',
        message: 'unknown key `intervall`',
        suggestion: 'interval',
        excerpt: expect.stringContaining('^'),
      },
    ]);
  });
});

describe('two listeners on one address', () => {
  const config = (second: string, enabled = true) => `
collectors:
  web: { plugin: http, listen: 18090 }
  other: { ${second} }
forwarders: { nowhere: { plugin: noop } }
pipelines:
  one: { collect: web, forward: nowhere }
  two: { collect: other, forward: nowhere, enabled: ${enabled} }
host_config: {}
`;
  const problemOf = (text: string) => refusal(text);

  it.each(['plugin: otlp, listen: 127.0.0.1:18090', "plugin: syslog, listen: 'tcp://127.0.0.1:18090'"])(
    'are refused: %s',
    async (second) => {
      expect(await problemOf(config(second))).toContain(
        'pipelines.two.collect[0]: `other` listens on tcp 127.0.0.1:18090, as `web` of pipeline `one` does: only one can',
      );
    },
  );
});

describe('`when_full: reject`', () => {
  const config = (collect: string) => `collectors:
  sys: { plugin: syslog, listen: 'relp://127.0.0.1:2514' }
  jobs: { plugin: nats, servers: "nats://127.0.0.1:4222", stream: JOBS, durable: millrace }
  web: { plugin: http, listen: '127.0.0.1:8088' }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: ${collect}, forward: out, buffer: { type: disk, path: b, when_full: reject } } }
host_config: {}
`;

  it.each([
    ['sys', '`sys`'],
    ['jobs', '`jobs`'],
    ['[sys, jobs]', '`sys` and `jobs`'],
  ])('is refused if no collector can tell its senders what to send again: %s', async (collect, listed) => {
    expect(await refusal(config(collect))).toContain(
      `so \`reject\` would do what \`wait\` does (there is ${listed}); use \`wait\`, or \`drop_oldest\``,
    );
  });

  it.each(['web', '[sys, web]', '[jobs, sys, web]'])('is taken if one of them can: %s', async (collect) => {
    expect((await load(config(collect))).config.pipelines.main).toMatchObject({
      buffer: { when_full: 'reject' },
    });
  });
});
