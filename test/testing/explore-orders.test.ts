import { describe, expect, it } from '@jest/globals';
import { exploreOrders } from '../../src/testing/gaps/explore-orders.ts';
import { load, run } from './yaml/helpers.ts';

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

async function explored(body: string, within?: string, processors = '', longest?: number) {
  const config = `collectors:
  log: { plugin: file, paths: [/nowhere/a.log] }
  other: { plugin: file, paths: [/nowhere/b.log] }
${processors}
forwarders:
  archive: { plugin: noop }
pipelines:
  web: { collect: [log, other], process: [${processors === '' ? '' : 'traces'}], forward: archive }
host_config: {}
tests:
  t: { ${body} }
`;
  const suites = await load({ 'c.yaml': config });
  const results = await run(suites);
  expect(results.flatMap(({ findings }) => findings)).toEqual([]);
  return exploreOrders(
    suites.flatMap(({ tests }) => tests),
    results,
    SEEDS,
    within as '1ms' | undefined,
    longest,
  );
}

describe('exploreOrders', () => {
  const TIES = "collect: { log: { marbles: '1s (ab)|' }, other: { marbles: '1s (cd)|' } }";

  it('finds a test that depends on the order of two collectors, and its seed repeats the run', async () => {
    const body = `${TIES}, expect: { archive: [{ value: a }, { value: b }, { value: c }, { value: d }] }`;
    const [found] = await explored(body);
    expect(found?.failed.findings[0]?.message).toMatch(/^event [1-3], at 1s, is not like/);
    const [again] = await explored(body);
    expect(again?.seed).toBe(found?.seed);
    expect(again?.failed.run?.forwarded('archive')).toEqual(found?.failed.run?.forwarded('archive'));
  });

  it('tries orders of tests with virtual files, too', async () => {
    const body = `${TIES}, files: [], expect: { archive: [{ value: a }, { value: b }, { value: c }, { value: d }] }`;
    expect(await explored(body)).toHaveLength(1);
  });

  it('keeps the order of one collector, and the times', async () => {
    expect(
      await explored(`${TIES}, expect: { log: [{ value: a }, { value: b }], other: [{ value: c }, { value: d }],
        archive: { times: [1s, 1s, 1s, 1s], exactly: [{ value: a }, { value: b }, { value: c }, { value: d }] }, state: completed }`),
    ).toEqual([]);
  });

  it('ends where a processor waits for a time', async () => {
    const body = "collect: { log: { marbles: 'a 3s b|' } }, expect: { archive: { count: 2 } }";
    const joining = 'processors: { traces: { plugin: multiline, continue: "^ ", seconds: 2 } }';
    expect(await explored(body, undefined, joining)).toEqual([]);
  });

  it.each([
    ['at once', '[{ fails: true, retry_after: 800ms }, {}, { fails: true, retry_after: 200ms }]', ''],
    ['after a time', '[{ takes: 7ms, fails: true, retry_after: 1.1s, count: 5 }]', '5ms'],
    ['and is asked to wait less than a millisecond', '[{ fails: true, retry_after: 0.3ms, count: 5 }]', ''],
  ])('ends where a forwarder fails %s, and says when to call it again', async (_, calls, within) => {
    const body = `collect: { log: { marbles: '900ms abc 1s (de)|' }, other: { marbles: '1.9s (fg) 900ms h|' } },
      forward: { archive: { takes: 3ms, calls: ${calls} } }, expect: { archive: { count: 8 } }`;
    expect(await explored(body, within || undefined, '', 5000)).toEqual([]);
  });

  it('gives up a run that takes longer than it may', async () => {
    const retries = `collect: { log: [x] }, forward: { archive: { fails: 300 } }, expect: { archive: { count: 1 } }`;
    expect(await explored(retries)).toEqual([]);
    const [found] = await explored(retries, undefined, '', -1);
    expect(found?.failed.findings[0]?.message).toContain('the run took longer than it may in real time');
  });

  it('varies which of two collectors gets room that is free again', async () => {
    const config = `collectors:
  log: { plugin: file, paths: [/nowhere/a.log] }
  other: { plugin: file, paths: [/nowhere/b.log] }
forwarders: { archive: { plugin: noop } }
pipelines: { web: { collect: [log, other], forward: archive, max_in_flight: 1 } }
host_config: {}
tests:
  t:
    collect: { log: { marbles: '(abc)|' }, other: { marbles: '1ms (de)|' } }
    forward: { archive: { takes: 1s } }
    expect: { archive: { in_order: [{ value: a }, { value: b }, { value: d }] } }
`;
    const suites = await load({ 'c.yaml': config });
    const tests = suites.flatMap(({ tests }) => tests);
    const seeds = SEEDS.slice(0, 20);
    const passed = await run(suites);
    expect(passed.flatMap(({ findings }) => findings)).toEqual([]);
    const [found] = await exploreOrders(tests, passed, seeds);
    const values = found?.failed.run?.forwarded('archive').map(({ data }) => data.value) as string[];
    expect(values).toHaveLength(5);
    expect(values.filter((value) => value < 'd')).toEqual(['a', 'b', 'c']);
  });

  it('moves things by no more than it is told', async () => {
    const body =
      "collect: { log: { marbles: 'a 1s b|' } }, expect: { archive: { times: [0s, 1001ms], within: 5ms } }";
    expect(await explored(body, '5ms')).toEqual([]);
    expect(await explored(body, '50ms')).toHaveLength(1);
  });
});
