import { describe, expect, it } from '@jest/globals';
import { NEVER, Subject, type Subscription } from 'rxjs';
import { kafkaCollector } from '../../../plugins/collect/kafka.ts';
import { KafkaError } from '../../../plugins/kafka/client.ts';
import type { Logger, PipelineRunContext } from '../../../src/sdk/context.ts';
import { silentLogger } from '../../../src/sdk/context.ts';
import type { EventBatch, Outcome } from '../../../src/sdk/event-batch.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeKafka } from '../../support/fake-kafka.ts';

const eventText = (n: number) => `{"timestamp":"2026-01-01T00:00:00.000Z","data":{"n":${n}}}`;

/** A run of the collector. Batches are acknowledged by the test. */
function run(
  fields: object = {},
  kafka = new FakeKafka(),
  overrides: Partial<PipelineRunContext> = {},
  batches: EventBatch[] = [],
) {
  const plugin = kafkaCollector(kafka.join);
  const all = { plugin: 'kafka', brokers: 'localhost', topics: 'logs', group: 'readers', ...fields };
  const parsed = plugin.get_config_schema().safeParse(all);
  if (!parsed.success) throw new Error(JSON.stringify(parsed.error.issues));
  const ended = new AbortController();
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const logger: Logger = { ...silentLogger, error: log, warn: log, info: log };
  const ctx = testContext(parsed.data as { plugin: string }, { ended: ended.signal, logger, ...overrides });
  const state = { isComplete: false, error: undefined as Error | undefined };
  const subscription = (
    plugin.collect({ ctx: ctx as never }) as unknown as {
      subscribe(observer: object): Subscription;
    }
  ).subscribe({
    next: (batch: EventBatch) => void batches.push(batch),
    error: (error: Error) => {
      state.error = error;
    },
    complete: () => {
      state.isComplete = true;
    },
  });
  const numbers = () => batches.flatMap(({ events }) => events.map(({ data }) => data.n ?? data.line));
  const acknowledge = (outcome: Outcome = 'forwarded') => {
    for (const batch of batches.splice(0)) batch.acknowledge?.(outcome);
  };
  const end = () => {
    subscription.unsubscribe();
    ended.abort();
  };
  return { kafka, batches, state, numbers, acknowledge, end, lines };
}

function filled(count: number, partitions = 1): FakeKafka {
  const kafka = new FakeKafka();
  for (let n = 0; n < count; n++) kafka.put(eventText(n), n % partitions);
  return kafka;
}

const committed = (kafka: FakeKafka) =>
  Object.fromEntries([...kafka.committed].map(([name, at]) => [name, Number(at)]));
/** The offsets that are committed from now on. */
function commitsOf(kafka: FakeKafka): bigint[] {
  const commits: bigint[] = [];
  const set = kafka.committed.set.bind(kafka.committed);
  kafka.committed.set = (name, offset) => {
    commits.push(offset);
    return set(name, offset);
  };
  return commits;
}
const turns = async (count = 20) => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
};

describe('offsets', () => {
  it('are committed after the last acknowledged event of each partition', async () => {
    const { kafka, batches, numbers, end } = run({}, filled(10, 2));
    await eventually(() => numbers().length === 10);
    // A batch holds events of one partition.
    const [first] = batches;
    first?.acknowledge?.('forwarded');
    await eventually(() => Object.values(committed(kafka)).some((offset) => offset === 5));
    expect(Object.values(committed(kafka)).sort()).toEqual([0, 5]);
    end();
  });

  it.each(['forwarded', 'dropped', 'dead_lettered'] as const)('go on after %s', async (outcome) => {
    const { kafka, numbers, acknowledge, end } = run({}, filled(3));
    await eventually(() => numbers().length === 3);
    acknowledge(outcome);
    await eventually(() => committed(kafka)['logs[0]'] === 3);
    end();
  });

  it('are committed at the end of a run, when what was emitted has been acknowledged', async () => {
    const { kafka, numbers, acknowledge, end } = run({}, filled(3));
    await eventually(() => numbers().length === 3);
    acknowledge();
    end();
    await eventually(() => committed(kafka)['logs[0]'] === 3);
  });

  it('of a partition that was taken away are not committed', async () => {
    const { kafka, numbers, acknowledge, batches, end } = run({}, filled(10, 2));
    await eventually(() => numbers().length === 10);
    await eventually(() => kafka.committed.size === 2);
    kafka.assign([1]);
    const before = batches.length;
    acknowledge();
    await eventually(() => batches.length > 0);
    expect(before).toBe(2);
    // What is still assigned is read again from the committed offset, because the member may have lost it in between.
    await turns();
    expect(committed(kafka)['logs[0]']).toBe(0);
    acknowledge();
    await eventually(() => committed(kafka)['logs[1]'] === 5);
    expect(committed(kafka)['logs[0]']).toBe(0);
    end();
  });

  it('of a partition that stays over a rebalance are committed, and nothing of it is read again', async () => {
    const { kafka, numbers, acknowledge, end } = run({}, filled(10, 2));
    await eventually(() => numbers().length === 10);
    kafka.assign([0], true);
    acknowledge();
    await eventually(() => committed(kafka)['logs[0]'] === 5);
    expect(committed(kafka)['logs[1]']).not.toBe(5);
    expect(numbers()).toEqual([]);
    end();
  });

  it('are committed later if that fails', async () => {
    const { kafka, numbers, acknowledge, lines, end } = run({}, filled(3));
    kafka.refusesCommits = true;
    await eventually(() => numbers().length === 3);
    acknowledge();
    await eventually(() => lines.length > 0);
    kafka.refusesCommits = false;
    await eventually(() => committed(kafka)['logs[0]'] === 3);
    end();
  });

  it('where a new group starts are committed at once', async () => {
    const { kafka, numbers, end } = run({}, filled(3));
    await eventually(() => numbers().length === 3);
    await eventually(() => committed(kafka)['logs[0]'] === 0);
    end();
  });

  it('whose records were removed are followed by the first record that is there', async () => {
    const kafka = filled(5);
    kafka.committed.set('logs[0]', 1n);
    kafka.log.get('logs[0]')?.splice(0, 3);
    const commits = commitsOf(kafka);
    const { numbers, acknowledge, lines, end } = run({}, kafka);
    await eventually(() => numbers().length === 2);
    expect(numbers()).toEqual([3, 4]);
    expect(lines).toEqual([
      expect.stringMatching(/partition 0 of the topic logs: 2 records \(from 1 on\) are gone.* at record 3$/),
    ]);
    acknowledge();
    await eventually(() => committed(kafka)['logs[0]'] === 5);
    expect(Math.min(...commits.map(Number))).toBeGreaterThanOrEqual(3);
    end();
  });

  it('whose records are removed in the middle of a run are followed by the first record that is there', async () => {
    const { kafka, numbers, acknowledge, lines, end } = run({}, filled(10, 2));
    await eventually(() => numbers().length === 10);
    const commits = commitsOf(kafka);
    const log = kafka.log.get('logs[0]') ?? [];
    log.push({ ...(log[0] as (typeof log)[0]), offset: 20n });
    log.splice(0, 5);
    // The first partition has an error, the second one has not.
    kafka.put(eventText(10), 1);
    await eventually(() => numbers().length === 12);
    expect(lines).toEqual([expect.stringMatching(/15 records \(from 5 on\) are gone.* at record 20$/)]);
    acknowledge();
    await eventually(() => committed(kafka)['logs[0]'] === 21 && committed(kafka)['logs[1]'] === 6);
    expect(commits.every((offset) => offset >= 0n)).toBe(true);
    end();
  });

  it('after the end, as of a topic that was created again, are followed by the first record', async () => {
    const kafka = filled(3);
    kafka.committed.set('logs[0]', 9n);
    const { numbers, acknowledge, lines, end } = run({}, kafka);
    await eventually(() => numbers().length === 3);
    expect(lines).toEqual([expect.stringMatching(/record 9 is after the last one.* at record 0$/)]);
    acknowledge();
    await eventually(() => committed(kafka)['logs[0]'] === 3);
    end();
  });

  it('whose records were all removed are followed by what comes next', async () => {
    const kafka = filled(3);
    kafka.committed.set('logs[0]', 1n);
    kafka.log.set('logs[0]', [{ offset: 7n, timestamp: 0, key: null, value: null, headers: [] }]);
    const { numbers, acknowledge, end } = run({}, kafka);
    await eventually(() => committed(kafka)['logs[0]'] === 8);
    kafka.put(eventText(8));
    await eventually(() => numbers().length === 1);
    acknowledge();
    await eventually(() => committed(kafka)['logs[0]'] === 9);
    end();
  });
});

describe('backpressure', () => {
  it('emits at most what the window has room for', async () => {
    const room$ = new Subject<number>();
    const inFlight = () => batches.reduce((sum, { size }) => sum + size, 0);
    const demand = {
      get room() {
        return 5 - inFlight();
      },
      room$,
    };
    const batches: EventBatch[] = [];
    const { kafka, numbers, end } = run({}, filled(50), { demand }, batches);
    const seen: unknown[] = [];
    while (seen.length < 50) {
      await eventually(() => numbers().length > 0);
      await turns();
      expect(numbers().length).toBeLessThanOrEqual(5);
      seen.push(...numbers());
      for (const batch of batches.splice(0)) batch.acknowledge?.('forwarded');
      room$.next(5);
    }
    expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => n));
    await eventually(() => committed(kafka)['logs[0]'] === 50);
    end();
  });
});

describe('what waits to be emitted', () => {
  const header = [Buffer.from('name'), Buffer.alloc(1024)] as const;

  it.each([
    ['without values', null, {}, 30_000],
    ['with small values', '{}', {}, 30_000],
    ['with large keys', null, { key: Buffer.alloc(1024) }, 5000],
    ['with large headers', null, { headers: [header, header] }, 3000],
  ])('is limited for records %s', async (_name, value, more, most) => {
    const kafka = new FakeKafka();
    kafka.mostRecords = 500;
    for (let n = 0; n < 60_000; n++) kafka.put(value, 0, more);
    const { end } = run({}, kafka, { demand: { room: 0, room$: NEVER } });
    await eventually(() => kafka.fetched >= 1000);
    for (let before = -1; before < kafka.fetched; await turns()) before = kafka.fetched;
    expect(kafka.fetched).toBeLessThan(most);
    end();
  });
});

describe('events that could not be delivered for now', () => {
  it('are read again with all after them, and not committed', async () => {
    const { kafka, numbers, acknowledge, lines, end } = run({}, filled(3));
    await eventually(() => numbers().length === 3);
    acknowledge('failed');
    expect(lines).toEqual([
      expect.stringMatching(/record 0 of partition 0 .*read again from there in 1 s \(failures: 1\)$/),
    ]);
    await eventually(() => numbers().length === 3);
    expect(committed(kafka)['logs[0]']).toBe(0);
    acknowledge();
    await eventually(() => committed(kafka)['logs[0]'] === 3);
    end();
  });

  it('fail the run with --once', async () => {
    const { numbers, acknowledge, state } = run({}, filled(3), { once: true });
    await eventually(() => numbers().length === 3);
    acknowledge('failed');
    expect(state.error?.message).toMatch(/it is not committed\. Configure a dead letter$/);
  });
});

describe('events that failed for good', () => {
  it.each([[false], [true]])(
    'are committed, so that they do not hold back what follows: once %s',
    async (once) => {
      const { kafka, numbers, acknowledge, lines, state, end } = run({}, filled(3), { once });
      await eventually(() => numbers().length === 3);
      acknowledge('refused');
      end();
      await eventually(() => committed(kafka)['logs[0]'] === 3);
      expect([lines, state.error]).toEqual([[], undefined]);
    },
  );
});

describe('a record', () => {
  const refusals = (batches: readonly EventBatch[]) => batches.filter(({ refusal }) => refusal !== undefined);

  it.each([
    ['events', '{"n":1}', /no object `data`/],
    ['events', '{"data":{}}', /no ISO 8601 `timestamp`/],
    ['events', 'secret', /not JSON$/],
    ['json', '[1]', /not a JSON object$/],
    ['json', '{"n":1}\n{"n":2}', /not JSON$/],
    ['lines', Buffer.from([0xff, 0xfe]), /not UTF-8$/],
    ['lines', 'x'.repeat(2000), /2000 bytes, above `max_message_bytes` \(1024\)$/],
  ])(
    'that is not read with format %s, such as %j, goes to the dead letter alone',
    async (format, value, message) => {
      const kafka = new FakeKafka();
      const good = format === 'lines' ? 'a line' : eventText(0);
      for (const text of [good, value, good]) kafka.put(text as string);
      const { batches, lines, end } = run({ format, max_message_bytes: 1024 }, kafka);
      await eventually(() => batches.length === 3);
      const [refused] = refusals(batches);
      expect((refused?.refusal as Error | undefined)?.message).toMatch(message);
      expect((refused?.refusal as Error | undefined)?.message).not.toContain('secret');
      expect(refused?.events[0]?.data).toMatchObject({ topic: 'logs', partition: 0, offset: 1 });
      for (const batch of batches.splice(0))
        batch.acknowledge?.(batch.refusal ? 'dead_lettered' : 'forwarded');
      await eventually(() => committed(kafka)['logs[0]'] === 3);
      expect(lines).toEqual([]);
      end();
    },
  );

  it('that cannot be read stays where it is without a dead letter', async () => {
    const kafka = new FakeKafka();
    kafka.put(eventText(0));
    kafka.put('{');
    kafka.put(eventText(2));
    const { batches, lines, end } = run({}, kafka);
    await eventually(() => batches.length === 3);
    for (const batch of batches.splice(0)) batch.acknowledge?.(batch.refusal ? 'failed' : 'forwarded');
    await eventually(() => committed(kafka)['logs[0]'] === 1);
    expect(lines[0]).toMatch(
      /record 1 .* cannot be read: the record is not JSON; .* Check `format` \(events\)/,
    );
    end();
  });

  it('of a forwarder keeps its bytes', async () => {
    const { batches, end } = run({}, filled(3));
    await eventually(() => batches.length > 0);
    expect(batches[0]?.rows.prefersJson).toBe(true);
    expect(batches[0]?.rows.toJsonLines().toString()).toBe(
      [0, 1, 2].map((n) => `${eventText(n)}\n`).join(''),
    );
    end();
  });

  it('without a value makes no event, or one with its metadata', async () => {
    const kafka = new FakeKafka();
    kafka.put(null, 0, { key: Buffer.from('k'), timestamp: 1000 });
    const plain = run({ format: 'json' }, kafka, { once: true });
    await eventually(() => plain.state.isComplete);
    expect(plain.batches).toEqual([]);
    plain.end();
    await eventually(() => committed(kafka)['logs[0]'] === 1);
    kafka.committed.clear();
    const headers = [[Buffer.from('a'), Buffer.from([0xff])] as const];
    kafka.put('{"n":1,"kafka":2}', 0, { headers, timestamp: 2000 });
    const described = run({ format: 'json', metadata: 'kafka' }, kafka);
    await eventually(() => described.numbers().length === 2);
    const all = { topic: 'logs', partition: 0 };
    const [one, two] = ['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:02.000Z'];
    expect(described.batches.flatMap(({ events }) => events)).toEqual([
      { timestamp: one, data: { kafka: { ...all, offset: 0, key: 'k', headers: {}, timestamp: one } } },
      {
        timestamp: two,
        data: { n: 1, kafka: { ...all, offset: 1, key: null, headers: { a: '/w==' }, timestamp: two } },
      },
    ]);
    described.end();
  });

  it('of text is a line, also if it has several', async () => {
    const kafka = new FakeKafka();
    for (const text of ['one\n', 'two\r\n', 'Error\n  at here']) kafka.put(text);
    const { numbers, batches, end } = run({ format: 'lines' }, kafka);
    await eventually(() => numbers().length === 3);
    expect(numbers()).toEqual(['one', 'two', 'Error\n  at here']);
    expect(batches[0]?.events[0]?.data.source).toBe('logs');
    end();
  });
});

describe('a run', () => {
  it('with --once completes when all that was there is acknowledged', async () => {
    const { numbers, acknowledge, state } = run({}, filled(3), { once: true });
    await eventually(() => numbers().length === 3);
    await turns();
    expect(state.isComplete).toBe(false);
    acknowledge();
    await eventually(() => state.isComplete);
  });

  it('with --once completes at once if the group gives it nothing', async () => {
    const { state } = run({}, new FakeKafka(), { once: true });
    await eventually(() => state.isComplete);
  });

  it('with --once does not complete between two memberships', async () => {
    const room$ = new Subject<number>();
    const demand = { room: 0, room$ };
    const { kafka, numbers, acknowledge, state } = run({}, filled(3), { once: true, demand });
    await eventually(() => kafka.fetched === 3);
    await turns();
    kafka.lose(new KafkaError('the group readers was left', 'REBALANCE_IN_PROGRESS'));
    room$.next(0);
    await turns();
    expect(state).toEqual({ isComplete: false, error: undefined });
    demand.room = 10;
    await eventually(() => numbers().length === 3);
    acknowledge();
    await eventually(() => state.isComplete);
    expect(kafka.members).toBe(2);
  });

  it('joins again when it is no longer a member, and reads what is not committed again', async () => {
    const { kafka, numbers, lines, batches, end } = run({}, filled(3));
    await eventually(() => numbers().length === 3);
    batches.length = 0;
    kafka.lose(
      new KafkaError(
        'the group readers was left: the server answered UNKNOWN_MEMBER_ID',
        'UNKNOWN_MEMBER_ID',
      ),
    );
    await eventually(() => numbers().length === 3);
    expect(kafka.members).toBe(2);
    expect(lines[0]).toMatch(/UNKNOWN_MEMBER_ID; trying again$/);
    end();
  });

  it('fails without the client', async () => {
    const kafka = new FakeKafka();
    const missing = Object.assign(new Error('install it'), { fatal: true });
    kafka.join = () => Promise.reject(missing);
    const { state } = run({}, kafka);
    await eventually(() => state.error !== undefined);
    expect(state.error).toBe(missing);
  });
});
