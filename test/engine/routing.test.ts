import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { from } from 'rxjs';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { EventBatch, type Outcome } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { marbles } from '../support/marbles.ts';
import { testManager } from '../support/pipelines.ts';
import { propertyRuns } from '../support/property-runs.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: false,
  isTruncated: false,
};

interface Routes {
  readonly archive?: string;
  readonly alerts?: string;
}

/** What two forwarders and the dead letter get, each on its condition, and how the batch ends. */
function run(events: EventBatch['events'] | LineEvents, { archive, alerts }: Routes, deadLetter = false) {
  const got: Record<string, CollectedEvent[]> = { archive: [], alerts: [], failed: [] };
  const outcomes: Outcome[] = [];
  const forwarder =
    (name: string) =>
    ({ event }: { event: CollectedEvent }) =>
      void got[name]?.push(event);
  const route = (name: string, when: string | undefined) => (when === undefined ? name : { to: name, when });
  let manager: ReturnType<typeof testManager> | undefined;
  marbles(({ flush }) => {
    manager = testManager({
      collect: { log: () => from([new EventBatch(events as never, (outcome) => outcomes.push(outcome))]) },
      forward: {
        archive: forwarder('archive'),
        alerts: forwarder('alerts'),
        ...(deadLetter && { failed: forwarder('failed') }),
      },
      pipeline: {
        forward: [route('archive', archive), route('alerts', alerts)],
        ...(deadLetter && { delivery: { dead_letter: 'failed' } }),
      },
    });
    manager.start();
    flush();
  });
  return { got, outcomes, stats: manager?.stats().main };
}

const n = ({ data }: CollectedEvent) => data.n ?? data.line;
const numbers = (...values: unknown[]) => values.map((value) => collectedEvent({ n: value }));

describe('routes', () => {
  it('give a forwarder the events for which its condition is true, and others every event', () => {
    const { got, outcomes, stats } = run(numbers(1, 2, 3), { alerts: 'data.n > 1' });
    expect(got.archive?.map(n)).toEqual([1, 2, 3]);
    expect(got.alerts?.map(n)).toEqual([2, 3]);
    expect(outcomes).toEqual(['forwarded']);
    expect(stats).toMatchObject({ forwarded: { archive: 3, alerts: 2 }, dropped: {}, in_flight: 0 });
  });

  it('acknowledge and count an event that no forwarder gets', () => {
    const { got, outcomes, stats } = run(numbers(1, 2, 3, 4), {
      archive: 'data.n < 2',
      alerts: 'data.n > 3',
    });
    expect([got.archive?.map(n), got.alerts?.map(n)]).toEqual([[1], [4]]);
    expect(outcomes).toEqual(['dropped']);
    expect(stats).toMatchObject({ dropped: { no_route: 2 }, in_flight: 0 });
  });

  it('keep an event from a forwarder whose condition fails, and only from that one', () => {
    const events = [collectedEvent({ n: 1, level: 'error' }), collectedEvent({ n: 2 })];
    const { got, outcomes, stats } = run(events, { alerts: 'data.level == "error"' });
    expect([got.archive?.map(n), got.alerts?.map(n)]).toEqual([[1, 2], [1]]);
    expect(outcomes).toEqual(['refused']);
    expect(stats).toMatchObject({ dropped: { route_failed: 1 }, in_flight: 0 });
  });

  it('give what a condition fails on to the dead letter, with the reason and without quoting the event', () => {
    const { got, outcomes, stats } = run(numbers(1, 'hunter2'), { alerts: 'data.n > 0' }, true);
    expect(got.alerts?.map(n)).toEqual([1]);
    expect(got.failed?.map(({ data }) => data)).toEqual([
      expect.objectContaining({
        plugin: 'alerts',
        kind: 'forward',
        error: expect.stringMatching(/^the expression `data\.n > 0` failed: (?!.*hunter2)/),
        event: expect.objectContaining({ data: { n: 'hunter2' } }),
      }),
    ]);
    expect(outcomes).toEqual(['dead_lettered']);
    expect(stats).toMatchObject({ dead_lettered: 1, dropped: {}, in_flight: 0 });
  });

  it('keep lines in bytes where a condition reads only the line, with the same result', () => {
    const line = fc.constantFrom('ERROR a', 'INFO b', 'ERROR ä', '', 'x');
    const condition = fc.constantFrom(
      'data.line.contains("ERROR")',
      '!data.line.startsWith("INFO")',
      'data.line.size() > 1',
      // Fails on lines of fewer than three characters.
      'data.line.substring(0, 3) == "ERR"',
    );
    const conditions = fc.record({ archive: fc.option(condition, { nil: undefined }), alerts: condition });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), conditions, (lines, routes) => {
        const block = new LineBlock(Buffer.from(`${lines.join('\n')}\n`), lines.length);
        const given = Object.fromEntries(Object.entries(routes).filter(([, when]) => when !== undefined));
        const asLines = run(new LineEvents(block, ENVELOPE), given);
        const asEvents = run([...LineEvents.of(lines, ENVELOPE).events], given);
        expect(asLines).toEqual(asEvents);
        expect(asLines.stats?.in_flight).toBe(0);
      }),
      { numRuns: propertyRuns(12) },
    );
  });

  it.each([
    ['data.level = "error"', /a valid condition \(.*at character 12; to compare, write ==\)/],
    ['dta.level == "error"', /a valid condition \(Unknown variable: dta, at character 1; there are .*\)/],
    ['size(tag)', /a valid condition \(it gives a int\)/],
  ])('refuse %s when the configuration is loaded', async (when, message) => {
    const config = {
      collectors: { a: { plugin: 'test' } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'a', forward: [{ to: 'out', when }] } },
      host_config: {},
    };
    await expect(parseConfig(config)).rejects.toThrow(message);
    await expect(parseConfig(config)).rejects.toThrow('pipelines.main.forward[0].when');
  });

  it.each([
    [[{ to: 'oot', when: 'true' }], 'pipelines.main.forward[0].to: unknown forwarder `oot`'],
    [['out', { to: 'out', when: 'true' }], 'pipelines.main.forward[1].to: `out` is named twice'],
    [[{ to: 'out' }], 'pipelines.main.forward[0].when: missing; expected a string'],
    [[{ to: 'out', when: 'true', wen: '' }], 'unknown key `wen`; did you mean `when`?'],
  ])('refuse %j', async (forward, message) => {
    const config = {
      collectors: { a: { plugin: 'test' } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: { collect: 'a', forward } },
      host_config: {},
    };
    await expect(parseConfig(config)).rejects.toThrow(message);
  });
});
