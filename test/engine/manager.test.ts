import { describe, expect, it } from '@jest/globals';
import {
  asyncScheduler,
  concat,
  concatMap,
  EMPTY,
  map,
  NEVER,
  Observable,
  of,
  throwError,
  timer,
} from 'rxjs';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import { defineForwarder, defineProcessor } from '../../src/sdk/define-plugin.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import type { ProcessPlugin } from '../../src/sdk/plugin.ts';
import type { PipelineStatus } from '../../src/sdk/status.ts';
import { marbles } from '../support/marbles.ts';
import { parseNow } from '../support/parse-now.ts';
import { bareHost, states } from '../support/pipelines.ts';

const event = (n: unknown): CollectedEvent => collectedEvent({ n });
const HOUR = 3_600_000;

const sink = { out: () => undefined };
const failing = () => throwError(() => new PluginError('the source is gone'));

describe('Manager', () => {
  const config = (pipelines: object) =>
    parseNow({
      collectors: { ticks: { plugin: 'test', interval: 1, count: 2 } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines,
      host_config: {},
    });
  const pipeline = { collect: 'ticks', forward: 'out', restart: false };

  it('never starts a disabled pipeline, and says so when asked to', () => {
    const manager = new Manager(config({ on: pipeline, off: { ...pipeline, enabled: false } }), {
      host: bareHost,
    });
    marbles(({ flush }) => {
      manager.start();
      flush();
    });
    expect(manager.states()).toMatchObject({ on: { state: 'completed' }, off: { state: 'disabled' } });
    expect(() => manager.start('off')).toThrow(
      'pipeline off was not started: it has `enabled: false`; set it to true to run it',
    );
  });

  it('starts and stops one of several, each with contexts of its own for a shared entry', () => {
    const manager = new Manager(config({ one: pipeline, other: pipeline }), { host: bareHost });
    marbles(({ flush }) => {
      manager.start('one');
      timer(1500).subscribe(() => manager.start('other'));
      timer(1700)
        .pipe(concatMap(() => manager.stop('one')))
        .subscribe();
      flush();
    });
    expect(manager.states()).toMatchObject({ one: { state: 'stopped' }, other: { state: 'completed' } });
    expect(manager.stats()).toMatchObject({ one: { collected: 1 }, other: { collected: 2 } });
  });

  it('tells when all that was started has ended, also to one who asks late', () => {
    const manager = new Manager(config({ one: pipeline, other: { ...pipeline, enabled: false } }), {
      host: bareHost,
    });
    const ends: (readonly PipelineStatus[])[] = [];
    marbles(({ flush }) => {
      manager.finished$.subscribe((end) => ends.push(end));
      manager.start();
      flush();
      manager.finished$.subscribe((end) => ends.push(end));
    });
    expect(ends.map((end) => end.map(({ pipeline, state }) => `${pipeline} ${state}`))).toEqual([
      ['one completed'],
      ['one completed'],
    ]);
  });

  it('can be started again after a stop', () => {
    const manager = new Manager(config({ one: pipeline }), { host: bareHost });
    marbles(({ flush }) => {
      manager.start();
      timer(1500)
        .pipe(concatMap(() => manager.stop()))
        .subscribe(() => manager.start());
      flush();
    });
    expect(manager.stats().one?.collected).toBe(3);
    expect(manager.states().one?.state).toBe('completed');
  });

  it('names the nearest pipeline for an unknown one', () => {
    const manager = new Manager(config({ archive: pipeline }), { host: bareHost });
    expect(() => manager.start('archiv')).toThrow('there is no pipeline archiv; did you mean archive?');
  });

  it('lets a plugin check whether the host has what it needs', async () => {
    const checkConfig: ProcessPlugin['checkConfig'] = ({ host }) =>
      host === undefined ? [] : [{ path: ['plugin'], message: 'is for the core' }];
    registerPlugin('process', 'core_only', defineProcessor({ checkConfig, process: () => [] }));
    registerPlugin('forward', 'core_only', defineForwarder({ checkConfig, forward() {} }));
    try {
      const config = await parseConfig({
        collectors: { ticks: { plugin: 'test' } },
        processors: { look: { plugin: 'core_only' } },
        forwarders: { out: { plugin: 'core_only' } },
        pipelines: { main: { collect: 'ticks', process: 'look', forward: 'out' } },
        host_config: {},
      });
      expect(() => new Manager(config, { host: bareHost })).toThrow(
        expect.objectContaining({
          code: 'MILLRACE_HOST',
          message: 'processors.look.plugin: is for the core\nforwarders.out.plugin: is for the core',
        }),
      );
    } finally {
      unregisterPlugin('process', 'core_only');
      unregisterPlugin('forward', 'core_only');
    }
  });

  it('refuses a configuration that names a function which the host lacks', async () => {
    const wrong = await parseConfig({
      collectors: { ping: { plugin: 'host_exec', fn: 'test.pin' } },
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { one: { collect: 'ping', forward: 'out' } },
      host_config: {},
    });
    expect(() => new Manager(wrong, { host: bareHost })).toThrow(/collectors\.ping\.fn: .*test\.pin/);
  });
});

describe('stop', () => {
  const ticks = () => timer(10, 10).pipe(map(event));

  it('ends the collectors first and lets what is in flight drain', () => {
    const forwarded: unknown[] = [];
    const { seen } = states(
      {
        collect: { source: ticks },
        forward: { out: ({ event }) => timer(25).pipe(map(() => forwarded.push(event.data.n))) },
      },
      (manager) =>
        timer(35)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    // Three events had come by then; one after the other they take until 85.
    expect(forwarded).toEqual([0, 1, 2]);
    expect(seen.at(-1)).toBe('85 stopped');
  });

  it('gives up what has not drained by the deadline, and says how much', () => {
    const { seen, logger, manager } = states(
      { collect: { source: ticks }, forward: { out: () => NEVER }, options: { drainTimeout: 2 } },
      (manager) =>
        timer(35)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    expect(seen.at(-1)).toBe('2035 stopped');
    expect(logger.lines).toContain(
      'warn main: 3 events were not delivered within 2 s of the stop and were given up',
    );
    expect(manager.stats().main).toMatchObject({ collected: 3, given_up: 3, in_flight: 0 });
  });

  it('aborts the signal of a collector at the stop, and that of a forwarder when all is done', () => {
    const aborted: string[] = [];
    const note = (who: string) => aborted.push(`${asyncScheduler.now()} ${who}`);
    states(
      {
        collect: {
          source: ({ ctx }) => {
            ctx.signal.addEventListener('abort', () => note('collector'));
            return ticks();
          },
        },
        forward: {
          out: ({ ctx }) => {
            if (!ctx.cache.listening) ctx.signal.addEventListener('abort', () => note('forwarder'));
            ctx.cache.listening = true;
            return timer(30);
          },
        },
      },
      (manager) =>
        timer(15)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    expect(aborted).toEqual(['15 collector', '40 forwarder']);
  });

  it('delivers what a collector emits when its signal is aborted', () => {
    const forwarded: unknown[] = [];
    const { seen } = states(
      {
        collect: {
          source: ({ ctx }) =>
            new Observable((subscriber) => {
              ctx.signal.addEventListener('abort', () => {
                subscriber.next({ timestamp: 't', data: { n: 'last' } });
                subscriber.complete();
              });
            }),
        },
        forward: {
          out: ({ event }) => {
            forwarded.push(event.data.n);
            return EMPTY;
          },
        },
      },
      (manager) =>
        timer(15)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    expect(forwarded).toEqual(['last']);
    expect(seen.at(-1)).toBe('15 stopped');
  });

  it('ends a wait for the next run at once', () => {
    const { seen } = states(
      { collect: { source: failing }, forward: sink, pipeline: { restart: true } },
      (manager) =>
        timer(100)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    expect(seen).toEqual(['0 idle', '0 running', '0 backing_off', '100 stopped']);
  });

  it('drains what another collector emitted before one failed', () => {
    const forwarded: unknown[] = [];
    const { seen } = states({
      collect: { good: () => concat(of(event(1)), NEVER), bad: () => timer(5).pipe(concatMap(failing)) },
      forward: { out: ({ event }) => timer(50).pipe(map(() => forwarded.push(event.data.n))) },
    });
    expect(forwarded).toEqual([1]);
    expect(seen.at(-1)).toBe('50 failed');
  });
});

describe('starting and stopping at odd moments', () => {
  const never = () => NEVER;

  it.each([
    ['first', { bad: failing, good: never }],
    ['last', { good: never, bad: failing }],
  ])('ends the run when a collector fails on subscription, standing %s', (_, collect) => {
    const { seen } = states({ collect, forward: sink });
    expect(seen.at(-1)).toBe('0 failed');
  });

  it('stops at once when it is told to on the very word that it runs', () => {
    const { seen } = states({ collect: { source: never }, forward: sink }, (manager) => {
      manager.states$.subscribe(({ state }) => {
        if (state === 'running') manager.stop();
      });
    });
    expect(seen).toEqual(['0 idle', '0 running', '0 stopped']);
  });

  it('refuses to start a pipeline that is being stopped', () => {
    let message = '';
    states(
      { collect: { source: () => timer(0, 10).pipe(map(event)) }, forward: { out: () => timer(50) } },
      (manager) => {
        timer(20).subscribe(() => {
          manager.stop();
          try {
            manager.start('main');
          } catch (error) {
            message = (error as Error).message;
          }
        });
      },
    );
    expect(message).toBe(
      'pipeline main was not started: it is being stopped; start it when that has ended, which stop() tells',
    );
  });

  it.each<[string, (manager: Manager) => void]>([
    ['before it was started', (manager) => manager.stop('main').subscribe()],
    [
      'twice after its end',
      (manager) => {
        manager.start('main');
        manager.stop('main').subscribe();
        manager.stop('main').subscribe();
      },
    ],
  ])('starts a pipeline that was stopped %s', (_, stopped) => {
    const ended: string[] = [];
    const { manager } = states({ collect: { source: () => of(event(1)) }, forward: sink }, (manager) => {
      stopped(manager);
      manager.start('main');
      manager
        .stop('main')
        .subscribe({ next: () => ended.push('stopped'), complete: () => ended.push('complete') });
      manager.start('main');
    });
    expect(ended).toEqual(['stopped', 'complete']);
    expect(manager.states().main).toMatchObject({ state: 'completed' });
  });

  it('tells of a failure during a stop', () => {
    const { logger, seen } = states(
      {
        collect: { source: () => concat(of(event(1)), timer(10).pipe(concatMap(failing))) },
        forward: { out: () => timer(100) },
      },
      (manager) =>
        timer(50)
          .pipe(concatMap(() => manager.stop()))
          .subscribe(),
    );
    expect(seen.at(-1)).toBe('100 stopped');
    expect(logger.lines).toContain(
      'error main: stopped, and failed meanwhile: collector source: the source is gone',
    );
  });

  it('resets the failure count when it is started again', () => {
    const { manager } = states(
      { collect: { source: failing }, forward: sink, pipeline: { restart: true, max_restarts: 4 } },
      (manager) => timer(HOUR).subscribe(() => manager.start('main')),
    );
    expect(manager.stats().main?.collected).toBe(0);
    expect(manager.states().main).toMatchObject({ state: 'failed', failures: 5 });
  });
});
