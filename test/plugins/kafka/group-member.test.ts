import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { type AssignedPartition, joinBy } from '../../../plugins/kafka/group-member.ts';

class FakeConnections extends EventEmitter {
  close = async () => {};
}

/** The client, whose answers about committed offsets the test gives. */
class FakeConsumer extends EventEmitter {
  readonly connections = new FakeConnections();
  readonly topics = { trackAll: () => {} };
  assignments: { topic: string; partitions: number[] }[] = [];
  readonly answers: { resolve: (offsets: Map<string, bigint[]>) => void; reject: (error: Error) => void }[] =
    [];
  readonly start = 40n;
  asked: unknown;

  metadata = async () => ({ topics: new Map() });
  joinGroup = async () => {};
  listCommittedOffsets = () =>
    new Promise((resolve, reject) => void this.answers.push({ resolve, reject } as never));
  listOffsets = async (asked: unknown) => {
    this.asked = asked;
    return new Map([['logs', [this.start, this.start, this.start]]]);
  };
  close = (_force: boolean, done: () => void) => done();

  /** The group gives the member these partitions of `logs`. */
  balance(generationId: number, partitions: number[], memberId = 'me'): void {
    this.assignments = [{ topic: 'logs', partitions }];
    this.emit('consumer:group:join', { memberId, generationId });
  }

  /** Answers the request of a rebalance, counted from 0. */
  async answer(request: number, error?: Error): Promise<void> {
    const { resolve, reject } = this.answers[request] ?? {};
    if (error === undefined) resolve?.(new Map([['logs', [5n, 5n, 5n]]]));
    else reject?.(error);
    for (let n = 0; n < 5; n++) await new Promise((done) => setImmediate(done));
  }
}

async function joined() {
  const consumer = new FakeConsumer();
  const client = {
    Consumer: function Consumer() {
      return consumer;
    },
    ConnectionPool: FakeConnections,
  };
  const reports: [partitions: number[], continues: boolean][] = [];
  const lost: unknown[] = [];
  const events = {
    assigned: (partitions: readonly AssignedPartition[], continues: boolean) =>
      void reports.push([partitions.map(({ partition }) => partition), continues]),
    lost: (error: unknown) => void lost.push(error),
  };
  const settings = { brokers: ['localhost'], topics: ['logs'], group: 'readers', from: 'latest' as const };
  const join = joinBy(async () => client as never);
  return { consumer, reports, lost, member: await join(settings, events, true) };
}

describe('partitions of a rebalance', () => {
  it('are not reported once those of the next one are known', async () => {
    const { consumer, reports } = await joined();
    consumer.balance(1, [0, 1]);
    consumer.balance(2, [2]);
    await consumer.answer(1);
    await consumer.answer(0);
    expect(reports).toEqual([[[2], false]]);
  });

  it('are not reported once there is a next one', async () => {
    const { consumer, reports } = await joined();
    consumer.balance(1, [0, 1]);
    consumer.balance(2, [2]);
    await consumer.answer(0);
    expect(reports).toEqual([]);
    await consumer.answer(1);
    expect(reports).toEqual([[[2], false]]);
  });

  it('continue what was reported for the one before', async () => {
    const { consumer, reports } = await joined();
    consumer.balance(1, [0, 1]);
    await consumer.answer(0);
    consumer.balance(2, [0]);
    await consumer.answer(1);
    expect(reports.at(-1)).toEqual([[0], true]);
    // The third one takes the partition away, which is never reported.
    consumer.balance(3, [1]);
    consumer.balance(4, [0]);
    await consumer.answer(2);
    await consumer.answer(3);
    expect(reports.slice(2)).toEqual([[[0], false]]);
  });

  it('do not continue those of another member', async () => {
    const { consumer, reports } = await joined();
    consumer.balance(1, [0]);
    await consumer.answer(0);
    consumer.balance(2, [0], 'somebody');
    await consumer.answer(1);
    expect(reports.at(-1)).toEqual([[0], false]);
  });

  it('may be none, which does not wait for the one before', async () => {
    const { consumer, reports } = await joined();
    consumer.balance(1, [0]);
    consumer.balance(2, []);
    await consumer.answer(0);
    expect(reports).toEqual([[[], false]]);
  });

  it('lose the membership if their offsets are not known, unless there is a next one', async () => {
    const { consumer, reports, lost } = await joined();
    consumer.balance(1, [0]);
    consumer.balance(2, [0]);
    await consumer.answer(0, new Error('no answer'));
    expect(lost).toEqual([]);
    await consumer.answer(1, new Error('no answer'));
    expect(lost).toHaveLength(1);
    expect(reports).toEqual([]);
  });
});

describe('the starts of partitions', () => {
  it('are asked for all at once', async () => {
    const { consumer, member } = await joined();
    const gone = [2, 0].map((partition) => ({ topic: 'logs', partition, offset: 9n }));
    expect(await member.starts(gone)).toEqual(gone.map((position) => ({ ...position, offset: 40n })));
    expect(consumer.asked).toEqual({ topics: ['logs'], partitions: { logs: [2, 0] }, timestamp: -2n });
  });
});
