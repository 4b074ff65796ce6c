import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { liveLine, liveText } from '../../src/cli/live-line.ts';
import type { PipelineState, PipelineStats } from '../../src/sdk/status.ts';

const stats = (collected: number, backlog_bytes?: number): PipelineStats => ({
  collected,
  forwarded: { one: collected, two: 1 },
  dropped: {},
  dead_lettered: 0,
  masked: {},
  retries: 0,
  given_up: 0,
  in_flight: 2,
  backlog_bytes,
  lost_bytes: 0,
  truncations: 0,
});
const status = (pipeline: string, state: PipelineState) => ({ pipeline, state, since: '', failures: 0 });

describe('liveText', () => {
  const figures = {
    collected: 12_345,
    forwarded: 12_300,
    inFlight: 45,
    perSecond: '8,120',
    backlogBytes: undefined,
    backingOff: 0,
  };

  it('tells what flows', () => {
    expect(liveText(figures)).toBe('in 12,345 · out 12,300 · in flight 45 · 8,120 events/s');
  });

  it('tells what is left to read, and who waits', () => {
    expect(liveText({ ...figures, backlogBytes: 1_200_000_000, backingOff: 1 })).toBe(
      'in 12,345 · out 12,300 · in flight 45 · 8,120 events/s · 1.2 GB left to read · 1 pipeline waiting to restart',
    );
  });
});

describe('liveLine', () => {
  it('shows the sums of all pipelines at once and then every 200 ms, with the rate of the last two seconds', () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    scheduler.run(({ flush }) => {
      let collected = 0;
      const source = {
        states: () => ({ a: status('a', 'running'), b: status('b', 'backing_off') }),
        stats: () => ({ a: stats(collected, 500), b: stats(10, 1000), c: stats(0) }),
      };
      const shown: string[] = [];
      const live = liveLine(source, (text) => {
        shown.push(text);
        // 1,000 a second for three seconds, then nothing.
        if (shown.length <= 15) collected += 200;
        if (shown.length === 31) live.unsubscribe();
      });
      flush();
      expect(shown).toHaveLength(31);
      expect(shown[0]).toBe(
        'in 10 · out 13 · in flight 6 · 0 events/s · 1.5 kB left to read · 1 pipeline waiting to restart',
      );
      expect(shown[15]).toContain('in 3,010 · out 3,013 · in flight 6 · 1,000 events/s');
      expect(shown[20]).toContain(' · 500 events/s');
      expect(shown[30]).toContain(' · 0 events/s');
    });
  });
});
