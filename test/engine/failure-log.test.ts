import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concat, interval, map, NEVER, of, range, take, throwError, timer } from 'rxjs';
import { PluginError } from '../../src/sdk/errors.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const event = (n: number) => collectedEvent({ n });

/** The log of `main`, with the time of each line in seconds. */
function logOf(plugins: TestPlugins, stopAt = 3600): string[] {
  const lines: string[] = [];
  const log = (level: string) => (message: string) =>
    void lines.push(`${asyncScheduler.now() / SECOND} ${level} ${message}`);
  const logger = { error: log('error'), warn: log('warn'), info: log('info'), debug: () => {} };
  states({ ...plugins, options: { ...plugins.options, logger } }, (manager) => {
    timer(stopAt * SECOND).subscribe(() => manager.stop());
  });
  return lines.filter((line) => !/main: (?:running|stopped|completed)$/.test(line));
}

const everySecond = (seconds: number) => () =>
  concat(interval(SECOND).pipe(take(seconds), map(event)), NEVER);
/** A processor that fails between two times, in seconds. */
const failing = (from: number, to: number) => () => {
  const now = asyncScheduler.now() / SECOND;
  if (now >= from && now < to) throw new PluginError('no number');
};
const forward = { out: () => undefined };

describe('events that a processor fails on', () => {
  it('are logged three times, then at growing intervals, and so is the recovery', () => {
    const lines = logOf({
      collect: { source: everySecond(1000) },
      process: { parse: ({ event }) => failing(5, 400)() ?? event },
      forward,
    });
    const failed = 'error main: processor parse failed on an event';
    expect(lines).toEqual([
      `5 ${failed}: no number`,
      `6 ${failed}: no number`,
      `7 ${failed}: no number`,
      `15 ${failed} (11 events over 10 s): no number`,
      `35 ${failed} (31 events over 30 s): no number`,
      `65 ${failed} (61 events over 60 s): no number`,
      `305 ${failed} (301 events over 5 min): no number`,
      '459 info main: processor parse: no event has failed for 60 s, after 395 events over 7 min',
    ]);
  });

  it('have not recovered while there are no events', () => {
    const lines = logOf({
      collect: { source: () => concat(of(event(1)), timer(10 * MINUTE).pipe(map(event)), NEVER) },
      process: { parse: ({ event }) => failing(0, 1)() ?? event },
      forward,
    });
    expect(lines.map((line) => line.split(' ').slice(0, 2))).toEqual([
      ['0', 'error'],
      ['600', 'info'],
    ]);
  });

  it('are logged ever more rarely if a single one fails every now and then', () => {
    const lines = logOf({
      collect: { source: everySecond(3000) },
      process: {
        parse: ({ event }) => {
          if (Number(event.data.n) % 100 === 0) throw new PluginError('no number');
          return event;
        },
      },
      forward,
    });
    expect(lines.filter((line) => line.includes('failed on an event')).length).toBe(4);
    expect(lines.filter((line) => line.includes('no event has failed')).length).toBe(4);
  });

  it('end with the run', () => {
    const { seen } = states({
      collect: { source: () => of(event(1)) },
      process: { parse: failing(0, 1) },
      forward,
    });
    expect(seen.at(-1)).toBe('0 completed');
  });
});

it('events that a collector loses because the buffer is full are logged, at growing intervals, and the end of it', () => {
  const lines = logOf({
    collect: {
      source: () =>
        concat(
          interval(SECOND).pipe(
            take(40),
            map((n) => event(n)),
          ),
          timer(2 * MINUTE).pipe(map(event)),
          NEVER,
        ),
    },
    forward: { out: () => timer(asyncScheduler.now() < 30 * SECOND ? 10 * SECOND : 1) },
    pipeline: { max_in_flight: 1, buffer: { max_events: 1 } },
  });
  const dropped = (often: string) =>
    `warn main: collector source: 1 event dropped${often}: they come faster than the pipeline takes them; raise \`buffer.max_events\``;
  expect(lines.slice(0, 3)).toEqual([`3 ${dropped('')}`, `4 ${dropped('')}`, `5 ${dropped('')}`]);
  expect(lines[3]).toMatch(/^13 warn main: collector source: 1 event dropped \(\d+ events over 10 s\): /);
  expect(lines.at(-1)).toMatch(
    /info main: collector source: no event has been dropped for \d+ (?:s|min), after \d+ events over \d+ s$/,
  );
});

it('a pipeline that was started again logs that it works again', () => {
  let runs = 0;
  const lines = logOf({
    collect: {
      source: () =>
        ++runs < 4
          ? throwError(() => new PluginError('no source'))
          : concat(range(1, 3).pipe(map(event)), NEVER),
    },
    forward,
    pipeline: { restart: true },
  });
  expect(lines.at(-1)).toBe(
    '13.5 info main: works again: it has been running for 10 s after 3 failures in a row',
  );
});
