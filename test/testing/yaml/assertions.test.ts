import { describe, expect, it } from '@jest/globals';
import { CONFIG, load, run, runOne } from './helpers.ts';

const MARBLES =
  "collect: { log: { marbles: 'a 1s b 1s c|', values: { a: one, b: { n: 2, tags: [x, y] }, c: 'k-3' } } }";

const WITHOUT_DEAD_LETTER = CONFIG.replace(', dead_letter: letters', '');
const DROPPING = 'collect: { log: [k-1, y] }, forward: { archive: { fails: 2 } }';

async function resultsOf(config: string, body: string) {
  return run(await load({ 'c.yaml': `${config}tests:\n  t: { ${body} }\n` }));
}

async function findingsOf(config: string, body: string): Promise<string[]> {
  const results = await resultsOf(config, body);
  return results.flatMap(({ findings }) => findings.map(({ path, message }) => `${path}: ${message}`));
}

/** The findings of a test, as `path: message`. */
async function findings(body: string): Promise<string[]> {
  const result = await runOne(body);
  return result.findings.map(({ path, message }) => `${path}: ${message}`);
}

async function details(body: string): Promise<string | undefined> {
  return (await runOne(body)).findings[0]?.details;
}

describe('an assertion that holds says nothing', () => {
  it.each([
    // Of an entry
    "archive: { marbles: 'a 1s b 1s c', values: { a: one, b: { n: 2 }, c: '<:KEY:>' } }",
    "archive: { marbles: 'a 1s b 1s c', values: { c: '/KEY/' } }",
    "archive: { marbles: 'a 990ms b 1010ms c', within: 20ms, values: { c: '/key/i' } }",
    'archive: { times: [0s, 1001ms, 2002ms] }',
    'archive: { times: [0, 1001ms, 2002ms] }',
    'archive: { times: [0, 1.001s, 2s2ms] }',
    "archive: { marbles: 'a 0s1000ms b 1s0ms c', values: { c: '/KEY/' } }",
    'archive: { times: [0s, 1s, 2s], within: 2ms }',
    'archive: { count: 3 }',
    'archive: { count: { at_least: 3 } }',
    'archive: { count: { at_least: 1, at_most: 3 } }',
    "archive: { exactly: ['<:KEY:>', { tags: [x, y] }, one] }",
    "archive: { exactly: [{ n: '/[0-9]/' }, one, '/./'] }",
    "archive: { in_order: [one, '<:KEY:>'] }",
    'archive: { in_order: [{ n: 2 }] }',
    "archive: { any: { n: 2 }, none: [two, { n: 3 }, { m: '/./' }] }",
    'archive: { any: [one, { n: 2 }] }',
    "archive: { contains_no: ['/k-[0-9]+/', two] }",
    "archive: { none: '/api/users', contains_no: ['/api/users', '/var/log/'] }",
    "archive: [one, { n: 2 }, '<:KEY:>']",
    'letters: []',
    'letters: { exactly: [] }',
    'letters: { count: 0 }',
    "letters: { count: 0, none: '/k/' }",
    "letters: { exactly: [], none: '/k/' }",
    // Of a processor and a collector
    "secrets: { any: '<:KEY:>' }, log: { any: 'k-3', count: 3 }",
    // Of the run
    'state: completed',
    'states: [running, completed]',
    'ended_at: 2003ms',
    'ended_within: 1h',
    'dropped: none',
    'retries: 0, dead_letters: 0',
    "contains_no: ['/k-[0-9]+/', two]",
  ])('%s', async (expectations) => {
    expect(await findings(`${MARBLES}, expect: { ${expectations} }`)).toEqual([]);
  });

  it('of times as drawings and messages print them', async () => {
    const collect = "collect: { log: { marbles: '1m3.003s a 1d2h1ms b|' } }";
    expect(
      await findings(
        `${collect}, expect: { archive: { times: [1m3.003s, 1d2h1m3.005s] }, ended_at: 1d2h1m3.006s }`,
      ),
    ).toEqual([]);
    const [wrong] = await findings(`${collect}, expect: { ended_at: 1m }`);
    expect(wrong).toContain('the run was completed at 1d2h1m3.006s');
  });

  it('of all events', async () => {
    expect(await findings("collect: { log: [a1, a2] }, expect: { archive: { all: '/^a[12]$/' } }")).toEqual(
      [],
    );
  });

  it('of a whole event, if the matcher has data itself', async () => {
    const collect = 'collect: { log: [{ data: { line: x }, backfill: true }] }';
    expect(
      await findings(`${collect}, expect: { archive: [{ data: { line: x }, backfill: true }] }`),
    ).toEqual([]);
    expect(
      await findings(`${collect}, expect: { archive: [{ data: { line: x }, backfill: false }] }`),
    ).toEqual([
      'expect.archive[0]: event 1, at 0, is not like {"data":{"line":"x"},"backfill":false}: backfill: expected false, found true',
    ]);
  });

  it('of letters that listed values have been given', async () => {
    expect(await findings("collect: { log: [x, y] }, expect: { archive: { marbles: '(ab)' } }")).toEqual([]);
  });

  it('of an outage of a forwarder', async () => {
    const collect = "collect: { log: { marbles: 'a 10s b 60s c|' } }";
    for (const fails of ['{ from: 5s, to: 50s }', '[{ from: 1s, to: 2s }, { from: 5s, to: 50s }]']) {
      // The second and last attempt for b is within the outage as well.
      const found = await findings(
        `${collect}, forward: { live: { fails: ${fails} } }, expect: { live: [{ value: a }, { value: c }], dead_letters: 1, retries: 1 }`,
      );
      expect(found).toEqual([]);
    }
  });

  it('of many listed values', async () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `line ${index}`);
    expect(
      await findings(`collect: { log: [${lines}] }, expect: { archive: [${lines}], dropped: none }`),
    ).toEqual([]);
  });

  it('takes a collected text between slashes for a text', async () => {
    const collect = "collect: { log: { marbles: 'a|', values: { a: '/var/log/' } } }";
    expect(await findings(`${collect}, expect: { archive: { marbles: 'a' } }`)).toEqual([]);
  });

  it('of drops, dead letters and retries', async () => {
    const forward = 'collect: { log: [x, y] }, forward: { archive: { fails: always } }';
    expect(
      await findings(
        `${forward}, expect: { archive: [], letters: { count: 2, all: { plugin: archive } }, retries: 1, dead_letters: 2, dropped: none }`,
      ),
    ).toEqual([]);
  });

  it('of an entry that has the name of an assertion about the run', async () => {
    const config = CONFIG.replaceAll(/\blive\b/g, 'retries');
    const findings = (expectations: string) =>
      findingsOf(config, `collect: { log: [x] }, expect: { ${expectations} }`);
    expect(await findings('retries: { count: 1 }, archive: [x]')).toEqual([]);
    expect(await findings('retries: 0')).toEqual([]);
    expect(await findings('retries: { count: 2 }')).toEqual([
      'expect.retries.count: expected 2 events, 1 came',
    ]);
  });
});

describe('an assertion that does not hold says what came instead', () => {
  it.each([
    [
      "archive: { marbles: 'a 1s b 1s c', values: { b: { n: 3 } } }",
      'marbles: other events came than expected',
    ],
    ["archive: { marbles: 'a 1s b' }", 'marbles: other events came than expected'],
    [
      "archive: { marbles: 'a 1s b 2s c', values: { c: '/KEY/' } }",
      'marbles: the events are right, their times are not',
    ],
    [
      'archive: { times: [0s, 1s, 2s] }',
      'times[1]: expected 3 events at 0s, 1s, 2s; 3 events came, at 0, 1.001s, 2.002s',
    ],
    ['archive: { times: [0s] }', 'times: expected 1 event at 0s; 3 events came, at 0, 1.001s, 2.002s'],
    [
      'archive: { times: [0s, 1s, 2s], within: 1ms }',
      'times[2]: expected 3 events at 0s, 1s, 2s; 3 events came, at 0, 1.001s, 2.002s',
    ],
    ['archive: { count: 2 }', 'count: expected 2 events, 3 came'],
    ['archive: { count: { at_least: 4 } }', 'count: expected at least 4 events, 3 came'],
    [
      'archive: { count: { at_least: 1, at_most: 2 } }',
      'count: expected at least 1 and at most 2 events, 3 came',
    ],
    ['archive: { exactly: [one, { n: 2 }] }', 'exactly: 1 event came that is not in the list'],
    ["archive: { exactly: [one, { n: 2 }, '/k-/'] }", 'exactly[2]: no event is like /k-/'],
    [
      "archive: { in_order: ['<:KEY:>', one] }",
      'in_order[1]: no event behind "<:KEY:>", which came at 2.002s, is like "one"',
    ],
    ['archive: { in_order: [two] }', 'in_order[0]: no event is like "two"'],
    [
      'archive: { all: one }',
      'all: 2 of 3 events are not like "one"; the first, at 1.001s: line: expected "one", there is none',
    ],
    [
      "archive: { all: ['/./', one] }",
      'all[0]: 1 of 3 events is not like /./; the first, at 1.001s: line: expected /./, there is none',
    ],
    ['archive: { any: two }', 'any: no event is like "two"'],
    ['archive: { any: [one, { n: 3 }] }', 'any[1]: no event is like {"n":3}'],
    ["archive: { none: '/KEY/' }", 'none: 1 of 3 events is like /KEY/'],
    ['archive: { none: [two, { n: 2 }] }', 'none[1]: 1 of 3 events is like {"n":2}'],
    ["archive: { contains_no: '/KEY/' }", 'contains_no: 1 of 3 events contains /KEY/'],
    ['archive: { contains_no: [two, \'"n":2\'] }', 'contains_no[1]: 1 of 3 events contains "\\"n\\":2"'],
    [
      "archive: [one, { n: 3 }, '<:KEY:>']",
      '[1]: event 2, at 1.001s, is not like {"n":3}: n: expected 3, found 2',
    ],
    [
      "archive: [one, { n: 2 }, '<:KEY:>', four]",
      '[3]: expected 4 events, 3 came; the first that is missing: "four"',
    ],
    ['archive: [one]', ': 2 events came behind the last of the list'],
    ['archive: []', ': expected no event, 3 events came'],
    ["log: { none: '/k-/' }", 'none: 1 of 3 events is like /k-/'],
  ])('%s', async (expectations, message) => {
    const entry = expectations.startsWith('log') ? 'log' : 'archive';
    const separator = /^[[:]/.test(message) ? '' : '.';
    const [found, ...others] = await findings(`${MARBLES}, expect: { ${expectations} }`);
    expect(found).toBe(`expect.${entry}${separator}${message}`);
    if (!expectations.includes('all:')) expect(others).toEqual([]);
  });

  it.each([
    ['state: failed', 'state: expected failed, the run was completed at 2.003s'],
    ['states: [running, failed]', 'states: expected running, failed; found running, completed'],
    ['ended_at: 2s', 'ended_at: expected an end at 2s, the run was completed at 2.003s'],
    ['ended_within: 2s', 'ended_within: expected an end within 2s, the run was completed at 2.003s'],
    ['retries: 1', 'retries: expected 1 retry, there were none'],
    ['dead_letters: 2', 'dead_letters: expected 2 dead letters, there were none'],
    ['dropped: [{ by: secrets }]', 'dropped[0]: expected 1 dropped like {"by":"secrets"}, there were none'],
    ["contains_no: ['/KEY/']", 'contains_no: 2 of 6 events contain /KEY/'],
  ])('%s', async (expectations, message) => {
    expect(await findings(`${MARBLES}, expect: { ${expectations} }`)).toEqual([`expect.${message}`]);
  });

  it.each([
    ['[{}]', []],
    ['[{ by: archive, reason: forwarder_failed, event: "<:KEY:>" }]', []],
    ['none', ['expected no drops, 1 event was dropped']],
    ['[{ count: 2 }]', ['expected 2 dropped like {}, there was 1']],
    ['[{ by: live }]', ['expected 1 dropped like {"by":"live"}, there were none']],
    ['[{ reason: filtered }]', ['expected 1 dropped like {"reason":"filtered"}, there were none']],
    ['[{ event: y }]', ['expected 1 dropped like {"event":"y"}, there were none']],
  ])('dropped: %s', async (dropped, messages) => {
    const [result] = await resultsOf(WITHOUT_DEAD_LETTER, `${DROPPING}, expect: { dropped: ${dropped} }`);
    expect(result?.findings.map(({ message }) => message)).toEqual(messages);
  });

  it('drops that the list does not have', async () => {
    const twice = DROPPING.replace('fails: 2', 'fails: always');
    const found = await findingsOf(WITHOUT_DEAD_LETTER, `${twice}, expect: { dropped: [{ event: y }] }`);
    expect(found).toEqual(['expect.dropped: 1 event was dropped that the list does not have']);
  });

  it('all, where nothing came: it would hold for no events', async () => {
    expect(await findings('collect: {}, expect: { archive: { all: one } }')).toEqual([
      'expect.archive.all: no event came, so `all` has looked at nothing; for that write `count: 0`',
    ]);
  });

  it('none, where nothing came: the list does not say that none is expected', async () => {
    expect(await findings("collect: {}, expect: { archive: { none: '/k-/' } }")).toEqual([
      'expect.archive.none: no event came, so `none` has looked at nothing; for that write `count: 0`',
    ]);
  });

  it('retries and dead letters, in the singular', async () => {
    const forward = 'collect: { log: [x] }, forward: { archive: { fails: always } }';
    expect(await findings(`${forward}, expect: { retries: 3, dead_letters: 3 }`)).toEqual([
      'expect.dead_letters: expected 3 dead letters, there was 1',
      'expect.retries: expected 3 retries, there was 1',
    ]);
  });

  it('a run that has not ended, with what the log said', async () => {
    const never = "collect: { log: { marbles: 'a-' } }, expect: { ended_within: 1h }";
    expect(await findings(never)).toEqual([
      'expect.ended_within: expected an end within 1h, the run had not ended: it was running a day after the last marble, when the test gave up',
    ]);
    const failing = "collect: { log: { marbles: '#' } }, expect: { state: completed }";
    expect(await details(failing)).toMatch(
      /^The log said last: error web: failed: collector log: the marbles '#' end with #$/,
    );
  });
});

describe('the details of a finding', () => {
  it('are both rows of marbles, aligned, and the first value that differs, as a diff', async () => {
    const body = `${MARBLES}, expect: { archive: { marbles: 'a 1s b 1s c', values: { b: { n: 3 }, c: '/KEY/' } } }`;
    expect(await details(body)).toBe(
      [
        'Expected: a 1s b 1s c',
        'Received: a 1s d 1s c',
        '',
        'At 1001ms, the first event that differs (- expected b, + received d):',
        '  {',
        '-   "n": 3,',
        '+   "n": 2,',
        '    "tags": [',
        '      "x",',
        '      "y"',
        '    ]',
        '  }',
      ].join('\n'),
    );
  });

  it('are the marbles to write, if only the times differ', async () => {
    const forward = 'forward: { archive: { takes: 3s } }';
    const body = `${MARBLES}, ${forward}, expect: { archive: { marbles: '3s a 3s b 3s c', values: { c: '/KEY/' } } }`;
    const text = (await details(body)) ?? '';
    expect(text).toContain("\nIf that is right, write: marbles: '3s a 2999ms (bc)'");
    const written = body.replace("'3s a 3s b 3s c'", "'3s a 2999ms (bc)'");
    expect(await findings(written)).toEqual([]);
  });

  it('are the times to write, if there are as many', async () => {
    const body = `${MARBLES}, expect: { archive: { times: [0s, 1s, 2s] } }`;
    expect(await details(body)).toBe('If that is right, write: times: [0ms, 1001ms, 2002ms]');
  });

  it('are the event that came nearest', async () => {
    const body = `${MARBLES}, expect: { archive: { any: { n: 2, tags: [x, z] } } }`;
    expect(await details(body)).toMatch(
      /^The nearest came at 1.001s: tags\[1\]: expected "z", found "y"\nWhat came:\n/,
    );
  });

  it('are the place in the event that contains what it must not', async () => {
    const long = `${'x'.repeat(40)} k-1 ${'y'.repeat(40)}`;
    const body = `collect: { log: [{ user: { notes: ['${long}'] } }, { 'k-2': 1 }] }, expect: { log: { contains_no: '/k-[0-9]/' } }`;
    expect(await details(body)).toBe(
      `  0  data.user.notes[0]: …${'x'.repeat(23)} k-1 ${'y'.repeat(23)}…\n  0  the key data.k-2: k-2`,
    );
  });

  it('are what was dropped', async () => {
    const [result] = await resultsOf(WITHOUT_DEAD_LETTER, `${DROPPING}, expect: { dropped: none }`);
    expect(result?.findings[0]?.details).toBe(
      '  0  by archive, forwarder_failed: {"line":"<:KEY:>","source":"/nowhere/web.log"}',
    );
  });
});
