import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { load as parseYaml } from 'js-yaml';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { ProcessPlugin } from '../../src/sdk/plugin.ts';
import type { CollectorRow } from '../../src/testing/stand-in-collector.ts';
import type { PlannedCall } from '../../src/testing/stand-in-forwarder.ts';
import { replacePlugins } from '../../src/testing/stand-ins.ts';
import { flowText, timeOf } from '../../src/testing/yaml/yaml-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { findings, lines, recorded, source } from './recorded.ts';

/** The line of a value that is one. */
const lineOf = (value: unknown) => (value as { readonly line?: unknown }).line ?? value;

describe('a recording', () => {
  it('fails once the configuration does something else', async () => {
    const rules = { secrets: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } } };
    const config = source({}, rules);
    const { text } = await recorded(await parseConfig(config), {
      rows: lines('GET /', 'key k-1'),
      calls: [{ takes: 20 }, { takes: 5, fails: true }],
    });
    expect(await findings(config, text)).toEqual([]);
    const filtered = source({}, { ...rules, few: { plugin: 'filter', drop: 'data.line == "GET /"' } });
    expect(await findings(filtered, text)).not.toEqual([]);
    expect(
      await findings(source({ delivery: { attempts: 1, dead_letter: 'letters' } }, rules), text),
    ).not.toEqual([]);
  });

  it('has no event twice that a collector emitted again after a restart', async () => {
    const first: CollectorRow = {
      entries: [0, 1, 2].map((n) => ({ at: n, value: `line ${n}` })),
      end: { at: 50, kind: 'failed' },
    };
    const { test, differences, delivered, text } = await recorded(
      await parseConfig(source({ max_in_flight: 2, restart: true, delivery: {} })),
      { rows: [first, lines('last')], calls: [{ takes: 10 }, { takes: 5000 }], until: 60_000 },
    );
    expect(differences).toEqual([]);
    expect(text.match(/line 2/g)?.length).toBeGreaterThan(0);
    expect(delivered.length).toBe((test.expect.archive as unknown[]).length);
  });

  it('has what forwarders fed by a buffer on disk did, and nothing of the disk', async () => {
    const { test, differences } = await recorded(
      await parseConfig(source({ buffer: { type: 'disk', path: 'never/made' }, delivery: {} })),
      { rows: lines('one', 'two'), calls: [{ takes: 20, fails: true }, { takes: 5 }], once: true },
    );
    expect(differences).toEqual([]);
    expect((test as { forward?: unknown }).forward).toEqual({
      archive: { calls: [expect.objectContaining({ fails: true }), expect.anything()] },
    });
  });

  it('has no event twice that a broker delivered again', async () => {
    const config = {
      ...source({ collect: 'log', delivery: { attempts: 1 } }),
      collectors: {
        log: { plugin: 'nats', servers: 'localhost', stream: 'LOGS', durable: 'w', max_deliver: 3 },
      },
    };
    const calls: PlannedCall[] = [{}, { fails: true, count: 2 }, {}, { fails: true, count: 2 }];
    const { stats, text, test, differences } = await recorded(await parseConfig(config), {
      rows: lines('one', 'two', 'three'),
      calls,
      once: true,
    });
    expect(stats).toMatchObject({ collected: 6, dropped: { forwarder_failed: 4 } });
    expect(differences).toEqual([]);
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual(['one', 'two', 'three']);
    expect(await findings(await parseConfig(config), text)).toEqual([]);
  });

  it('of a pipeline that delivers exactly once has no event twice that it had not committed', async () => {
    const config = {
      ...source({ exactly_once: true, restart: true, delivery: { dead_letter: 'letters' } }),
      forwarders: {
        archive: { plugin: 'disk', path: '/nowhere', filename: 'web.jsonl' },
        letters: { plugin: 'noop' },
      },
    };
    const values = ['a', 'b', 'c', 'd', 'e', 'e'];
    // The first is committed 250 ms after it was acknowledged; the next two are delivered, and cut off again.
    const at = [0, 400, 410, 420, 430, 440];
    const rows: CollectorRow = {
      entries: values.map((value, index) => ({ at: at[index] as number, value })),
      end: { at: 450, kind: 'completed' },
    };
    const calls: PlannedCall[] = [{}, {}, {}, { fails: true, fatal: true }];
    const { recording, stats, text, test, problem } = await recorded(await parseConfig(config), {
      once: true,
      rows,
      calls,
    });
    expect(problem).toBeUndefined();
    // Two were delivered by the first run as well.
    expect(stats.forwarded.archive).toBe(8);
    const events = recording.collectors.get('log')?.flatMap((run) => run.events) ?? [];
    expect(events.map(({ event }) => event.data.line)).toEqual(values);
    expect(text).toMatch(/delivered by archive +8 +8$/m);
    expect((test.expect.archive as unknown[]).map(lineOf)).toEqual(values);
    expect(await findings(config, text)).toEqual([]);
  });

  it('waits at the stop for events in flight as long as the run did', async () => {
    const config = await parseConfig(source());
    const slow = { rows: lines('a'), calls: [{ takes: 40_000 }], until: 1000 };
    const patient = await recorded(config, { ...slow, drainTimeout: 60 });
    expect(patient.delivered).toHaveLength(1);
    expect(patient.differences).toEqual([]);
    expect(patient.text).toMatch(/^ {4}drain_timeout: 1m$/m);
    expect(await findings(source(), patient.text)).toEqual([]);
    const hasty = await recorded(config, { ...slow, drainTimeout: 0.5 });
    expect(hasty.stats.given_up).toBe(1);
    expect(hasty.differences).toEqual([]);
    expect(await findings(source(), hasty.text)).toEqual([]);
    expect((await recorded(config, slow)).text).not.toContain('drain_timeout');
  });

  it('replays an answer that refuses some events for good, and others for now', async () => {
    const config = source({ max_in_flight: 100 });
    const { differences, stats, text } = await recorded(await parseConfig(config), {
      rows: {
        entries: [1, 2, 3].map((n) => ({ at: 0, value: `line ${n}` })),
        end: { at: 5, kind: 'completed' },
      },
      calls: [{ takes: 1, rejects: [2, 3], permanent: [2] }],
    });
    expect(stats).toMatchObject({ dead_lettered: 1, retries: 1, forwarded: { archive: 2 } });
    expect(differences).toEqual([]);
    expect(text).toContain('rejects: [2, 3], permanent: [2], backoff: ');
    expect(await findings(config, text)).toEqual([]);
  });

  it('waits before it tries an event again, and makes other calls meanwhile', async () => {
    const config = {
      ...source({ ordered: false }),
      forwarders: {
        archive: {
          plugin: 'http',
          url: 'http://127.0.0.1:9/',
          format: 'ndjson',
          batch: { events: 1 },
          concurrency: 2,
        },
        letters: { plugin: 'noop' },
      },
    };
    const { delivered, text, differences } = await recorded(await parseConfig(config), {
      rows: lines('first', 'second', 'third'),
      calls: [{ takes: 1, fails: true }],
    });
    expect(delivered.map(({ data }) => data.line)).toEqual(['second', 'third', 'first']);
    expect(differences).toEqual([]);
    expect(text).toContain('backoff: 250ms');
    const inOrder = text.replace('        exactly:', '        in_order:');
    expect(inOrder).toMatch(/in_order:\n.* line: second,.*\n.* line: third,.*\n.* line: first,/);
    expect(await findings(config, inOrder)).toEqual([]);
  });

  it('of a sink that is down when it ends lets no call succeed that was still to be made', async () => {
    const config = source({ max_in_flight: 1, delivery: {} });
    const { differences, stats, text } = await recorded(await parseConfig(config), {
      rows: lines('first', 'second'),
      calls: [{ takes: 1, fails: true, count: 50 }],
      until: 1000,
      drainTimeout: 1,
    });
    expect(stats).toMatchObject({ given_up: 1, forwarded: {} });
    expect(differences).toEqual([]);
    expect(text).toMatch(/, 1d,?\]?\n/);
    expect(await findings(config, text)).toEqual([]);
  });

  it('of a running pipeline has no call of what was collected before', async () => {
    const config = source({ max_in_flight: 100 });
    const at = (...times: number[]) => times.map((at) => ({ at, value: `at ${at}` }));
    const { text, test, differences, problem } = await recorded(await parseConfig(config), {
      rows: { entries: at(0, 10, 20, 150, 160), end: { at: 5000, kind: 'completed' } },
      // What was collected at 0; at 10 and 20, twice; at 150 and 160.
      calls: [{ takes: 120 }, { takes: 50, fails: true, backoff: 300 }, { takes: 70 }, { takes: 3 }],
      from: 100,
    });
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual(['at 150', 'at 160']);
    expect(text).not.toContain('fails');
    expect(text).toContain('calls: [3ms]');
    expect(problem).toBeUndefined();
    expect(differences.filter((difference) => !/collected|delivered|retries/.test(difference))).toEqual([]);
    expect(await findings(config, text)).toEqual([]);
  });

  it('of a running pipeline counts only recorded events of a call that has others too', async () => {
    const config = source({ max_in_flight: 100 });
    const at = (...times: number[]) => times.map((at) => ({ at, value: `at ${at}` }));
    const { text, test } = await recorded(await parseConfig(config), {
      rows: { entries: at(0, 10, 150, 160), end: { at: 5000, kind: 'completed' } },
      // The second call has one event from before, and two recorded ones.
      calls: [{ takes: 200 }, { takes: 50, rejects: [1, 3], permanent: [3] }],
      from: 100,
    });
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual(['at 150', 'at 160']);
    expect(text).toContain('{ takes: 50ms, rejects: [2], permanent: true }');
    expect(await findings(config, text)).toEqual([]);
  });

  it('says what was cut at a limit', async () => {
    const { text, test } = await recorded(await parseConfig(source()), {
      rows: lines('a', 'b', 'c', 'd'),
      mostEvents: 2,
    });
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual(['a', 'b']);
    expect(text).toContain('# 2 events more exceeded the limit and were left out.');
  });
});

describe('secrets', () => {
  const SECRETS = ['hunter2hunter', 'k-123456', 'ghp_x9KqL2mN8pR4tV6wY0zB3cD5fG7hJ1kQ2sW4', 'top"secret99'];

  it.each([
    [
      'a mask of the pipeline',
      { m: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+', HUNTER: 'hunter\\w+', T: 'top.*99' } } },
    ],
    [
      'a mask behind a processor that knows fields',
      {
        fields: { plugin: 'parse', format: 'json' },
        m: {
          plugin: 'redact',
          rules: { pin: { match: '^(?:hunter2hunter|k-123456|top.secret99)$' } },
        },
      },
    ],
  ])('are nowhere in it: %s', async (_, processors) => {
    const values = SECRETS.flatMap((secret) => [
      `value ${JSON.stringify({ deep: secret })}`,
      JSON.stringify({ user: 'ada', value: secret, note: 'kept' }),
      { value: secret, list: [{ value: secret }] },
    ]);
    const config = source({}, processors);
    const { text } = await recorded(await parseConfig(config), { rows: lines(...values) });
    // The line that is no JSON is not known to the mask of a field: rules that match anywhere mask it.
    const known = Object.keys(processors).length === 1 ? SECRETS : SECRETS.slice(2, 3);
    for (const secret of known) expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(text).toContain('kept');
    expect(await findings(config, text)).toEqual([]);
  });

  it('that only a mask behind `parse` knows are replaced in the line that had them', async () => {
    const config = source(
      {},
      {
        fields: { plugin: 'parse', format: 'json' },
        m: { plugin: 'regex_mask', rules: { PIN: '^code-[0-9]+$' } },
      },
    );
    const { test, text } = await recorded(await parseConfig(config), {
      rows: lines('{"user":"ada","pin":"code-4711"}', '{"user":"code-12 is no pin"}'),
    });
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual([
      '{"user":"ada","pin":"<:PIN:>"}',
      '{"user":"code-12 is no pin"}',
    ]);
    expect(await findings(config, text)).toEqual([]);
  });

  it.each([
    ['filter', { quiet: { plugin: 'filter', drop: 'data.level == "debug"' } }, {}],
    ['processor that fails', { quiet: { plugin: 'map', set: { n: 'data.none + 1' } } }, {}],
    ['buffer that is full', {}, { max_in_flight: 1, buffer: { max_events: 1 } }],
  ])('of events that do not reach the mask are not shown: %s', async (_, before, settings) => {
    const config = {
      ...source(settings, {
        fields: { plugin: 'parse', format: 'json' },
        ...before,
        m: { plugin: 'regex_mask', rules: { SSN: '^[0-9]{3}-[0-9]{2}-[0-9]{4}$' } },
      }),
      collectors: { log: { plugin: 'beacons', beacons: ['*'] } },
    };
    const line = (n: number) => ({ line: `{"level":"debug","n":${n},"patient":"078-05-1120"}` });
    const { text, delivered, differences } = await recorded(await parseConfig(config), {
      rows: { entries: [1, 2, 3].map((n) => ({ at: 0, value: line(n) })), end: { at: 5, kind: 'completed' } },
      calls: [{ takes: 50 }],
    });
    expect(delivered.length).toBeLessThan(3);
    expect(text).not.toContain('078-05-1120');
    if (_ === 'filter')
      expect({ text, differences }).toMatchObject({
        text: expect.stringContaining('"patient":"<:SSN:>"'),
        differences: [],
      });
  });

  it.each([
    [
      'a column',
      { fields: { plugin: 'parse', format: 'csv', columns: ['user', 'password'] } },
      'ada,Zx81mmQpLw',
      'ada,<:password:>',
    ],
    [
      'a field that `map` makes',
      {
        fields: { plugin: 'parse', format: 'json' },
        m: { plugin: 'map', set: { password: 'data.p', url: '"https://u:" + data.p + "@h/"' } },
      },
      '{"p":"Zx81mmQpLw"}',
      '{"p":"<:password:>"}',
    ],
    [
      'a field whose value is not in the event',
      { m: { plugin: 'map', set: { password: 'data.line.lowerAscii()' } } },
      'ZX81mmQpLw',
      undefined,
    ],
    [
      'a column of an event that is dropped',
      {
        fields: { plugin: 'parse', format: 'csv', columns: ['user', 'password'] },
        none: { plugin: 'filter', drop: 'true' },
      },
      'ada,Zx81mmQpLw',
      'ada,<:password:>',
    ],
  ])('that only `redact` knows are not expected: %s', async (_, processors, line, shown) => {
    const config = source({}, processors);
    const { text, test } = await recorded(await parseConfig(config), { rows: lines(line) });
    expect(text.toLowerCase()).not.toContain('zx81');
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual([
      shown ?? { recorded: 'not shown', bytes: 49 },
    ]);
    expect(await findings(config, text)).toEqual([]);
  });

  const TOKEN = 'ghp_x9KqL2mN8pR4tV6wY0zB3cD5fG7hJ1kQ2sW4';
  const PIN = 'code-4711';
  const pinBehind = (...before: object[]) => ({
    ...Object.fromEntries(before.map((entry, index) => [`before${index}`, entry])),
    m: { plugin: 'redact', rules: { pin: { match: '^code-[0-9]+$' } } },
  });
  const json = { plugin: 'parse', format: 'json' };
  const keyBody = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'.slice(0, 64);

  it.each<[string, object, unknown[], string[], object?]>([
    ['a key', {}, [{ [TOKEN]: 1 }, { deep: [{ [TOKEN]: { a: 1 } }] }], [TOKEN]],
    ['a key that a processor makes', pinBehind(json), [`{"${PIN}": 1, "b": "${TOKEN}"}`], [PIN, TOKEN]],
    [
      'a tag',
      {},
      [
        { data: { a: 1 }, tag: `host/${TOKEN}/x` },
        { data: { a: 1 }, tag: 'password=Zx81kk29dkeo0' },
      ],
      [TOKEN, 'Zx81kk29'],
    ],
    ['a file', {}, [{ line: 'GET /', source: `/var/log/${TOKEN}.log` }], [TOKEN]],
    ['a subject', {}, [{ subject: `orders.${TOKEN}`, n: 1 }], [TOKEN]],
    [
      'escapes of JSON',
      pinBehind(json),
      ['{"a":"code\\u002d4711"}', '{"a":"code-4711","b":"\\u0063ode-4711"}'],
      [PIN, 'code\\u002d', 'ode-4711'],
    ],
    [
      'base64',
      {},
      [
        `x=${Buffer.from(`password=${TOKEN}`).toString('base64')} y`,
        { a: Buffer.from(TOKEN).toString('base64') },
      ],
      [Buffer.from(`password=${TOKEN}`).toString('base64'), Buffer.from(TOKEN).toString('base64')],
    ],
    [
      'base64 in a field',
      pinBehind(json),
      [`{"a":"${Buffer.from(`pin ${PIN}\n${TOKEN}`).toString('base64')}"}`],
      [Buffer.from(`pin ${PIN}\n${TOKEN}`).toString('base64')],
    ],
    ['percent encoding', {}, ['GET /?next=%2Flogin%3Fpassword%3DZx81kk29dkeo0%26a=1'], ['Zx81kk29']],
    [
      'lines that are joined',
      pinBehind(
        { plugin: 'multiline', start: '^[^ ]' },
        { plugin: 'map', set: { pin: 'data.line.split("\\n")[1].trim()' } },
      ),
      ['pin', ` ${PIN}`, 'next', ' word'],
      [PIN],
    ],
    [
      'a half of lines that are joined',
      pinBehind(
        { plugin: 'multiline', start: '^[^ ]' },
        { plugin: 'map', set: { pin: 'data.line.split("\\n")[0] + data.line.split("\\n")[1].trim()' } },
      ),
      ['code-', ' 4711', 'next', ' word'],
      ['4711'],
    ],
    [
      'a number',
      {
        m: { plugin: 'redact', packs: ['pii/payment'] },
        fields: json,
        n: { plugin: 'redact', packs: ['pii/payment'] },
      },
      ['{"card":4111111111111111}', { card: 4111111111111111 }],
      ['4111111111111111'],
    ],
    [
      'children',
      {
        fields: { plugin: 'parse', format: 'csv', columns: ['user', 'password'] },
        kids: { plugin: 'test', child_events_count: 2 },
      },
      ['ada,Zx81mmQpLw'],
      ['Zx81mm'],
    ],
    [
      'dead letters',
      { fields: { plugin: 'parse', format: 'csv', columns: ['user', 'password'] } },
      ['ada,Zx81mmQpLw'],
      ['Zx81mm'],
      { calls: [{ takes: 1, fails: true, permanent: true }] },
    ],
    [
      'lines of a key in JSON',
      {},
      [
        `{"log":"${keyBody}\\n","stream":"stdout"}`,
        `{"log":"${keyBody}\\n","stream":"stdout"}`,
        '{"log":"GET /","stream":"stdout"}',
      ],
      [keyBody],
    ],
    [
      'lines of a key in fields',
      {},
      [{ message: keyBody }, { message: keyBody }, { message: 'GET /' }],
      [keyBody],
    ],
    [
      'lines of a key behind a time',
      {},
      [`2026-01-01T00:00:00Z ${keyBody}`, `2026-01-01T00:00:00Z ${keyBody}`, 'GET /'],
      [keyBody],
    ],
    [
      'short values',
      {
        m: { plugin: 'regex_mask', rules: { NAME: '^(?:ada)$' } },
        fields: json,
        n: { plugin: 'regex_mask', rules: { USER: '^bob$' } },
      },
      ['ada', '{"user":"bob"}'],
      ['ada', 'bob'],
    ],
  ])('are not shown of %s', async (_, processors, values, secrets, incident = {}) => {
    const config = source({}, processors);
    const { text, problem } = await recorded(await parseConfig(config), {
      rows: lines(...values),
      ...incident,
    });
    expect(problem).toBeUndefined();
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(await findings(config, text)).toEqual([]);
  });

  it('are masked in an event that looks like one that is not shown', async () => {
    const config = source(
      {},
      {
        fields: { plugin: 'parse', format: 'json' },
        m: { plugin: 'regex_mask', rules: { SSN: '^[0-9]{3}-[0-9]{2}-[0-9]{4}$' } },
      },
    );
    const { text } = await recorded(await parseConfig(config), {
      rows: lines({ recorded: 'not shown', line: '{"patient":"078-05-1120"}' }),
    });
    expect(text).not.toContain('078-05-1120');
    expect(text).not.toContain('could not be shown');
  });

  it('are not shown where a mask fails, or its findings cannot be found in the event', async () => {
    const failing: ProcessPlugin = {
      get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true, data }) }),
      traits: { masks: true },
      process: ({ event }) => {
        if (JSON.stringify(event).includes('mine')) throw new Error('no');
        return [event];
      },
    } as ProcessPlugin;
    const parsed = await parseConfig(source({}, { m: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } } }));
    const config = { ...parsed, processors: replacePlugins(parsed.processors, () => failing) };
    const { text, test } = await recorded(config, { rows: lines('fine', 'it is mine') });
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual([
      'fine',
      { recorded: 'not shown', bytes: 49 },
    ]);
    expect(text).not.toContain('mine');
    expect(text).toContain('# 1 event could not be shown with its secrets masked');
  });

  it('are not shown if there is no time to look for them', async () => {
    let calls = 0;
    const slow = {
      get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true, data }) }),
      process: ({ event }) => {
        calls++;
        const start = process.hrtime.bigint();
        while (process.hrtime.bigint() - start < 3_000_000n);
        return [event];
      },
    } as ProcessPlugin;
    const parsed = await parseConfig(source({}, { slow: { plugin: 'parse', format: 'json' } }));
    const config = { ...parsed, processors: replacePlugins(parsed.processors, () => slow) };
    const values = Array.from({ length: 100 }, (_, n) => `line ${n}`);
    const inRun = values.length;
    const { test, text, problem } = await recorded(config, { rows: lines(...values), timeLimitMs: 60 });
    expect(calls).toBeLessThan(inRun + 50);
    expect(problem).toContain('takes too long; record fewer events');
    expect(text).toContain(`# It cannot be replayed: ${problem}`);
    expect(text).toContain('# 100 events could not be shown');
    expect(test.collect.log?.events.map(({ value }) => lineOf(value))).toEqual(
      values.map((line) => ({
        recorded: 'not shown',
        bytes: JSON.stringify({ line, source: '/nowhere/web.log' }).length,
      })),
    );
  });

  it('of a private key whose first line came before the recording are not shown', async () => {
    const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'.slice(0, 64);
    const { text } = await recorded(await parseConfig(source()), {
      rows: lines(body, `${body}`, 'GET /', body.slice(1)),
    });
    expect(text.split(body.slice(1)).length - 1).toBeLessThanOrEqual(2);
    expect(text).toContain("'GET /'");
    expect(text).not.toContain(`value: ${body}`);
  });
});

describe('values in YAML', () => {
  it('come back as they were', () => {
    const value = fc.jsonValue({ stringUnit: 'binary' });
    fc.assert(
      fc.property(value, (value) => {
        const read = parseYaml(`- ${flowText(value)}`) as unknown[];
        expect(JSON.stringify(read[0])).toBe(JSON.stringify(value).replaceAll('${', () => '$${'));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it.each([
    [0, '0s'],
    [12, '12ms'],
    [1204, '1.204s'],
    [60_000, '1m'],
    [0.25, '0.25ms'],
  ])('%s ms are %s', (ms, text) => {
    expect(timeOf(ms)).toBe(text);
  });
});
