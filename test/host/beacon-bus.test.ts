import { describe, expect, it, jest } from '@jest/globals';
import { type ObservableInput, of, throwError } from 'rxjs';
import { BeaconBus, type BeaconBusOptions } from '../../src/host/beacon-bus.ts';
import type { ConfiguredBeacon, Reader, Reading } from '../../src/host/built-in-beacons.ts';
import { silentLogger } from '../../src/sdk/context.ts';
import type { HostEvent } from '../../src/sdk/events.ts';
import { marbles } from '../support/marbles.ts';

const reading = (value: unknown): Reading => ({ tail: ['sample'], data: { value } });

/** A beacon in virtual time: one frame is a millisecond. */
function beacon(name: string, interval: number, ...readers: Reader[]): ConfiguredBeacon {
  return { name, interval: interval / 1000, readers: () => readers };
}

function busOf(beacons: ConfiguredBeacon[], options: Partial<BeaconBusOptions> = {}): BeaconBus {
  return new BeaconBus({ id: 'web-1', beacons, once: false, logger: silentLogger, ...options });
}

const event = (name: string, value: unknown, time: number): HostEvent => {
  const stamp = new Date(time).toISOString();
  return {
    tag: `host/beacon/web-1/${name}/sample`,
    stamp,
    data: { value },
    raw_data: { id: 'web-1', stamp, value },
  };
};

/** A counter: each reading is one more. */
function counter(): Reader & { calls: () => number } {
  let calls = 0;
  const read = () => of([reading(++calls)]);
  return Object.assign(read, { calls: () => calls });
}

describe('BeaconBus', () => {
  it('publishes a reading at once and then every interval', () => {
    marbles(({ expectObservable }) => {
      const unsubscription = '---------!';
      const expected = '      a---b---c-';
      expectObservable(busOf([beacon('load', 4, counter())]).events(['**']), unsubscription).toBe(expected, {
        a: event('load', 1, 0),
        b: event('load', 2, 4),
        c: event('load', 3, 8),
      });
    });
  });

  it('never overlaps: a slow reading delays the next', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow = cold('     ---(r|)', { r: [reading('slow')] });
      const unsubscription = '--------!';
      const expected = '      ---a---b-';
      const subscriptions = ['^--!', '----^--!'];
      const bus = busOf([beacon('load', 2, () => slow)]);
      expectObservable(bus.events(['**']), unsubscription).toBe(expected, {
        a: event('load', 'slow', 3),
        b: event('load', 'slow', 7),
      });
      expectSubscriptions(slow.subscriptions).toBe(subscriptions);
    });
  });

  it('reads once for all subscribers, only while there are any, and anew after that', () => {
    const read = counter();
    marbles(({ expectObservable }) => {
      const event$ = busOf([beacon('load', 2, read)]).events(['**']);
      const values = {
        a: event('load', 1, 0),
        b: event('load', 2, 2),
        c: event('load', 3, 4),
        d: event('load', 4, 8),
      };
      expectObservable(event$, '^--!           ').toBe('a-b------', values);
      expectObservable(event$, '-^----!        ').toBe('--b-c----', values);
      expectObservable(event$, '--------^!     ').toBe('--------d', values);
    });
    expect(read.calls()).toBe(4);
  });

  it('begins anew with what it remembers when all have left', () => {
    let runs = 0;
    const remembering: ConfiguredBeacon = {
      name: 'load',
      interval: 0.002,
      readers: () => {
        const run = ++runs;
        return [() => of([reading(run)])];
      },
    };
    marbles(({ expectObservable }) => {
      const event$ = busOf([remembering]).events(['**']);
      expectObservable(event$, '^!   ').toBe('a----', { a: event('load', 1, 0) });
      expectObservable(event$, '----^!').toBe('----b', { b: event('load', 2, 4) });
    });
  });

  it('reads no beacon that nobody asked for', () => {
    const [load, files] = [counter(), counter()];
    marbles(({ expectObservable }) => {
      const bus = busOf([beacon('load', 2, load), beacon('files', 2, files)]);
      expectObservable(bus.events(['host/beacon/*/load/**']), '-!').toBe('a', { a: event('load', 1, 0) });
    });
    expect([load.calls(), files.calls()]).toEqual([1, 0]);
  });

  it('leaves out events whose tag does not match', () => {
    marbles(({ expectObservable }) => {
      const bus = busOf([beacon('load', 2, counter())]);
      expectObservable(bus.events(['host/beacon/*/load/other']), '----!').toBe('----');
    });
  });

  it('with once, reads every beacon once and completes', () => {
    marbles(({ cold, expectObservable }) => {
      const slow = cold('--(r|)', { r: [reading('slow')] });
      const bus = busOf([beacon('load', 1, counter()), beacon('disk', 1, () => slow)], { once: true });
      const values = { a: event('load', 1, 0), b: event('disk', 'slow', 2) };
      expectObservable(bus.events(['**'])).toBe('a-(b|)', values);
      expectObservable(bus.events(['**/disk/**'])).toBe('--(b|)', values);
      expectObservable(bus.events([])).toBe('|');
    });
  });

  it('without beacons never ends, and says why nothing comes', () => {
    const warn = jest.fn();
    marbles(({ expectObservable }) => {
      const bus = busOf([], { logger: { ...silentLogger, warn } });
      expectObservable(bus.events(['host/beacon/*/load/**']), '9s !').toBe('-');
    });
    expect(warn.mock.calls).toEqual([
      ['no beacon of this host publishes host/beacon/*/load/**; configure one in host_config.beacons'],
    ]);
  });

  it.each<[string, () => ObservableInput<readonly Reading[]>]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['errors', () => throwError(() => new Error('secret'))],
  ])('goes on when a reading %s, and logs it without flooding', (_, failing) => {
    const warn = jest.fn();
    marbles(({ expectObservable }) => {
      const bus = busOf([beacon('load', 1, failing, counter()), beacon('disk', 5, counter())], {
        logger: { ...silentLogger, warn },
      });
      expectObservable(bus.events(['**/load/**']), '----!').toBe('abcd', {
        a: event('load', 1, 0),
        b: event('load', 2, 1),
        c: event('load', 3, 2),
        d: event('load', 4, 3),
      });
      expectObservable(bus.events(['**/disk/**']), '----!').toBe('a', { a: event('disk', 1, 0) });
    });
    expect(warn).toHaveBeenCalledTimes(3);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^the beacon load could not be read: Error /);
    expect(JSON.stringify(warn.mock.calls)).not.toContain('secret');
  });

  it('logs a failure again after a success, which is logged too', () => {
    const warn = jest.fn();
    const info = jest.fn();
    let calls = 0;
    const flaky = () => (++calls % 2 === 0 ? of([]) : throwError(() => new Error('x')));
    marbles(({ expectObservable }) => {
      const bus = busOf([beacon('load', 1, flaky)], { logger: { ...silentLogger, warn, info } });
      expectObservable(bus.events(['**']), '19ms !').toBe('-');
    });
    expect(warn).toHaveBeenCalledTimes(10);
    expect(info.mock.calls.at(-1)).toEqual(['the beacon load can be read again, after 1 failure']);
  });
});
