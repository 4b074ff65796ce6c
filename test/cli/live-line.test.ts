import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { liveLine, liveText } from '../../src/cli/live-line.ts';
import type { PipelineHealth, PipelineState, PipelineStats } from '../../src/sdk/status.ts';

const stats = (collected: number, backlog_bytes?: number): PipelineStats => ({
  collected,
  forwarded: { one: collected, two: 1 },
  dropped: {},
  dead_lettered: 0,
  masked: {},
  retries: 0,
  given_up: 0,
  rejected: 0,
  in_flight: 2,
  backlog_bytes,
  lost_bytes: 0,
  lost_files: 0,
  truncations: 0,
  joined: 0,
});
const status = (pipeline: string, state: PipelineState) => ({ pipeline, state, since: '', failures: 0 });

const healthOf = (pipeline: string, ...problems: string[]): PipelineHealth => ({
  pipeline,
  state: 'running',
  isReady: problems.length === 0,
  isStalled: false,
  problems,
});
describe('liveText', () => {
  const figures = {
    collected: 12_345,
    forwarded: 12_300,
    inFlight: 45,
    perSecond: '8,120',
    backlogBytes: undefined,
    health: [],
  };

  it('tells what flows', () => {
    expect(liveText(figures)).toBe('in 12,345 · out 12,300 · in flight 45 · 8,120 events/s');
  });

  it('tells what is left to read', () => {
    expect(liveText({ ...figures, backlogBytes: 1_200_000_000 })).toBe(
      'in 12,345 · out 12,300 · in flight 45 · 8,120 events/s · 1.2 GB left to read',
    );
  });

  it('names each pipeline that is not well, with what it waits for, on a line of its own', () => {
    const health = [
      healthOf('web', 'forwarder archive has failed 29 times'),
      healthOf('db'),
      healthOf('app', 'one', 'two'),
    ];
    expect(liveText({ ...figures, health }).split('\n')).toEqual([
      'in 12,345 · out 12,300 · in flight 45 · 8,120 events/s',
      'web: forwarder archive has failed 29 times',
      'app: one; two',
    ]);
  });

  it('leaves room for the log when many are not well', () => {
    const health = Array.from({ length: 40 }, (_, n) => healthOf(`p${n}`, 'has failed'));
    const lines = liveText({ ...figures, health }).split('\n');
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toBe('… and 36 more pipelines');
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
        health: () => [healthOf('b', 'has failed once')],
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
        'in 10 · out 13 · in flight 6 · 0 events/s · 1.5 kB left to read\nb: has failed once',
      );
      expect(shown[15]).toContain('in 3,010 · out 3,013 · in flight 6 · 1,000 events/s');
      expect(shown[20]).toContain(' · 500 events/s');
      expect(shown[30]).toContain(' · 0 events/s');
    });
  });
});
