import { describe, expect, it } from '@jest/globals';
import { concat, concatMap, defer, of, throwError, timer } from 'rxjs';
import { PluginError } from '../../src/sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { states } from '../support/pipelines.ts';

const HOUR = 3_600_000;
const event = (n: unknown): CollectedEvent => collectedEvent({ n });

const sink = { out: () => undefined };
const failing = () => throwError(() => new PluginError('the source is gone'));

describe('restart', () => {
  it.each([
    ['with once', { once: true }, {}],
    ['with `max_restarts: 4`', {}, { max_restarts: 4 }],
    ['with both, by `max_restarts`', { once: true }, { max_restarts: 4 }],
  ])(
    'starts a failing pipeline again with backoff, five failures at most %s, then it has failed',
    (_, options, pipeline) => {
      const { seen, logger, manager } = states({
        collect: { source: () => concat(of(event(1)), failing()) },
        forward: sink,
        pipeline: { restart: true, ...pipeline },
        options,
      });
      expect(seen).toEqual([
        '0 idle',
        '0 running',
        '0 backing_off',
        '500 running',
        '500 backing_off',
        '1500 running',
        '1500 backing_off',
        '3500 running',
        '3500 backing_off',
        '7500 running',
        '7500 failed',
      ]);
      expect(manager.stats().main?.collected).toBe(5);
      expect(manager.states().main).toMatchObject({ state: 'failed', failures: 5 });
      expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([
        'error main: failed: collector source: the source is gone',
      ]);
    },
  );

  it('starts a failing pipeline again without limit, at most 60 s later', () => {
    const { seen, logger, manager } = states(
      { collect: { source: failing }, forward: sink, pipeline: { restart: true } },
      (manager) => {
        timer(2 * HOUR).subscribe(() => {
          expect(manager.states().main).toMatchObject({ state: 'backing_off' });
          manager.stop();
        });
      },
    );
    const starts = seen.filter((line) => line.endsWith('running')).map((line) => Number.parseInt(line, 10));
    const waits = starts.slice(1).map((at, index) => at - (starts[index] as number));
    // With 0.5 in place of random numbers, half of 1 s, 2 s, … 60 s.
    expect(waits.slice(0, 8)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(new Set(waits.slice(6))).toEqual(new Set([30_000]));
    expect(starts.length).toBeGreaterThan(240);
    expect(manager.states().main?.state).toBe('stopped');
    expect(logger.lines).toContain(
      'warn main: failed (200 in a row), starting again in 30.0 s: collector source: the source is gone',
    );
  });

  it('starts a pipeline that has failed when it is asked to, and counts from the start', () => {
    const { seen } = states(
      { collect: { source: failing }, forward: sink, pipeline: { restart: true, max_restarts: 1 } },
      (manager) => timer(HOUR).subscribe(() => manager.start('main')),
    );
    expect(seen.slice(-5)).toEqual([
      '500 failed',
      ...[`${HOUR} running`, `${HOUR} backing_off`, `${HOUR + 500} running`, `${HOUR + 500} failed`],
    ]);
  });

  it('has one run with `max_restarts: 0`, unless it completes', () => {
    const pipeline = { restart: true, max_restarts: 0 };
    const { seen } = states({ collect: { source: failing }, forward: sink, pipeline });
    expect(seen).toEqual(['0 idle', '0 running', '0 failed']);
    const completing = states({ collect: { source: () => [event(1)] }, forward: sink, pipeline }, (manager) =>
      timer(600).subscribe(() => manager.stop()),
    );
    expect(completing.seen.slice(0, 4)).toEqual(['0 idle', '0 running', '0 backing_off', '500 running']);
  });

  it('resets the failure count after a healthy run, over virtual days', () => {
    let runs = 0;
    const { manager } = states(
      {
        collect: { source: () => defer(() => timer(++runs % 4 === 0 ? HOUR : 1).pipe(concatMap(failing))) },
        forward: sink,
        pipeline: { restart: true, max_restarts: 4 },
      },
      (manager) =>
        timer(72 * HOUR)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    expect(manager.states().main?.state).toBe('stopped');
    expect(runs).toBeGreaterThan(250);
  });

  it('starts again what has ended, waiting longer while runs are short', () => {
    const { seen } = states(
      { collect: { source: () => [event(1)] }, forward: sink, pipeline: { restart: true } },
      (manager) =>
        timer(8000)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    const starts = seen.filter((line) => line.endsWith('running'));
    expect(starts).toEqual(['0 running', '500 running', '1500 running', '3500 running', '7500 running']);
    expect(seen.at(-1)).toBe('8000 stopped');
  });

  it.each([
    ['completed', () => [event(1)]],
    ['failed', failing],
  ])('has one run with restart: false, and ends as %s', (state, source) => {
    const { seen } = states({ collect: { source }, forward: sink });
    expect(seen).toEqual(['0 idle', '0 running', `0 ${state}`]);
  });

  it('does not start again what has ended under `once`, but what has failed', () => {
    let runs = 0;
    const { seen } = states({
      collect: { source: () => (++runs < 3 ? failing() : [event(1)]) },
      forward: sink,
      pipeline: { restart: true },
      options: { once: true },
    });
    expect(seen.filter((line) => line.endsWith('running'))).toHaveLength(3);
    expect(seen.at(-1)).toBe('1500 completed');
  });

  it.each([
    [true, false, '7500 failed', 5],
    [true, true, '0 failed', 1],
    [false, true, '0 failed', 1],
  ])('with once: %s and permanent: %s, ends after a fatal error: %s', (once, permanent, end, runs) => {
    const { seen } = states({
      collect: {
        source: () => throwError(() => Object.assign(new Error('gone'), { fatal: true, permanent })),
      },
      forward: sink,
      pipeline: { restart: true },
      options: { once },
    });
    expect(seen.filter((line) => line.endsWith('running'))).toHaveLength(runs);
    expect(seen.at(-1)).toBe(end);
  });

  it('keeps caches over a restart and drops them with the stop', () => {
    const counts: unknown[] = [];
    states(
      {
        collect: {
          source: ({ ctx }) => {
            ctx.cache.runs = ((ctx.cache.runs as number | undefined) ?? 0) + 1;
            ctx.shared_cache.runs = ctx.cache.runs;
            return of(event(ctx.cache.runs));
          },
        },
        forward: {
          out: ({ ctx, event }) => void counts.push([event.data.n, ctx.shared_cache.runs, ctx.cache.runs]),
        },
        pipeline: { restart: true },
      },
      (manager) => {
        timer(600)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(() => manager.start('main'));
        timer(700)
          .pipe(concatMap(() => manager.stop()))
          .subscribe();
      },
    );
    expect(counts.slice(0, 3)).toEqual([
      [1, 1, undefined],
      [2, 2, undefined],
      [1, 1, undefined],
    ]);
  });
});
