import { expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { CollectorRow } from '../../src/testing/stand-in-collector.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { findings, recorded, source } from './recorded.ts';

jest.setTimeout(propertyRuns(600_000));

it('a recording of random runs replays to the same outcome', async () => {
  const value = fc.oneof(
    fc.constantFrom(
      'GET /',
      'drop it',
      "it's ${HOME}",
      '/api/users/',
      '/x/i',
      'a: b # c',
      '{"a": [1]}',
      'null',
      '5s',
      ' goes on',
    ),
    fc.record({ n: fc.nat(9), text: fc.string({ unit: 'binary', maxLength: 8 }) }),
  );
  const row = fc.record({
    gaps: fc.array(fc.tuple(fc.constantFrom(0, 0, 1, 7, 500), value), { maxLength: 12 }),
    end: fc.constantFrom('completed' as const, 'failed' as const),
    after: fc.nat(300),
  });
  const call = fc.oneof(
    fc.record({ takes: fc.constantFrom(0, 3, 40, 700) }),
    fc.record({ takes: fc.constantFrom(0, 5, 90), fails: fc.constant(true), permanent: fc.boolean() }),
    fc.record({
      takes: fc.constant(5),
      rejects: fc.constantFrom([1], [2], [1, 3]),
      permanent: fc.oneof(fc.boolean(), fc.constantFrom([1], [3])),
    }),
    fc.record({
      takes: fc.constant(5),
      fails: fc.constant(true),
      retryAfter: fc.constantFrom(20, 1500),
    }),
    fc.record({
      takes: fc.constant(5),
      fails: fc.constant(true),
      fatal: fc.constant(true),
      permanent: fc.boolean(),
    }),
  );
  const settings = fc.record({
    max_in_flight: fc.constantFrom(1, 3, 1000),
    buffer: fc.constantFrom({}, { max_events: 1 }, { max_events: 2, when_full: 'drop_newest' }),
    ordered: fc.boolean(),
    forward: fc.constantFrom(
      'archive',
      ['archive', 'copy'],
      [
        { to: 'archive', when: 'has(data.line)' },
        { to: 'copy', when: '!has(data.line) || data.line == "null"' },
      ],
    ),
    restart: fc.boolean(),
    delivery: fc.constantFrom({}, { attempts: 1 }, { attempts: 2, dead_letter: 'letters' }),
  });
  const run$ = fc.record({
    collector: fc.constantFrom('file', 'beacons'),
    forwarder: fc.constantFrom('disk', 'http'),
    isJoined: fc.boolean(),
    rows: fc.array(row, { minLength: 1, maxLength: 3 }),
    calls: fc.array(call, { maxLength: 6 }),
    copyCalls: fc.array(call, { maxLength: 3 }),
    until: fc.option(fc.constantFrom(300, 1500, 20_000), { nil: undefined }),
    settings,
  });
  const property = fc.asyncProperty(run$, async ({ collector, forwarder, isJoined, ...run }) => {
    const { rows, calls, copyCalls, until, settings } = run;
    const batch = { events: 2, seconds: 0.1 };
    const http = { plugin: 'http', url: 'http://127.0.0.1:9/', format: 'ndjson', batch, concurrency: 2 };
    const disk = { plugin: 'disk', path: '/nowhere' };
    const config = {
      ...source(settings, {
        ...(isJoined ? { joined: { plugin: 'multiline', start: '^[^ ]', seconds: 0.2 } } : {}),
        noise: { plugin: 'filter', drop: 'has(data.line) && data.line == "drop it"' },
      }),
      forwarders: {
        archive: forwarder === 'disk' ? disk : http,
        copy: disk,
        letters: { plugin: 'noop' },
      },
      collectors: {
        log:
          collector === 'file'
            ? { plugin: 'file', paths: ['/nowhere/x.log'] }
            : { plugin: 'beacons', beacons: ['*'] },
      },
    };
    const rowsAsGiven = rows.map(({ gaps, end, after }): CollectorRow => {
      let at = 0;
      const entries = gaps.map(([gap, value]) => {
        at += gap;
        return { at, value };
      });
      return { entries, end: { at: at + after + 1, kind: end } };
    });
    // A pipeline that restarts for ever is stopped.
    const limit = until ?? 400_000;
    const incident = await recorded(await parseConfig(config), {
      rows: rowsAsGiven,
      calls,
      copyCalls,
      until: limit,
    });
    expect(incident.problem).toBeUndefined();
    expect({ differences: incident.differences, text: incident.text }).toEqual({
      differences: [],
      text: incident.text,
    });
    expect(await findings(config, incident.text)).toEqual([]);
  });
  // Always the same in short runs: shrinking a failure takes minutes.
  const runs = propertyRuns(6);
  await fc.assert(property, runs > 6 ? { numRuns: runs } : { numRuns: runs, seed: 1, endOnFailure: true });
});
