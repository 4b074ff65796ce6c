import { describe, expect, it } from '@jest/globals';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { mapFields } from '../../src/sdk/map-fields.ts';
import { ParsedEvents, type ParsedFields } from '../../src/sdk/parsed-events.ts';
import type { Rows } from '../../src/sdk/rows.ts';
import { checkPlugin } from '../../src/testing/conformance/index.ts';

const envelope = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

describe('mapFields', () => {
  it('makes of one function a mapping that does what process does', async () => {
    const change = (data: ParsedFields): ParsedFields | undefined => {
      if (data.status === 404) throw new RangeError('not found');
      return data.line === 7 ? undefined : { ...data, seen: true };
    };
    const { checks } = await checkPlugin('process', {
      get_config_schema: () => ProcessConfigBase,
      process: ({ event }: { event: CollectedEvent }) => {
        const data = change(event.data as ParsedFields);
        return data === undefined ? [] : { ...event, data };
      },
      mapRows: ({ rows }: { rows: Rows }) => mapFields(rows, change),
    });
    expect(checks.find(({ name }) => name.startsWith('rows:'))).toMatchObject({ outcome: 'passed' });
  });

  it('keeps the times of those that come out, and tells them', () => {
    const times = ['01', '02', '03'].map((day) => `2026-01-${day}T00:00:00.000Z`);
    const rows = new ParsedEvents([{ n: 0 }, { n: 1 }, { n: 2 }], envelope, times);
    const told: unknown[] = [];
    const mapping = mapFields(rows, (data, timestamp) => {
      told.push(timestamp);
      return data.n === 1 ? undefined : data;
    });
    const dropped: number[] = [];
    const outcomes = { dropped: (at: number) => void dropped.push(at), failed() {}, postponed() {} };
    const events = mapping?.(1, 3, outcomes).events ?? [];
    expect(events.map(({ timestamp }) => timestamp)).toEqual([times[2]]);
    expect([dropped, told]).toEqual([[1], times.slice(1)]);
  });

  it('leaves lines to process', () => {
    expect(mapFields(LineEvents.of(['a'], envelope), (data) => data)).toBeUndefined();
  });
});
