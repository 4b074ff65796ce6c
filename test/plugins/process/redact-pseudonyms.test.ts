import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPseudonym, labelOf, SessionPseudonyms } from '../../../plugins/masks/pseudonyms.ts';
import * as plugin from '../../../plugins/process/redact.ts';
import type { PipelineConfig } from '../../../src/sdk/config.ts';
import { collectedEvent } from '../../../src/sdk/events.ts';
import { processContext } from './context.ts';

/* Pseudonyms of redact, and the rotation of keys. */

process.env.MILLRACE_TEST_NEW = 'the new key of the tests';
process.env.MILLRACE_TEST_OLD = 'the old key of the tests';
afterAll(() => {
  delete process.env.MILLRACE_TEST_NEW;
  delete process.env.MILLRACE_TEST_OLD;
});

const parse = (fields: Record<string, unknown> = {}) =>
  plugin.get_config_schema().parse({ plugin: 'redact', packs: ['default', 'pii/contact'], ...fields });
const problems = (fields: Record<string, unknown>) =>
  plugin.checkConfig({ config: parse(fields) }).map(({ path, message }) => ({ at: path.join('.'), message }));

/** Masks the data of events by one processor. */
function maskerOf(fields: Record<string, unknown>) {
  const { ctx } = processContext(parse(fields));
  return (data: Record<string, unknown>) =>
    plugin.process({ ctx, event: collectedEvent(data, '2026-01-01T00:00:00Z') })[0]?.data;
}
const numberIn = (text: unknown) => Number(/_(\d+):>/.exec(String(text))?.[1]);

describe('pseudonyms: session', () => {
  it('are the same for the same value, in each field and in each processor, and others for others', () => {
    const mask = maskerOf({ pseudonyms: 'session' });
    const first = mask({
      line: 'from ada@example.org to bob@example.org',
      user: { mail: 'ada@example.org' },
    });
    const [, ada, bob] = /^from (<:EMAIL_\d+:>) to (<:EMAIL_\d+:>)$/.exec(String(first?.line)) ?? [];
    expect(ada).not.toBe(bob);
    expect(first?.user).toEqual({ mail: ada });
    const others = maskerOf({ pseudonyms: 'session' });
    expect(others({ line: 'cc bob@example.org' })?.line).toBe(`cc ${bob}`);
  });

  it('are the same for a value in escapes, in JSON within a line, and in another case of key', () => {
    const mask = maskerOf({ pseudonyms: 'session' });
    const one = mask({ password: 'Tr0ub4"dor&3' })?.password;
    expect(one).toMatch(/^<:PASSWORD_\d+:>$/);
    expect(mask({ line: '{"password":"Tr0ub4\\"dor&3"}' })?.line).toMatch(
      /^\{"password":"<:PASSWORD_\d+:>"\}$/,
    );
    expect(mask({ login: { Password: 'Tr0ub4"dor&3' } })?.login).toEqual({ Password: one });
  });

  it('leaves what an action says, and is not masked again', () => {
    const mask = maskerOf({ pseudonyms: 'session', action: { '*:email': { keep_last: 4 } } });
    const masked = mask({ line: 'ada@example.org password=Tr0ub4dor&3' })?.line as string;
    expect(masked).toMatch(/^<:email:.{1,4}:> password=<:PASSWORD_\d+:>$/);
    expect(mask({ line: masked })?.line).toBe(masked);
    const pseudonym = masked.match(/<:PASSWORD_\d+:>/)?.[0];
    expect(mask({ password: pseudonym })).toEqual({ password: pseudonym });
  });

  it('counts on after the oldest values are forgotten, and never uses a number twice', () => {
    const pseudonyms = new SessionPseudonyms(2);
    const of = (value: string) => pseudonyms.of(value, 'pii/contact:email');
    expect([of('a'), of('b'), of('a'), of('c')].map(numberIn)).toEqual([1, 2, 1, 3]);
    // `b` was the oldest.
    expect(numberIn(of('a'))).toBe(1);
    expect(numberIn(of('b'))).toBe(4);
    expect(pseudonyms.of('a', 'pii/contact:phone')).toBe('<:PHONE_1:>');
  });

  it('takes only its own for pseudonyms: what looks like one is masked behind a key', () => {
    expect(isPseudonym('<:EMAIL_12:>', 'session')).toBe(true);
    expect(isPseudonym('<:API_KEY_0123456789ab:>', 12)).toBe(true);
    for (const text of [
      '<:EMAIL_0:>',
      '<:EMAIL:>',
      '<:email_1:>',
      '<:EMAIL_x9:>',
      'EMAIL_1',
      '<:EMAIL_1:> x',
    ])
      expect({ text, is: isPseudonym(text, 'session') }).toEqual({ text, is: false });
    expect(isPseudonym('<:API_KEY_0123456789abcd:>', 12)).toBe(false);
    const mask = maskerOf({ pseudonyms: 'session' });
    expect(mask({ password: '<:Hunter2_Q7x!:>' })?.password).toMatch(/^<:PASSWORD_\d+:>$|<<:PASSWORD_\d+:>/);
  });

  it('are labelled by what a value is, not by where it was', () => {
    expect(['pii/identity:us-ssn-named', 'pii/contact:email', 'my.rule', '1:€'].map(labelOf)).toEqual([
      'US_SSN',
      'EMAIL',
      'MY_RULE',
      'VALUE__',
    ]);
  });

  it('cannot run in workers, each of which would count for itself', () => {
    const config = parse({ pseudonyms: 'session', blocks: false });
    const place = { name: 'r', config, before: [], after: [], pipeline: { workers: 2 } as PipelineConfig };
    expect(plugin.checkPipeline(place)).toEqual([
      { message: expect.stringMatching(/`pseudonyms: session`, which counts values of all events together/) },
    ]);
    const keyed = { ...config, pseudonyms: { key_env: 'MILLRACE_TEST_NEW', length: 12 } };
    expect(plugin.checkPipeline({ ...place, config: keyed })).toEqual([]);
  });
});

describe('pseudonyms with a key', () => {
  const pseudonyms = { key_env: 'MILLRACE_TEST_NEW' };

  it('are the same in every processor, whatever it saw before', () => {
    const one = maskerOf({ pseudonyms });
    one({ line: 'someone@example.org' });
    const masked = one({ line: 'ada@example.org' })?.line;
    expect(masked).toMatch(/^<:EMAIL_[0-9a-f]{12}:>$/);
    expect(maskerOf({ pseudonyms })({ mail: 'ada@example.org' })?.mail).toBe(masked);
    expect(
      maskerOf({ pseudonyms: { key_env: 'MILLRACE_TEST_OLD' } })({ line: 'ada@example.org' })?.line,
    ).not.toBe(masked);
  });

  it('are not masked again, for any value', () => {
    const mask = maskerOf({ pseudonyms, confidence: 'low' });
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,9}[0-9]{2}$/), (name) => {
        const masked = mask({ line: `mail ${name}@example.org, password=${name}-Q7x` })?.line as string;
        expect(masked).not.toContain(name);
        const password = masked.slice(masked.indexOf('=') + 1);
        expect(mask({ line: masked, password })).toEqual({ line: masked, password });
      }),
      { numRuns: 50 },
    );
  });

  it('are refused without the key, and beside an action for all', () => {
    expect(problems({ pseudonyms: { key_env: 'MILLRACE_TEST_NO_KEY' } })).toEqual([
      { at: 'pseudonyms.key_env', message: expect.stringContaining('MILLRACE_TEST_NO_KEY is not set') },
    ]);
    expect(problems({ pseudonyms: 'session', action: { default: { mask_char: '*' } } })).toEqual([
      { at: 'pseudonyms', message: expect.stringContaining('takes the place of `action.default`') },
    ]);
    expect(problems({ pseudonyms: 'session' })).toEqual([]);
  });
});

describe('hmac with several keys', () => {
  const hmac = { keys: [{ key_env: 'MILLRACE_TEST_NEW' }, { key_env: 'MILLRACE_TEST_OLD' }] };

  it('masks with the first one, as with that alone', () => {
    const masked = maskerOf({ action: { default: { hmac } } })({ line: 'ada@example.org' })?.line;
    const alone = { default: { hmac: { key_env: 'MILLRACE_TEST_NEW' } } };
    expect(maskerOf({ action: alone })({ line: 'ada@example.org' })?.line).toBe(masked);
    expect(masked).toMatch(/^<:email:[0-9a-f]{12}:>$/);
  });

  it('needs the first one only, and says which names do nothing', () => {
    const withKeys = (...names: string[]) =>
      problems({ action: { default: { hmac: { keys: names.map((key_env) => ({ key_env })) } } } });
    expect(withKeys('MILLRACE_TEST_NEW', 'MILLRACE_TEST_NO_KEY')).toEqual([]);
    expect(withKeys('MILLRACE_TEST_NO_KEY', 'MILLRACE_TEST_NEW')).toEqual([
      { at: 'action.default.hmac.keys.0.key_env', message: expect.stringContaining('is not set') },
    ]);
    expect(withKeys('MILLRACE_TEST_NEW', 'MILLRACE_TEST_NEW')).toEqual([
      {
        at: 'action.default.hmac.keys.1.key_env',
        message: expect.stringContaining('is the first key already'),
      },
    ]);
  });
});
