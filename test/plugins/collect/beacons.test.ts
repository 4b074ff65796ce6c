import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, map, NEVER, type Observable, toArray } from 'rxjs';
import { BeaconsConfig, checkConfig, collect } from '../../../plugins/collect/beacons.ts';
import { defaultHost } from '../../../src/host/standalone-host.ts';
import type { Host } from '../../../src/sdk/context.ts';
import { BeaconCollectedEvent, type HostEvent } from '../../../src/sdk/events.ts';
import { testContext } from '../../support/context.ts';
import { marbles } from '../../support/marbles.ts';

const STAMP = '2026-01-01T00:00:00.000Z';

const hostEvent = (tag: string): HostEvent => ({
  tag,
  stamp: STAMP,
  data: { value: 1 },
  raw_data: { id: 'web-1', stamp: STAMP, value: 1 },
});

/** A host with a bus of the test's own; `asked` has the patterns of the subscriptions. */
function busHost(event$: Observable<HostEvent>) {
  const asked: (readonly string[])[] = [];
  const events = (patterns: readonly string[]) => {
    asked.push(patterns);
    return event$;
  };
  const host: Host = { id: 'web-1', role: 'test', events, functions: () => [], call: () => NEVER };
  return { host, asked };
}

function run(beacons: string[], host: Host, signal = new AbortController().signal) {
  const config = BeaconsConfig.parse({ plugin: 'beacons', beacons });
  return collect({ ctx: testContext(config, { host, signal }) });
}

describe('beacons collector', () => {
  it('emits one event per beacon event, stamped when it is collected', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const bus = cold('     --a-|', { a: hostEvent('host/beacon/web-1/process/nginx/started') });
      const { host, asked } = busHost(bus);
      const subscription = ' ^---!';
      const expected = '     --a-|';
      expectObservable(run(['process', 'disk*'], host)).toBe(expected, {
        a: {
          timestamp: '1970-01-01T00:00:00.002Z',
          data: { value: 1 },
          beacon: 'process',
          tag: 'host/beacon/web-1/process/nginx/started',
          stamp: STAMP,
          raw_data: { id: 'web-1', stamp: STAMP, value: 1 },
        },
      });
      expectSubscriptions(bus.subscriptions).toBe(subscription);
      expect(asked).toEqual([['host/beacon/*/process/**', 'host/beacon/*/disk*/**']]);
    });
  });

  it.each([
    ['never', '-', '-', '^'],
    ['empty', '|', '|', '(^!)'],
    ['error', '-#', '-#', '^!'],
  ])('follows a bus that is %s', (_, marble, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const bus = cold<HostEvent>(marble);
      expectObservable(run(['*'], busHost(bus).host)).toBe(expected);
      expectSubscriptions(bus.subscriptions).toBe(subscription);
    });
  });

  it('leaves the bus when its part of the run is over', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const collecting = new AbortController();
      const bus = cold<HostEvent>('-');
      cold('                        --a').subscribe(() => collecting.abort());
      const expected = '            --|';
      expectObservable(run(['*'], busHost(bus).host, collecting.signal)).toBe(expected);
      expectSubscriptions(bus.subscriptions).toBe('^-!');
    });
  });

  it('gives each subscriber a copy, so that pipelines do not see each other', () => {
    const shared = hostEvent('host/beacon/web-1/loadavg/sample');
    marbles(({ cold, flush }) => {
      const collected: BeaconCollectedEvent[] = [];
      run(['*'], busHost(cold('a', { a: shared })).host).subscribe((event) => collected.push(event));
      flush();
      expect(collected[0]?.data).not.toBe(shared.data);
      expect(collected[0]?.raw_data).not.toBe(shared.raw_data);
    });
  });

  it('collects the beacons of this machine that its patterns name', async () => {
    const host = defaultHost({ id: 'a/b', beacons: { loadavg: {}, memusage: {} } }, { once: true });
    const events = await firstValueFrom(run(['load*'], host).pipe(toArray()));
    expect(events.map(({ beacon, tag }) => [beacon, tag])).toEqual([
      ['loadavg', 'host/beacon/a%2Fb/loadavg/sample'],
    ]);
    expect(BeaconCollectedEvent.parse(events[0])).toEqual(events[0]);
    const names = run(['*'], host).pipe(
      map(({ beacon }) => beacon),
      toArray(),
    );
    expect((await firstValueFrom(names)).toSorted()).toEqual(['loadavg', 'memusage']);
  });
});

describe('checkConfig', () => {
  const check = (beacons: string[], host?: Host) =>
    checkConfig({ config: BeaconsConfig.parse({ plugin: 'beacons', beacons }), host });

  it('refuses a plain name that the host cannot publish', () => {
    expect(check(['loadavg', 'loadavgg', 'zzz'], defaultHost({}))).toEqual([
      {
        path: ['beacons', 1],
        message:
          'this host has no beacon `loadavgg`; there are `loadavg`, `memusage`, `diskusage`, `network`, `process`, `file_watch`',
        suggestion: 'loadavg',
      },
      { path: ['beacons', 2], message: expect.stringContaining('no beacon `zzz`') },
    ]);
  });

  it('takes patterns, a beacon that is not configured, and what another host may have', () => {
    expect(check(['load*', 'file_watch', '{a,b}', '!(x)'], defaultHost({}))).toEqual([]);
    expect(check(['anything'], busHost(NEVER).host)).toEqual([]);
    expect(check(['anything'])).toEqual([]);
  });
});
