import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, timer } from 'rxjs';
import { makeFolder } from '../../operators/internal-files.ts';
import { DiskLog } from '../../src/buffer/disk-log.ts';
import { silentLogger } from '../../src/sdk/context.ts';
import { VirtualMachine } from '../../src/testing/virtual-machine.ts';
import { VirtualTime } from '../../src/testing/virtual-time.ts';

const FOLDER = '/buffer';
const RECORDS = 24;
/** So small that segments are begun and removed, and that writes have to wait. */
const MAX_BYTES = 400;

/** What a process has learned before it ended. */
interface Seen {
  readonly acknowledged: number[];
  readonly read: number[];
  /** The names of the records that it has read, by number. */
  readonly ids: Map<number, string>;
}

/** Writes records, reads and releases them meanwhile, and ends with `end`. */
async function run(first: number, count: number, seen: Seen): Promise<void> {
  await makeFolder(FOLDER, 0o700);
  const log = await DiskLog.open({
    folder: FOLDER,
    maxBytes: MAX_BYTES,
    whenFull: 'wait',
    logger: silentLogger,
    onDropped: () => {},
    onFull: () => {},
  });
  const reading = (async () => {
    for await (const { documents, id, end } of log.read()) {
      const { n } = JSON.parse(documents.toString());
      seen.read.push(n);
      seen.ids.set(n, id);
      await firstValueFrom(timer(20));
      log.release(end);
    }
  })();
  for (let n = first; n < first + count; n++) {
    await log.write(Buffer.from(`{"n":${n}}\n`), 1);
    seen.acknowledged.push(n);
    if (n % 5 === 0) await firstValueFrom(timer(60));
  }
  log.end();
  await reading;
  await log.close();
}

/** Runs a process that crashes after some call that has changed the disk, and then another one. */
async function crashAfter(call: number, kind: 'process' | 'power') {
  const machine = new VirtualMachine();
  const [before, after]: Seen[] = [
    { acknowledged: [], read: [], ids: new Map() },
    { acknowledged: [], read: [], ids: new Map() },
  ];
  const process = (first: number, count: number, seen: Seen) => {
    machine.boot();
    return VirtualTime.runCalls(machine, (time) => {
      let isOver = false;
      machine.onCall = () => {
        if (machine.calls.length !== call) return;
        machine.crash(kind);
        time.forget();
      };
      void run(first, count, seen).then(() => {
        isOver = true;
      });
      return () => isOver;
    });
  };
  try {
    const hasEnded = await process(0, RECORDS, before as Seen);
    const calls = machine.calls.length;
    await process(RECORDS, 2, after as Seen);
    return { hasEnded, calls, before: before as Seen, after: after as Seen };
  } finally {
    machine.shutDown();
  }
}

describe.each(['process', 'power'] as const)('a log on disk whose %s fails after any call', (kind) => {
  it('loses nothing that it has acknowledged, and gives nothing in another order', async () => {
    const { calls } = await crashAfter(Number.POSITIVE_INFINITY, kind);
    expect(calls).toBeGreaterThan(80);
    for (let call = 1; call <= calls; call++) {
      const { hasEnded, before, after } = await crashAfter(call, kind);
      if (hasEnded) break;
      const seen = new Set([...before.read, ...after.read]);
      expect({ call, lost: before.acknowledged.filter((n) => !seen.has(n)) }).toEqual({ call, lost: [] });
      expect(after.read).toEqual([...after.read].sort((a, b) => a - b));
      expect(after.read.slice(-2)).toEqual([RECORDS, RECORDS + 1]);
    }
  });

  it('gives a record that it gives again the same id', async () => {
    const { calls } = await crashAfter(Number.POSITIVE_INFINITY, kind);
    let again = 0;
    for (let call = 1; call <= calls; call++) {
      const { before, after } = await crashAfter(call, kind);
      for (const [n, id] of after.ids) {
        if (!before.ids.has(n)) continue;
        again++;
        expect({ call, n, id }).toEqual({ call, n, id: before.ids.get(n) });
      }
    }
    expect(again).toBeGreaterThan(20);
  });
});

it('repeats after a crash of the process what was released in the last moment, and no more', async () => {
  const { calls } = await crashAfter(Number.POSITIVE_INFINITY, 'process');
  for (let call = 1; call <= calls; call += 7) {
    const { before, after } = await crashAfter(call, 'process');
    expect(after.read.filter((n) => before.read.includes(n)).length).toBeLessThan(8);
  }
});
