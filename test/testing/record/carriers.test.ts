import { describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import type { PlannedCall } from '../../../src/testing/stand-in-forwarder.ts';
import { findings, lines, recorded, source } from '../recorded.ts';

/** One that `redact` knows, wherever it is. */
const TOKEN = 'ghp_x9KqL2mN8pR4tV6wY0zB3cD5fG7hJ1kQ2sW4';
/** One that only a mask behind `parse` knows, by the whole value of a field. */
const PIN = 'code-4711';
/** One that only its field tells. */
const PASSWORD = 'Zx81mmQpLw';

const PARSED = {
  fields: { plugin: 'parse', format: 'json' },
  m: { plugin: 'redact', rules: { pin: { match: '^code-[0-9]+$' } } },
};
const line = (secret: string) => JSON.stringify({ user: 'ada', password: PASSWORD, a: secret });

/** What stands in a recording and may have content of events. */
const CARRIERS: Record<
  string,
  { processors?: object; values: unknown[]; failure?: string; calls?: PlannedCall[] }
> = {
  'the line of an event': { values: [`with ${TOKEN}`, line(TOKEN)] },
  'a field of an event': { values: [{ deep: [{ a: TOKEN }], password: PASSWORD }] },
  'a field of a line': { processors: PARSED, values: [line(PIN), line(TOKEN)] },
  'a tag': { values: [{ data: { a: 1 }, tag: `host/${TOKEN}/x` }] },
  'a timestamp': { values: [{ data: { a: 1 }, timestamp: `2026-01-01 ${TOKEN}` }] },
  'another part of an event': { values: [{ data: { a: 1 }, timestamp: '', extra: TOKEN, backfill: TOKEN }] },
  'an event that a filter drops': {
    processors: { fields: PARSED.fields, none: { plugin: 'filter', drop: 'true' }, m: PARSED.m },
    values: [line(PIN)],
  },
  'an event that a processor fails on': {
    processors: { ...PARSED, no: { plugin: 'map', set: { n: 'data.none + 1' } } },
    values: [line(PIN), line(TOKEN)],
  },
  'an event that is tried again': {
    processors: PARSED,
    values: [line(PIN)],
    calls: [
      { takes: 1, fails: true },
      { takes: 1, fails: true },
    ],
  },
  'a dead letter': {
    processors: PARSED,
    values: [line(PIN), line(TOKEN)],
    calls: [{ takes: 1, fails: true, permanent: true }],
  },
  'the error of a call': { values: ['fine'], failure: `rejected ${TOKEN}` },
  'an error that quotes a line': {
    processors: PARSED,
    values: [line(PIN)],
    failure: `cannot write ${line(PIN)}`,
  },
  'an error that quotes a field': { processors: PARSED, values: [line(PIN)], failure: `no such row: ${PIN}` },
  'an error that quotes a password': {
    processors: PARSED,
    values: [line('b')],
    failure: `login ada/${PASSWORD} refused; password ${PASSWORD}`,
  },
  'an error that quotes a field in another encoding': {
    values: [{ password: 'Zx"81 mm' }],
    failure: `${JSON.stringify({ p: 'Zx"81 mm' })} at /?a=${encodeURIComponent('Zx"81 mm')}`,
  },
  'an error that quotes an event that is not shown': {
    // A value so short that it cannot be found in the event.
    processors: { fields: PARSED.fields, m: { plugin: 'regex_mask', rules: { USER: '^bob$' } } },
    values: ['{"user":"bob","b":"Zx81 mmQ"}'],
    failure: 'the value of bob is Zx81 mmQ',
  },
};
const SECRETS = [TOKEN, PIN, PASSWORD, 'Zx"81', 'Zx\\"81', 'Zx%2281', 'Zx81 mmQ', 'mmQ', 'bob'];

describe('a secret is not shown in', () => {
  it.each(Object.entries(CARRIERS))('%s', async (_, { processors = {}, values, failure, calls = [] }) => {
    const config = source({}, processors);
    const cause = failure === undefined ? undefined : new PluginError(failure, { permanent: true });
    const { text, problem } = await recorded(await parseConfig(config), {
      rows: lines(...values),
      calls,
      cause,
    });
    expect(problem).toBeUndefined();
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    if (failure !== undefined) expect(text).toContain('archive failed');
    expect(await findings(config, text)).toEqual([]);
  });
});
