import { describe, expect, it } from '@jest/globals';
import { CONFIG, refusal, runOne } from './helpers.ts';

const messages = async (body: string) => (await runOne(body)).findings.map(({ message }) => message);

describe('events with times', () => {
  it('come at their times, and the collector completes when it is to', async () => {
    const events = "[{ at: 0s, value: 'key k-1' }, { at: 1.5s, value: { n: 2 } }, { at: 1.5s, value: 3 }]";
    const expected = "{ times: [0s, 1.5s, 1.5s], exactly: ['key <:KEY:>', { n: 2 }, { value: 3 }] }";
    const body = `collect: { log: { events: ${events}, completes_at: 4s } }`;
    expect(await messages(`${body}, expect: { archive: ${expected}, ended_at: 4s }`)).toEqual([]);
  });

  it('never end without `completes_at` and `fails_at`', async () => {
    const body = 'collect: { log: { events: [{ at: 1s, value: x }] } }, until: 1h';
    expect(await messages(`${body}, expect: { archive: [x], ended_at: 1h, state: stopped }`)).toEqual([]);
  });

  it('are listed for each run of a pipeline that restarts', async () => {
    const runs =
      '[{ events: [{ at: 0s, value: a }], fails_at: 2s }, { events: [{ at: 1s, value: b }], completes_at: 1s }]';
    const states = '[running, backing_off, running, completed]';
    const result = await runOne(
      `collect: { log: { runs: ${runs} } }, expect: { archive: [a, b], states: ${states} }`,
    );
    expect(result.findings).toEqual([]);
  });
});

describe('the calls of a forwarder', () => {
  it('take and fail as listed, and later ones as `takes` says', async () => {
    const calls = '[20ms, { takes: 5ms, fails: true, retry_after: 800ms }, { takes: 10ms }]';
    const events = '[{ at: 0s, value: a }, { at: 1s, value: b }, { at: 10s, value: c }]';
    const times = '[20ms, 1815ms, 13s]';
    const body = `collect: { log: { events: ${events}, completes_at: 10s } }, forward: { archive: { takes: 3s, calls: ${calls} } }`;
    expect(await messages(`${body}, expect: { archive: { times: ${times} }, retries: 1 }`)).toEqual([]);
  });

  it('are tried again after the backoff that is listed', async () => {
    const calls = '[{ fails: true, backoff: 800ms }, 10ms]';
    const body = `collect: { log: [a] }, forward: { archive: { calls: ${calls} } }`;
    expect(await messages(`${body}, expect: { archive: { times: [810ms] }, retries: 1 }`)).toEqual([]);
  });

  it('that fail permanently are not tried again', async () => {
    const calls = '[{ fails: true, permanent: true, count: 2 }]';
    const events = '[{ at: 0s, value: a }, { at: 1s, value: b }, { at: 2s, value: c }]';
    const body = `collect: { log: { events: ${events}, completes_at: 2s } }, forward: { archive: { calls: ${calls} } }`;
    expect(await messages(`${body}, expect: { archive: [c], dead_letters: 2, retries: 0 }`)).toEqual([]);
  });

  it('that fail fatally and permanently end the pipeline', async () => {
    const calls = '[{ takes: 1s, fails: true, fatal: true, permanent: true }]';
    const body = `collect: { log: [a] }, forward: { archive: { calls: ${calls} } }`;
    expect(await messages(`${body}, expect: { archive: [], state: failed, ended_at: 1s }`)).toEqual([]);
  });

  it('can reject single events', async () => {
    const forward = '{ live: { calls: [{ rejects: [2], permanent: true }] } }';
    const body = `collect: { log: [a, b, c] }, forward: ${forward}`;
    expect(await messages(`${body}, expect: { live: [a, c], archive: [a, b, c], dead_letters: 1 }`)).toEqual(
      [],
    );
  });
});

describe('what is wrong is refused', () => {
  const COLLECT = 'collect: { log: [a] }';
  it.each([
    [
      'collect: { log: { events: [{ at: 2s, value: a }, { at: 1s, value: b }] } }',
      'collect.log.events[1].at: 1s is before 2s; list events in the order of their times',
    ],
    [
      'collect: { log: { events: [{ at: 2s, value: a }], completes_at: 1s } }',
      'collect.log.completes_at: 1s is before the last event, at 2s',
    ],
    [
      'collect: { log: { runs: [{ events: [], completes_at: 1s, fails_at: 1s }] } }',
      'collect.log.runs[0].fails_at: a collector either completes or fails; leave out `completes_at` or `fails_at`',
    ],
    [
      `${COLLECT}, forward: { archive: { fails: 1, calls: [1s] } }`,
      'forward.archive.fails: `calls` says which calls fail; leave out `fails`',
    ],
    [
      `${COLLECT}, forward: { archive: { calls: [1s, { fails: true, rejects: [1] }] } }`,
      'forward.archive.calls[1].rejects: `fails: true` fails all events of the call, and `rejects` some of them',
    ],
    [
      `${COLLECT}, forward: { archive: { calls: [5] } }`,
      'forward.archive.calls[0]: found 5; expected a duration with its unit',
    ],
  ])('%s', async (body, message) => {
    const [problem] = await refusal({
      'c.yaml': `${CONFIG}tests:\n  t: { ${body}, expect: { live: [] } }\n`,
    });
    expect(problem).toContain(`tests.t.${message}`);
  });
});
