import { describe, expect, it } from '@jest/globals';
import { problemLine } from '../../src/config/config-error.ts';
import {
  batching,
  defineForwarder,
  ForwardConfigBase,
  registerPlugin,
  unregisterPlugin,
} from '../../src/index.ts';
import { load, refusal } from './helpers.ts';

const warnings = async (text: string, options = {}) => {
  const loaded = await load(text, options);
  return loaded.warnings.map((warning) => problemLine(warning).replace(/^.*\//, ''));
};

const WRONG_TESTS = `
collectors: {a: {plugin: test}}
forwarders: {out: {plugin: noop}}
pipelines: {main: {collect: a, forward: out}}
host_config: {}
tests:
  one: {collect: {b: []}, expect: {out: {count: many}}}
  two: {collect: {a: ['\${NOT_SET}']}, expect: {contains_no: '/(/'}}
`;

describe('a valid configuration', () => {
  it('is warned of entries that no pipeline uses, of each kind, at their names', async () => {
    const text = `
collectors: {a: {plugin: test}, b: {plugin: test}}
processors: {p: {plugin: test}, q: {plugin: test}}
forwarders: {out: {plugin: noop}, lost: {plugin: noop}, more: {plugin: noop}}
pipelines:
  main: {collect: a, process: [p], forward: [out], delivery: {dead_letter: lost}}
host_config: {}
`;
    expect(await warnings(text)).toEqual([
      'c.yaml:2:33: collectors.b: no pipeline uses it',
      'c.yaml:3:33: processors.q: no pipeline uses it',
      'c.yaml:4:57: forwarders.more: no pipeline uses it',
    ]);
  });

  it('is warned of what looks like a reference to an environment variable, without its default', async () => {
    const text = `
collectors: {a: {plugin: file, paths: ['\${LOGS-/var/s3cret}', '$LOGS/a.log']}}
forwarders: {out: {plugin: noop}}
pipelines: {main: {collect: a, forward: out}}
host_config: {}
`;
    const found = await warnings(text, { env: { LOGS: '/logs' } });
    expect(found).toEqual([
      expect.stringMatching(
        /^c\.yaml:2:40: collectors\.a\.paths\[0\]: a reference to LOGS .* write `\$\{LOGS:-default\}`/,
      ),
      expect.stringMatching(/^c\.yaml:2:63: collectors\.a\.paths\[1\]: `\$LOGS` is taken as text/),
    ]);
    expect(found.join()).not.toContain('s3cret');
  });

  it('has none if all is used, if only by a pipeline that is disabled', async () => {
    const text = `
collectors: {a: {plugin: test}}
forwarders: {out: {plugin: noop}}
pipelines: {main: {collect: a, forward: out, enabled: false}}
host_config: {}
`;
    expect(await warnings(text)).toEqual([]);
  });

  it('is warned of batches that max_in_flight does not hold', async () => {
    const hook = defineForwarder({
      schema: ForwardConfigBase.extend(batching()),
      forward: () => undefined,
      forwardBatch: () => undefined,
    });
    registerPlugin('forward', 'hook', hook);
    const text = (fields: string, limit: number) => `
collectors: {a: {plugin: test}}
forwarders: {out: {plugin: hook${fields}}}
pipelines:
  main: {collect: a, forward: out, max_in_flight: ${limit}}
host_config: {}
`;
    try {
      expect(await warnings(text(', batch: {events: 500}, concurrency: 2', 1000))).toEqual([]);
      expect(await warnings(text(', batch: {events: 501}, concurrency: 2', 1000))).toEqual([
        'c.yaml:5:31: pipelines.main.forward: 2 batches of 501 events of `out` do not fit into `max_in_flight`, which ' +
          'is 1000: smaller batches leave when that many are in flight; set `max_in_flight: 1002` or more, or a smaller ' +
          '`batch.events`',
      ]);
      expect(await refusal(text(', batch: {event: 5}, concurrency: 0', 1000))).toMatch(/event.*concurrency/s);
    } finally {
      unregisterPlugin('forward', 'hook');
    }
  });

  describe('in which two pipelines share a collector', () => {
    const shared = (main: string, other: string, rest = '') => `
collectors: {a: {plugin: test}, b: {plugin: test}}
processors:
  m: {plugin: regex_mask, rules: {PIN: 'pin=[0-9]+'}}
  e: {plugin: entropy_mask}
  p: {plugin: test}
forwarders: {out: {plugin: stdout}, copy: {plugin: stdout}, none: {plugin: noop}}
pipelines:
  main: {${main}}
  other: {${other}}
  rest: {collect: [a, b], process: [m, e, p], forward: [none, copy, out]${rest}}
host_config: {}
`;
    const warningsOf = async (main: string, other: string) =>
      (await warnings(shared(main, other, ', enabled: false'))).filter(
        (warning) => !warning.includes('no pipeline uses it'),
      );
    const MASKED = 'collect: a, process: [m, p], forward: out';

    it('is warned of events that leave unmasked by one of them', async () => {
      expect(
        await warningsOf(
          MASKED,
          'collect: [b, a], process: p, forward: [copy, none, {to: out, when: "true"}]',
        ),
      ).toEqual([
        'c.yaml:10:20: pipelines.other.collect: events of `a` reach `copy` and `out` without `m`, which pipeline `main` ' +
          'applies to them: secrets that are masked there are delivered here; add `m` to `process`, or, if this is ' +
          'intended, give `other` a collector entry of its own',
      ]);
    });

    it('is warned of the mask that one of them lacks', async () => {
      const [warning, ...others] = await warningsOf(
        'collect: a, process: [m, e], forward: out',
        'collect: a, process: m, forward: out',
      );
      expect(warning).toContain('events of `a` reach `out` without `e`, which pipeline `main` applies');
      expect(others).toEqual([]);
    });

    it.each([
      ['both mask', 'collect: a, process: m, forward: copy'],
      ['each has a mask of its own', 'collect: a, process: e, forward: copy'],
      ['the other one discards them', 'collect: a, forward: none'],
      ['the other one is disabled', 'collect: a, forward: copy, enabled: false'],
      ['another collector shares only the forwarder', 'collect: b, forward: out'],
    ])('is not warned if %s', async (_, other) => {
      expect(await warningsOf(MASKED, other)).toEqual([]);
    });

    it('is warned of lines that reach a forwarder without a mask, where others are masked', async () => {
      const files = (main: string, other: string) =>
        shared(main, other, ', enabled: false').replaceAll(
          'plugin: test}, b: {plugin: test}',
          'plugin: file, paths: [a]}, b: {plugin: file, paths: [b]}',
        );
      const found = async (other: string) =>
        (await warnings(files(MASKED, other))).filter((warning) => !warning.includes('no pipeline uses it'));
      expect(await found('collect: b, process: p, forward: [copy, out]')).toEqual([
        'c.yaml:10:44: pipelines.other.forward: lines of `b` reach `out` without a mask, while pipeline `main` masks the ' +
          'lines that it delivers there by `m`; add a mask to `process`, or, if this is intended, give `other` a ' +
          'forwarder entry of its own',
      ]);
      for (const other of ['collect: b, process: e, forward: out', 'collect: b, forward: copy']) {
        expect(await found(other)).toEqual([]);
      }
    });

    it('is not warned of unmasked dead letters, which the engine withholds', async () => {
      expect(
        await warningsOf(`${MASKED}, delivery: {dead_letter: copy}`, 'collect: b, forward: out'),
      ).toEqual([]);
    });
  });

  it('is warned of a mask that can break logfmt before it is parsed, and not of JSON, which masks keep', async () => {
    const ofSteps = (process: string) =>
      warnings(`
collectors: {a: {plugin: file, paths: [a.log]}}
processors:
  logfmt: {plugin: parse, format: logfmt}
  json: {plugin: parse, format: json}
  pins: {plugin: regex_mask, rules: {NAME: '[a-z]+', PIN: 'pin=[0-9]+'}}
  words: {plugin: regex_mask, rules: {NAME: '[a-z]+'}}
  quoted: {plugin: regex_mask, rules: {NAME: '[a-z]+'}, mask_prefix: '"'}
  random: {plugin: entropy_mask}
  packs: {plugin: redact}
forwarders: {out: {plugin: noop}}
pipelines:
  main: {collect: a, process: [${process}], forward: out}
  rest: {collect: a, process: [logfmt, json, pins, words, quoted, random, packs], forward: out, enabled: false}
host_config: {}
`);
    expect(await ofSteps('pins, logfmt')).toEqual([
      expect.stringContaining(
        'process[1]: `logfmt` reads keys and values of logfmt, and `pins` in front of it can replace a key, a quote or a space ' +
          'with a value (its rule PIN), so that fields are lost; put `logfmt` in front of `pins`',
      ),
    ]);
    expect(await ofSteps('words, random, logfmt')).toEqual([
      expect.stringContaining('(a token that looks random)'),
    ]);
    expect(await ofSteps('quoted, logfmt')).toHaveLength(1);
    for (const safe of ['words, logfmt', 'packs, logfmt', 'logfmt, pins', 'pins, json', 'random, json'])
      expect(await ofSteps(safe)).toEqual([]);
  });

  describe('with parsed lines in front of a mask', () => {
    const ofSteps = (process: string) =>
      warnings(`
collectors: {a: {plugin: file, paths: [a.log]}}
processors:
  parts: {plugin: multiline, preset: cri}
  container: {plugin: parse, format: cri}
  json: {plugin: parse, format: json}
  csv: {plugin: parse, format: csv, columns: [a, b]}
  cards: {plugin: regex_mask, rules: {EMAIL: '\\w+@\\w+', CARD: '[0-9]{13,16}'}}
  emails: {plugin: regex_mask, rules: {EMAIL: '\\w+@\\w+'}}
  random: {plugin: entropy_mask}
  packs: {plugin: redact}
forwarders: {out: {plugin: noop}}
pipelines:
  main: {collect: a, process: [${process}], forward: out}
  rest: {collect: a, process: [parts, container, json, csv, cards, emails, random, packs], forward: out, enabled: false}
host_config: {}
`);

    it('is warned of long lines of containers that nothing joins before they are masked', async () => {
      const joinIt =
        'a secret that lies across two parts is not masked; put a `multiline` processor with `preset: cri` in front of';
      expect(await ofSteps('container, packs')).toEqual([
        `c.yaml:14:32: pipelines.main.process[0]: \`container\` reads lines of the format cri, of which long ones come in parts: ${joinIt} \`container\``,
      ]);
      expect(await ofSteps('packs, parts, container')).toEqual([
        expect.stringContaining(`${joinIt} \`packs\``),
      ]);
      expect(await ofSteps('container, parts, packs')).toHaveLength(1);
      expect(await ofSteps('parts, container, packs')).toEqual([]);
      expect(await ofSteps('container')).toEqual([]);
    });

    it('is warned of numbers in which a rule for strings would find a secret', async () => {
      expect(await ofSteps('json, random, cards')).toEqual([
        'c.yaml:14:32: pipelines.main.process[0]: `json` makes numbers and keys of fields, which `cards` leaves as they are: ' +
          'what its rule CARD would find in the line is delivered if it is a number in JSON; put `cards` in front of it, or ' +
          'use `redact`, which masks numbers and keys as well',
      ]);
    });

    it('is not warned where the line is masked before, no rule finds digits, or numbers are masked', async () => {
      for (const process of ['cards, json', 'json, emails', 'csv, cards', 'json, cards, packs', 'json']) {
        expect(await ofSteps(process)).toEqual([]);
      }
    });
  });
  it('is warned of a mask without rules and of a collector without paths, where nothing is wrong', async () => {
    const text = `
collectors: {a: {plugin: file, paths: []}}
processors: {m: {plugin: regex_mask, rules: {}}}
forwarders: {out: {plugin: noop}}
pipelines: {main: {collect: a, process: m, forward: out}}
host_config: {}
`;
    expect(await warnings(text)).toEqual([
      'c.yaml:2:39: collectors.a.paths: there are none, so nothing is read',
      'c.yaml:3:45: processors.m.rules: there are none, so nothing is masked',
    ]);
    expect(await refusal(text.replace('forward: out', 'forward: oot'))).not.toContain('there are none');
  });

  it('is warned of rules that mask nothing, whatever the text', async () => {
    const text = `
collectors: {a: {plugin: test}}
processors:
  m:
    plugin: regex_mask
    rules: {NONE: '', EDGE: '(?=key)', LONG: 'x{9999999999}', LEFT: '(?:)*|$', SOME: 'a*', MANY: 'x{9999}'}
forwarders: {out: {plugin: noop}}
pipelines: {main: {collect: a, process: m, forward: out}}
host_config: {}
`;
    const empty = 'this expression matches nothing but the empty text, so it masks nothing';
    expect(await warnings(text)).toEqual([
      `c.yaml:6:19: processors.m.rules.NONE: ${empty}`,
      `c.yaml:6:29: processors.m.rules.EDGE: ${empty}`,
      'c.yaml:6:46: processors.m.rules.LONG: what this expression matches would be longer than any text, so it masks nothing',
      `c.yaml:6:69: processors.m.rules.LEFT: ${empty}`,
    ]);
  });

  it('is warned once if there are no pipelines', async () => {
    const text = 'collectors: {a: {plugin: test}}\nforwarders: {}\npipelines: {}\nhost_config: {}\n';
    expect(await warnings(text)).toEqual(['c.yaml:3:12: pipelines: there are none, so nothing will run']);
  });
});

describe('wrong tests', () => {
  it('are one warning with ignoreTests, whatever is wrong with them', async () => {
    expect(await warnings(WRONG_TESTS, { ignoreTests: true })).toEqual([
      'c.yaml:6:1: tests: 4 errors in the tests, which are ignored here; `millrace validate` shows them',
    ]);
    const { tests } = await load(WRONG_TESTS, { ignoreTests: true });
    expect([...tests.definitions.keys()]).toEqual([]);
  });

  it('are refused otherwise', async () => {
    expect((await refusal(WRONG_TESTS)).match(/^<dir>/gm)).toHaveLength(4);
  });

  it('do not hide problems elsewhere', async () => {
    const text = WRONG_TESTS.replace('forward: out', 'forward: oot');
    expect(await refusal(text, { ignoreTests: true })).toMatch(
      /^<dir>\/c\.yaml:4:41: .*did you mean `out`\?\n/,
    );
  });
});
