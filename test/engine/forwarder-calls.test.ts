import { describe, expect, it } from '@jest/globals';
import { Batches } from '../../src/engine/batches.ts';
import { PipelineCounters } from '../../src/engine/counters.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { ForwarderCalls } from '../../src/engine/forwarder-calls.ts';
import { Observers } from '../../src/engine/observer.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { EventRows } from '../../src/sdk/rows.ts';

/** Events that are written into the memory of their call, or cannot be. */
function batchesOf(write: (memory: Buffer) => Buffer): Batches {
  const rows = new EventRows(Array.from({ length: 100 }, (_, n) => collectedEvent({ n })));
  Object.assign(rows, { toJsonLines: write });
  return new Batches([{ rows, delivery: new Delivery(rows.size, () => {}) }]);
}

const written = (memory: Buffer) => memory.subarray(0, 10);
const unserialisable = () => {
  throw new Error('no JSON form');
};

/** Which memory each call got, by the order in which it was seen first. */
function setUp(fails = false) {
  const { clock } = new PipelineCounters();
  const seen: ArrayBufferLike[] = [];
  const used: number[] = [];
  const forwardJsonLines = ({ buffer }: Buffer) => {
    if (!seen.includes(buffer)) seen.push(buffer);
    used.push(seen.indexOf(buffer));
    if (fails) throw new Error('no');
  };
  const functions = { forward: () => {}, forwardBatch: undefined, forwardJsonLines };
  const place = { kind: 'forward', name: 'out' } as const;
  const calls = new ForwarderCalls(functions, place, new Observers([]), clock);
  const make = (write: (memory: Buffer) => Buffer) => {
    const call = calls.start(batchesOf(write), 'id');
    try {
      call.make();
      call.succeeded();
    } catch (error) {
      call.failed(error);
    }
  };
  return { make, used };
}

describe('the memory of a call', () => {
  it('is used again after a call that succeeded, also if one whose events have no JSON form came between', () => {
    const { make, used } = setUp();
    make(written);
    make(unserialisable);
    make(unserialisable);
    make(written);
    expect(used).toEqual([0, 0]);
  });

  it('is never used again after a call that failed: the forwarder may still read it', () => {
    const { make, used } = setUp(true);
    make(written);
    make(written);
    expect(used).toEqual([0, 1]);
  });
});
