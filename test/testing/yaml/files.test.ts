import { describe, expect, it } from '@jest/globals';
import { drawText } from '../../../src/testing/draw/draw-text.ts';
import type { Trace } from '../../../src/testing/index.ts';
import { load, refusal, run } from './helpers.ts';

const CONFIG = (pipeline = '') => `collectors:
  log: { plugin: file, paths: [/var/log/app.log], backfill: true }
forwarders:
  archive: { plugin: disk, path: /out, filename: events.jsonl }
pipelines:
  ship: { collect: log, forward: archive${pipeline} }
host_config: {}
`;

const ROTATION = `
    files:
      - { at: 0s, append: { path: /var/log/app.log, lines: [a, b] } }
      - { at: 1s, append: { path: /var/log/app.log, text: half a } }
      - { at: 2s, append: { path: /var/log/app.log, text: " line\\n" } }
      - { at: 3s, rename: { from: /var/log/app.log, to: /var/log/app.log.1 } }
      - { at: 4s, append: { path: /var/log/app.log, lines: [c] } }`;

const results = async (test: string, pipeline = '') =>
  run(await load({ 'c.yaml': `${CONFIG(pipeline)}tests:\n  t:${test}\n` }));

const messages = async (test: string) =>
  (await results(test)).flatMap(({ findings }) => findings.map(({ path, message }) => `${path}: ${message}`));

describe('a test with virtual files', () => {
  it('asserts what files hold, and what entries got', async () => {
    const [result] = await results(`${ROTATION}
    expect:
      archive: [a, b, half a line, c]
      state: stopped
      files:
        /out/events.jsonl: [a, b, half a line, c]
        /var/log/app.log: { count: 1, exactly: [c] }
        /out/other.jsonl: missing`);
    expect(result?.findings).toEqual([]);
    expect(result?.virtualMs).toBe(64_000);
  });

  it('says what is wrong with a file', async () => {
    const found = await messages(`
    files: [{ at: 0s, append: { path: /var/log/app.log, lines: [a] } }]
    expect: { files: { /out/events.jsonl: [b], /out/other: { count: 1 }, /var/log/app.log: missing } }`);
    expect(found).toEqual([
      expect.stringMatching(/^expect\.files\["?\/out\/events\.jsonl"?\].*: .*/),
      expect.stringContaining('expected the file /out/other; there are /out/events.jsonl, /var/log/app.log'),
      expect.stringContaining('expected no such file, it is there'),
    ]);
  });

  it('draws a crash of a test that crashes everywhere', async () => {
    const test = (kind: string) => `${ROTATION}
    until: 12s
    crash_everywhere: ${kind}
    expect: { files: { /out/events.jsonl: { exactly: [a, b, half a line, c] } } }`;
    for (const kind of ['process', 'power']) {
      const [result] = await results(test(kind), ', exactly_once: true');
      const text = drawText((result?.crashed ?? result?.run)?.trace as Trace);
      expect(text).toContain('▸ crashed');
      expect(text).toMatch(kind === 'power' ? /^[①-⑳] +power loss$/m : /^[①-⑳] +crash$/m);
    }
  });

  it('draws an event with one letter at all stages, whatever processors work on lines', async () => {
    const config = CONFIG(', process: [joined, secrets, all]').replace(
      'forwarders:',
      "processors:\n  joined: { plugin: multiline, start: '^[0-9]' }\n  secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }\n  all: { plugin: redact }\nforwarders:",
    );
    const test = `
    files:
      - { at: 0s, append: { path: /var/log/app.log, lines: [1 one, ' at k-1', 2 two, 3 k-2] } }
      - { at: 500ms, append: { path: /var/log/app.log, lines: [' at x', 4 four] } }
    expect: { archive: { count: 4 } }`;
    const [result] = await run(await load({ 'c.yaml': `${config}tests:\n  t:${test}\n` }));
    expect(result?.findings).toEqual([]);
    const rows = result?.run?.trace.rows.map(({ marks }) =>
      marks.flatMap((mark) => (mark.kind === 'event' ? [mark.letter] : [])).join(''),
    );
    expect(rows).toEqual(['abcdef', 'acdf', 'acdf', 'acdf', 'acdf']);
    const legend = drawText(result?.run?.trace as Trace);
    expect(legend).toMatch(/^a′ +joined from a and b; line: "1 one" → "1 one\\n at k-1" +\(joined\)$/m);
  });

  it('crashes after every call that changes the disk', async () => {
    const crash = `${ROTATION}
    until: 12s
    crash_everywhere: process
    expect: { files: { /out/events.jsonl: { exactly: [a, b, half a line, c] } } }`;
    expect((await results(crash, ', exactly_once: true'))[0]?.findings).toEqual([]);
    const [found] = (await results(crash))[0]?.findings ?? [];
    expect(found?.message).toMatch(
      /, with a crash after call \d+ of \d+ that changed the disk \(\w+ \/\S+\)$/,
    );
  });

  it('draws what happens to files', async () => {
    const [result] = await results(`${ROTATION}
    expect: { archive: { count: 4 } }`);
    const text = result?.run === undefined ? '' : drawText(result.run.trace, { width: 80 });
    expect(text).toContain('files: virtual\n  ①────┄┄┄┄─①──┄┄┄┄─①──┄┄┄┄─②──┄┄┄┄─①──┄┄┄┄──\n');
    expect(text).toContain('①   append /var/log/app.log\n②   rename /var/log/app.log → /var/log/app.log.1\n');
  });

  it('draws joined events with one letter over all stages, and what they were joined from', async () => {
    const lines = (count: number, key: string) =>
      JSON.stringify([`start ${key}`, ...Array.from({ length: count }, (_, n) => `  part ${n}`)]);
    const [result] = await run(
      await load({
        'c.yaml': `collectors:
  log: { plugin: file, paths: [/var/log/app.log] }
processors:
  join: { plugin: multiline, start: ^start }
  all: { plugin: filter, drop: data.line == "" }
  keys: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }
forwarders:
  archive: { plugin: disk, path: /out, filename: events.jsonl }
pipelines:
  ship: { collect: log, process: [join, all, keys], forward: archive }
host_config: {}
tests:
  t:
    files:
      - { at: 1s, append: { path: /var/log/app.log, lines: ${lines(1, 'k-1')} } }
      - { at: 5s, append: { path: /var/log/app.log, lines: ${lines(8, 'one')} } }
    until: 12s
    expect: { archive: { count: 2 } }
`,
      }),
    );
    const text =
      result?.run === undefined ? '' : drawText(result.run.trace, { width: 120 }).replace(/ +/g, ' ');
    // The lines have the letters from a to k: no stage gives another one.
    expect(text).not.toMatch(/^[l-zA-Z]′*\s+line:/m);
    expect(text).toContain('a′ joined from a and b; line: "start k-1" → "start k-1\\n part 0" (join)');
    expect(text).toContain('c′ joined from c, d, e, f, g, h and 3 more events; line:');
    expect(text).toContain('a″ line: "start k-1\\n part 0" → "start <:KEY:>\\n part 0" (keys)');
  });

  it('is refused if it contradicts itself', async () => {
    const refused = async (test: string) =>
      (await refusal({ 'c.yaml': `${CONFIG()}tests:\n  t: { ${test} }\n` })).join('\n');
    const archive = 'expect: { archive: { count: 0 } }';
    expect(await refused(archive)).toMatch(/collect/);
    expect(await refused(`files: [{ at: 1s }], ${archive}`)).toContain(
      'each step has exactly one of append,',
    );
    expect(await refused(`files: [{ append: { path: /a } }], ${archive}`)).toContain(
      'exactly one of `lines`',
    );
    expect(await refused(`collect: {}, crash_everywhere: power, ${archive}`)).toContain('it needs `files`');
    const steps = 'files: [{ at: 1s, append: { path: /var/log/app.log, lines: [a] } }]';
    expect(await refused(`collect: {}, expect: { files: { out.jsonl: [a] } }`)).toContain(
      'this test has no virtual files: add `files` with its steps, or assert what forwarders get',
    );
    expect(await refused(`${steps}, expect: { files: { /out/a: { times: [1s] } } }`)).toContain(
      'the lines of a file have no times: assert `times` of the forwarder that writes it, or `in_order` here',
    );
    expect(await refused(`${steps}, expect: { files: { /out/a: { marbles: a } } }`)).toContain(
      'have no times',
    );
    expect(await refused(`${steps}, expect: { files: { /out/a: { snapshot: true } } }`)).toContain(
      'a file has no snapshot: list its lines',
    );
    expect(await refused(`${steps}, collect: { log: { from: archive } }, ${archive}`)).toContain(
      'let this collector follow a file that the other pipeline writes',
    );
  });

  it('can be about an entry that is called files', async () => {
    const config = CONFIG().replaceAll('archive', 'files');
    const tests = 'tests:\n  t: { collect: { log: [a] }, expect: { files: { count: 1 } } }\n';
    expect((await run(await load({ 'c.yaml': config + tests })))[0]?.findings).toEqual([]);
  });

  it('can have generated events, of which the smallest that fail are shown', async () => {
    const test = (expected: string) => `
    any: { runs: 20, collect: { log: { events: 1..8, rate: 10/s, values: [a, b] } } }
    files: [{ at: 300ms, free_space: 0 }, { at: 5s, free_space: unlimited }]
    expect: { files: { /out/events.jsonl: ${expected} } }`;
    const [good] = await results(test('{ count: { at_least: 1 } }'));
    expect({ findings: good?.findings, runs: good?.generated?.runs }).toEqual({ findings: [], runs: 20 });
    const [bad] = await results(test('{ count: { at_most: 2 } }'));
    expect(bad?.isPassed).toBe(false);
    expect(bad?.generated?.smallest?.yaml).toContain('log: [a, a, a]');
    expect(bad?.generated?.smallest?.yaml).toContain('files: [{ at: ');
  });

  it('crashes each generated run after calls that the seed picks, and shows a test that crashes after all', async () => {
    const test = `
    any: { runs: 10, collect: { log: { events: 3, rate: 2/s, values: [a, b] } } }
    files: []
    until: 10s
    crash_everywhere: process
    expect: { files: { /out/events.jsonl: { count: 3 } } }`;
    const [good] = await results(test, ', exactly_once: true');
    expect({ findings: good?.findings, runs: good?.generated?.runs }).toEqual({ findings: [], runs: 10 });
    const [bad] = await results(test);
    expect(bad?.findings[0]?.message).toMatch(/^expected 3 events, \d came, with a crash after call \d+ of/);
    expect(bad?.generated?.smallest?.yaml).toContain('crash_everywhere: process');
  });
});

describe('several pipelines on one virtual disk', () => {
  const FLEET = (options: string) => `collectors:
  log: { plugin: file, paths: [/var/log/app.log], backfill: true }
  spool: { plugin: file, paths: [/spool/events.jsonl], backfill: true }
processors:
  fields: { plugin: parse, format: json }
forwarders:
  spool_out: { plugin: disk, path: /spool, filename: events.jsonl }
  archive: { plugin: disk, path: /out, filename: events.jsonl }
pipelines:
  agent: { collect: log, forward: spool_out${options} }
  worker: { collect: spool, process: fields, forward: archive${options} }
host_config: {}
tests:
  t:
    pipeline: [agent, worker]
`;
  const only = async (test: string, options = '') =>
    (await run(await load({ 'c.yaml': FLEET(options) + test })))[0];

  it('one follows what the other writes', async () => {
    const result = await only(`
    files:
      - { at: 0s, append: { path: /var/log/app.log, lines: [a, b] } }
      - { at: 1s, rename: { from: /var/log/app.log, to: /var/log/app.log.1 } }
      - { at: 2s, append: { path: /var/log/app.log, lines: [c] } }
    expect:
      spool_out: { count: 3 }
      spool: { count: 3 }
      archive: { any: { data: { data: { line: c } } } }
      laws: [nothing_lost, order]
      state: stopped
      files:
        /spool/events.jsonl: [a, b, c]
        /out/events.jsonl: { count: 3, any: { data: { data: { line: c } } } }`);
    expect(result?.findings).toEqual([]);
    expect(result?.runs.map(({ trace }) => trace.pipeline)).toEqual(['agent', 'worker']);
    const text = result?.run === undefined ? '' : drawText(result.run.trace, { width: 80 });
    expect(text).toContain('files: virtual');
  });

  it('are killed and started together, and go on from their own checkpoints', async () => {
    const crash = `
    files: [{ at: 0s, append: { path: /var/log/app.log, lines: [a, b] } }]
    until: 3s
    crash_everywhere: process
    expect: { files: { /spool/events.jsonl: { count: 2 }, /out/events.jsonl: { count: 2 } } }`;
    expect((await only(crash, ', exactly_once: true'))?.findings).toEqual([]);
    const [found] = (await only(crash))?.findings ?? [];
    expect(found?.message).toMatch(/, with a crash after call \d+ of \d+ that changed the disk/);
  });
});
