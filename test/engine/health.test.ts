import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concat, concatMap, delay, EMPTY, NEVER, of, throwError, timer } from 'rxjs';
import type { Manager } from '../../src/engine/manager.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import type { PipelineHealth } from '../../src/sdk/status.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

const SECOND = 1000;
const event = (n: number) => collectedEvent({ n });

/** What the manager says of `main` at these times, in seconds. */
function healthAt(seconds: readonly number[], plugins: TestPlugins): PipelineHealth[] {
  const found: PipelineHealth[] = [];
  states(plugins, (manager) => {
    for (const at of seconds) {
      timer(at * SECOND).subscribe(() => found.push(manager.health().main as PipelineHealth));
    }
    timer(3600 * SECOND).subscribe(() => manager.stop());
  });
  return found;
}

describe('the health of a pipeline', () => {
  it('names a forwarder that fails, with count, time and cause, until it works again', () => {
    const [early, late, after] = healthAt([1, 59, 120], {
      collect: { source: () => concat(of(event(1)), NEVER) },
      forward: {
        archive: () => {
          if (asyncScheduler.now() < 70 * SECOND)
            throw Object.assign(new Error(), { code: 'ENOSPC', errno: -28, syscall: 'write' });
        },
      },
    });
    expect(early).toEqual({
      pipeline: 'main',
      state: 'running',
      isReady: true,
      isStalled: false,
      problems: [
        expect.stringMatching(
          /^forwarder archive has failed 3 times since 00:00 UTC: ENOSPC: no space left on device/,
        ),
      ],
    });
    expect(late?.problems[0]).toMatch(
      /^forwarder archive has failed [4-9] times since 00:00 UTC: .*, write; next attempt at 00:01:\d\d UTC$/,
    );
    expect(after).toMatchObject({ isReady: true, problems: [] });
  });

  it('is not ready when it makes no progress with events in flight, and says what it waits for', () => {
    const [early, late] = healthAt([59, 130], {
      collect: { source: () => concat(of(event(1), event(2)), NEVER) },
      forward: { archive: () => NEVER },
    });
    expect(early).toMatchObject({ isReady: true, problems: [] });
    expect(late).toMatchObject({
      isReady: false,
      isStalled: true,
      problems: [
        'has made no progress for 2 min with 2 events in flight: forwarder archive has not answered for 2 min',
      ],
    });
  });

  it('tells a processor that holds events from a forwarder', () => {
    const [late] = healthAt([61], {
      collect: { source: () => concat(of(event(1)), NEVER) },
      process: { slow: () => NEVER },
      forward: { out: () => EMPTY },
    });
    expect(late?.problems).toEqual([
      'has made no progress for 61 s with 1 event in flight: no forwarder is being called, so processor slow holds them',
    ]);
  });

  it.each([
    [['out'], 'forwarder out (1 event) is not being called: it gathers a batch, or was asked to wait'],
    [
      ['out', 'copy'],
      'forwarders out (1 event) and copy (1 event) are not being called: they gather batches, or were asked to wait',
    ],
    [
      ['out', 'copy', 'archive'],
      'forwarders out (1 event), copy (1 event) and archive (1 event) are not being called: ' +
        'they gather batches, or were asked to wait',
    ],
  ])('names forwarders that were asked to wait: %j', (names, reason) => {
    const busy = () => {
      throw new PluginError('too many requests', { retryAfter: 600 });
    };
    const [late] = healthAt([61], {
      collect: { source: () => concat(of(event(1), event(2)), NEVER) },
      forward: Object.fromEntries(names.map((name) => [name, busy])),
      pipeline: { delivery: { attempts: 1 } },
    });
    expect(late?.problems).toEqual([`has made no progress for 61 s with 1 event in flight: ${reason}`]);
  });

  it('is ready while events go on, however slowly, and while there is nothing to do', () => {
    const slow = healthAt([61, 200, 2000], {
      collect: { source: () => concat(of(...Array.from({ length: 10 }, (_, n) => event(n))), NEVER) },
      forward: { out: () => timer(50 * SECOND).pipe(concatMap(() => EMPTY)) },
    });
    expect(slow.map(({ isReady }) => isReady)).toEqual([true, true, true]);
    const late = healthAt([301], {
      collect: { source: () => concat(of(event(1)).pipe(delay(300 * SECOND)), NEVER) },
      forward: { out: () => NEVER },
    });
    expect(late).toMatchObject([{ isReady: true, problems: [] }]);
  });

  it('is not ready while the pipeline waits after a failure, nor when it has failed', () => {
    const failing = {
      collect: { source: () => throwError(() => new PluginError('no such table')) },
      forward: { out: () => EMPTY },
    };
    const [waiting] = healthAt([0.5], { ...failing, pipeline: { restart: true } });
    expect(waiting).toEqual({
      pipeline: 'main',
      state: 'backing_off',
      isReady: false,
      isStalled: false,
      problems: [
        expect.stringMatching(
          /^has failed \w+( times)? in a row and starts again at 00:00:0\d UTC: collector source: no such table$/,
        ),
      ],
    });
    const [failed] = healthAt([1], failing);
    expect(failed).toMatchObject({
      state: 'failed',
      isReady: false,
      problems: ['failed at 00:00 UTC and is not started again by itself: collector source: no such table'],
    });
  });

  it('is not ready before it is started, while it is being stopped, and when it was stopped', () => {
    const found: PipelineHealth[] = [];
    states(
      {
        collect: { source: () => concat(of(event(1), event(2)), NEVER) },
        forward: { archive: () => timer(8 * SECOND).pipe(concatMap(() => EMPTY)) },
      },
      (manager) => {
        const look = () => found.push(manager.health().main as PipelineHealth);
        look();
        timer(1 * SECOND).subscribe(() => manager.stop());
        timer(2 * SECOND).subscribe(look);
        timer(60 * SECOND).subscribe(look);
      },
    );
    expect(found.map(({ isReady }) => isReady)).toEqual([false, false, false]);
    expect(found.map(({ problems }) => problems)).toEqual([
      ['has not been started yet'],
      ['is being stopped: 2 events in flight'],
      ['was stopped at 00:00 UTC'],
    ]);
  });

  it('is ready while a processor waits for the lines of an event, for as long as it may', () => {
    const [waiting, stalled] = healthAt([200, 370], {
      collect: { source: () => concat(of(event(1)), NEVER) },
      process: {
        join: {
          get_config_schema: () => ({ safeParse: (data) => ({ success: true, data }) }),
          process: ({ event }) => event,
          joinLines: () => ({
            readsLines: false,
            maxLines: 10,
            maxBytes: 1000,
            seconds: 300,
            lineOf: () => 'line',
            withLine: (event) => event,
            begin: () => true,
            next: () => true,
          }),
        },
      },
      forward: { out: () => NEVER },
    });
    expect(waiting).toMatchObject({ isReady: true, problems: [] });
    // The event left after 300 s. The forwarder has not answered since.
    expect(stalled).toMatchObject({ isReady: false });
  });

  it('is ready when it has completed', () => {
    const [done] = healthAt([1], { collect: { source: () => of(event(1)) }, forward: { out: () => EMPTY } });
    expect(done).toMatchObject({ state: 'completed', isReady: true, problems: [] });
  });
});

describe('the counters of plugin entries', () => {
  const entry = (manager: Manager, kind: string, name: string) =>
    manager.counters('main')?.entries.find((one) => one.kind === kind && one.name === name);

  it('count what each entry received, sent, dropped and failed on', () => {
    const outcomes: string[] = [];
    const batch = new EventBatch([1, 2, 3, 4, 5, 6].map(event), (outcome) => outcomes.push(outcome));
    const { manager } = states({
      collect: { source: () => of(batch) },
      process: {
        double: ({ event }) => [event, event],
        even: ({ event }) => {
          if (event.data.n === 3) throw new PluginError('three');
          return Number(event.data.n) % 2 === 0 ? event : undefined;
        },
      },
      forward: {
        out: ({ event }) => {
          if (event.data.n === 6) throw new PluginError('six', { permanent: true });
        },
      },
    });
    expect(entry(manager, 'collect', 'source')).toMatchObject({ received: 6, sent: 6, inFlight: 0 });
    expect(entry(manager, 'collect', 'source')?.acknowledged.refused).toBe(6);
    expect(entry(manager, 'process', 'double')).toMatchObject({ received: 6, sent: 12, failed: 0 });
    const even = entry(manager, 'process', 'even');
    expect(even).toMatchObject({ received: 12, sent: 6, failed: 2, deadLettered: 0 });
    expect([...(even?.dropped ?? [])]).toEqual([
      ['filtered', 4],
      ['processor_failed', 2],
    ]);
    const out = entry(manager, 'forward', 'out');
    expect(out).toMatchObject({ received: 6, sent: 4, failed: 2, plugin: 'my_out' });
    expect(out?.batchEvents.count).toBe(6);
    expect(manager.stats().main).toMatchObject({
      collected: 6,
      forwarded: { out: 4 },
      dropped: { filtered: 4, processor_failed: 2, forwarder_failed: 2 },
      in_flight: 0,
    });
  });

  it('measure calls, batches and the time until the acknowledgement', () => {
    const { manager } = states({
      collect: { source: () => of(new EventBatch([1, 2, 3].map(event))) },
      forward: {
        out: {
          get_config_schema: () => ({ safeParse: (data) => ({ success: true, data }) }),
          forward: () => EMPTY,
          forwardBatch: () => timer(2 * SECOND).pipe(concatMap(() => EMPTY)),
        },
      },
    });
    const out = entry(manager, 'forward', 'out');
    expect(out?.batchEvents).toMatchObject({ sum: 3, count: 1 });
    expect(out?.callSeconds.ok).toMatchObject({ sum: 2, count: 1 });
    expect(out?.callSeconds.error.count).toBe(0);
    expect(out?.openCalls.size).toBe(0);
    expect(entry(manager, 'collect', 'source')?.acknowledgeSeconds).toMatchObject({ count: 3 });
  });
});
