import { describe, expect, it } from '@jest/globals';
import { map } from 'rxjs';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import { collect, TestCollectConfig } from '../../../plugins/collect/test.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import { MAX_COUNT } from '../../../src/sdk/schema-parts.ts';
import { testContext } from '../../support/context.ts';
import { marbles } from '../../support/marbles.ts';

function run(input: object, overrides: Partial<PipelineRunContext> = {}) {
  const config = { ...TestCollectConfig.parse({ plugin: 'test', ...input }), name: 'ticks' };
  return collect({ ctx: testContext(config, overrides) });
}

const counts = (input: object, overrides?: Partial<PipelineRunContext>) =>
  run(input, overrides).pipe(map(({ data }) => String(data.count)));

describe('test collector', () => {
  it('has the bounds of the specification', () => {
    expect(TestCollectConfig.parse({ plugin: 'test' })).toEqual({
      plugin: 'test',
      interval: 0.1,
      count: MAX_COUNT,
    });
    for (const bad of [
      { interval: 0 },
      { interval: -1 },
      { count: 0 },
      { count: MAX_COUNT },
      { count: 1.5 },
    ]) {
      expect(TestCollectConfig.safeParse({ plugin: 'test', ...bad }).success).toBe(false);
    }
  });

  it('emits its name and a count, stamped with the scheduler, after each interval', () => {
    marbles(({ expectObservable }) => {
      const event = (count: number, ms: number) => ({
        timestamp: new Date(ms).toISOString(),
        data: { name: 'ticks', count },
      });
      expectObservable(run({ interval: 0.5, count: 2 })).toBe('500ms a 499ms (b|)', {
        a: event(1, 500),
        b: event(2, 1000),
      });
    });
  });

  it('never stops without a count', () => {
    marbles(({ expectObservable }) => {
      expectObservable(counts({}), '350ms !').toBe('100ms 1 99ms 2 99ms 3');
    });
  });

  it('emits one event in a run that ends, unless a count is given', () => {
    marbles(({ expectObservable }) => {
      expectObservable(counts({}, { once: true })).toBe('100ms (1|)');
      expectObservable(counts({ count: 2 }, { once: true })).toBe('100ms 1 99ms (2|)');
    });
  });

  it('waits for room, and skips nothing', () => {
    marbles(({ expectObservable, cold }) => {
      const demand = new InFlightWindow(1);
      demand.take(1);
      cold('250ms r').subscribe(() => demand.release(1));
      expectObservable(counts({ count: 2 }, { demand })).toBe('250ms 1 99ms (2|)');
    });
  });

  it('keeps intervals beyond what timers hold', () => {
    marbles(({ expectObservable }) => {
      const interval = 2 ** 31 / 1000 + 1;
      expectObservable(counts({ interval, count: 1 })).toBe(`${2 ** 31 + 1000}ms (1|)`);
    });
  });

  it('ends when the signal is aborted', () => {
    marbles(({ expectObservable, cold }) => {
      const controller = new AbortController();
      cold('150ms x').subscribe(() => controller.abort());
      expectObservable(counts({}, { signal: controller.signal })).toBe('100ms 1 49ms |');
    });
  });
});
