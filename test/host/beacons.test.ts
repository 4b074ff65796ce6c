import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  elementAt,
  firstValueFrom,
  from,
  lastValueFrom,
  ReplaySubject,
  type Subscription,
  toArray,
} from 'rxjs';
import { file_watch, processChange, type Reading } from '../../src/host/built-in-beacons.ts';
import { defaultHost } from '../../src/host/standalone-host.ts';
import { silentLogger } from '../../src/sdk/context.ts';
import { HostEvent } from '../../src/sdk/events.ts';

let folder: string;
let subscription: Subscription | undefined;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-beacons-'));
});
afterEach(() => {
  subscription?.unsubscribe();
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const number = expect.any(Number);

/** One round of a beacon on this machine; its warnings go to the list. */
function readOnce(beacons: Record<string, unknown>, warnings: string[] = []): Promise<HostEvent[]> {
  const logger = { ...silentLogger, warn: (message: string) => warnings.push(message) };
  const host = defaultHost({ id: 'here', beacons }, { once: true, logger });
  return lastValueFrom(host.events(['**']).pipe(toArray()));
}

describe('the beacons on this machine', () => {
  it('loadavg publishes a host event', async () => {
    const events = await readOnce({ loadavg: null });
    const [event] = events;
    const data = { load1: number, load5: number, load15: number, cpus: number };
    expect(events).toEqual([
      {
        tag: 'host/beacon/here/loadavg/sample',
        stamp: expect.stringMatching(/^\d{4}-.*Z$/),
        data,
        raw_data: { id: 'here', stamp: event?.stamp, ...event?.data },
      },
    ]);
    expect(HostEvent.parse(event)).toEqual(event);
    expect(Object.isFrozen(event)).toBe(true);
  });

  it('memusage publishes bytes', async () => {
    expect(await readOnce({ memusage: {} })).toMatchObject([
      { tag: 'host/beacon/here/memusage/sample', data: { total: number, available: number, used: number } },
    ]);
  });

  it('diskusage publishes each path, and logs one that cannot be read', async () => {
    const warnings: string[] = [];
    const events = await readOnce({ diskusage: { paths: [folder, '/no/such/place', '/'] } }, warnings);
    expect(events.map(({ data }) => data.path).toSorted()).toEqual(['/', folder]);
    expect(events.map(({ tag }) => tag)).toContain('host/beacon/here/diskusage/%2F/sample');
    expect(warnings).toEqual([expect.stringMatching(/^the beacon diskusage could not be read: /)]);
  });

  it('diskusage publishes all mounted file systems without paths', async () => {
    const events = await readOnce({ diskusage: {} });
    expect(events.length).toBeGreaterThan(0);
    expect(events[0]?.data).toMatchObject({ path: expect.any(String), size: number });
  });

  it('network publishes the counters of interfaces', async () => {
    const all = await readOnce({ network: {} });
    const lo = all.find(({ tag }) => tag === 'host/beacon/here/network/lo/sample');
    expect(lo?.data).toMatchObject({ interface: 'lo', rx_bytes: number, tx_bytes: number });
    const some = await readOnce({ network: { interfaces: ['lo'] } });
    expect(some.map(({ data }) => data.interface)).toEqual(['lo']);
  });

  it('network tells of an interface that does not exist', async () => {
    const warnings: string[] = [];
    expect(await readOnce({ network: { interfaces: ['lo', 'nope0'] } }, warnings)).toHaveLength(1);
    expect(warnings[0]).toMatch(/there is no network interface nope0; there are .*\blo\b/);
  });

  it('process tells of a real process that appears and goes', async () => {
    // A program with a name that no other test run has.
    const name = `mill-${process.pid}`;
    const program = join(folder, name);
    copyFileSync('/bin/sleep', program);

    const seen = new ReplaySubject<HostEvent>();
    const host = defaultHost({ id: 'here', beacons: { process: { names: [name], interval: 0.05 } } });
    subscription = host.events(['host/beacon/*/process/**']).subscribe(seen);
    const nth = (index: number) => firstValueFrom(seen.pipe(elementAt(index)));

    const tag = `host/beacon/here/process/${name}`;
    expect(await nth(0)).toMatchObject({ tag: `${tag}/absent`, data: { name, state: 'absent', pids: [] } });
    child = spawn(program, ['60']);
    expect(await nth(1)).toMatchObject({ tag: `${tag}/started`, data: { pids: [child.pid] } });
    child.kill();
    expect(await nth(2)).toMatchObject({ tag: `${tag}/ended`, data: { pids: [] } });
  });
});

describe('processChange', () => {
  const states = (readings: Reading[]) => readings.map(({ data }) => data.state);

  it.each<[string, number[] | undefined, number[], string[]]>([
    ['absent at first', undefined, [], ['absent']],
    ['running at first', undefined, [1], ['running']],
    ['still absent', [], [], []],
    ['still running', [1, 2], [1, 2], []],
    ['one more', [1], [1, 2], []],
    ['one less', [1, 2], [2], []],
    ['the first appears', [], [1], ['started']],
    ['the last goes', [1, 2], [], ['ended']],
    ['others in place of all', [1, 2], [3], ['ended', 'started']],
  ])('%s', (_, before, pids, expected) => {
    expect(states(processChange('web', before, pids))).toEqual(expected);
  });
});

describe('file_watch', () => {
  /** The rounds of one run, each called when the test says so. */
  function rounds(...paths: string[]): () => Promise<unknown[]> {
    const readers = file_watch.readers({ interval: 1, paths } as never);
    return async () => {
      const readings = await Promise.all(readers.map((read) => lastValueFrom(from(read()))));
      return readings.flat().map(({ tail, data }) => [tail[1], data.size]);
    };
  }

  it('tells when a file is created, modified and deleted', async () => {
    const file = join(folder, 'watched.txt');
    const round = rounds(file);
    expect(await round()).toEqual([]);
    writeFileSync(file, 'one');
    expect(await round()).toEqual([['created', 3]]);
    expect(await round()).toEqual([]);
    writeFileSync(file, 'longer');
    expect(await round()).toEqual([['modified', 6]]);
    rmSync(file);
    expect(await round()).toEqual([['deleted', undefined]]);
    expect(await round()).toEqual([]);
  });

  it('says nothing of what is there at first, and sees a file that takes its place', async () => {
    const [file, other] = [join(folder, 'a'), join(folder, 'b')];
    writeFileSync(file, 'same');
    writeFileSync(other, 'same');
    const round = rounds(file);
    expect(await round()).toEqual([]);
    renameSync(other, file);
    expect(await round()).toEqual([['modified', 4]]);
  });

  it('sees a folder that something is added to, and takes a path below a file as missing', async () => {
    const file = join(folder, 'file');
    const round = rounds(folder, join(file, 'below'));
    expect(await round()).toEqual([]);
    writeFileSync(file, '');
    expect(await round()).toEqual([['modified', expect.any(Number)]]);
  });

  it('publishes the path and the time of the change', async () => {
    const file = join(folder, 'watched.txt');
    const [read] = file_watch.readers({ interval: 1, paths: [file] } as never);
    await lastValueFrom(from(read?.() ?? []));
    writeFileSync(file, 'x');
    expect(await lastValueFrom(from(read?.() ?? []))).toEqual([
      {
        tail: [file, 'created'],
        data: { path: file, change: 'created', size: 1, modified: expect.stringMatching(/^\d{4}-.*Z$/) },
      },
    ]);
  });
});
