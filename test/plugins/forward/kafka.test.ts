import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { from, lastValueFrom } from 'rxjs';
import { kafkaCollector } from '../../../plugins/collect/kafka.ts';
import { kafkaForwarder } from '../../../plugins/forward/kafka.ts';
import { KafkaError, kafkaError } from '../../../plugins/kafka/client.ts';
import { murmur2, partitionOf } from '../../../plugins/kafka/murmur2.ts';
import { openWriter } from '../../../plugins/kafka/record-writer.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { PluginError } from '../../../src/sdk/errors.ts';
import { type CollectedEvent, collectedEvent } from '../../../src/sdk/events.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeKafka } from '../../support/fake-kafka.ts';

const AT = '2026-01-01T00:00:00.000Z';
const numbered = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => collectedEvent({ n, ...more }, AT));

/** A forwarder with these fields, and what its calls do. */
function forwarder(fields: object = {}, kafka = new FakeKafka()) {
  const plugin = kafkaForwarder(kafka.open, kafka.openTransactional);
  const parsed = plugin
    .get_config_schema()
    .safeParse({ plugin: 'kafka', brokers: 'localhost', topic: 'logs', ...fields });
  if (!parsed.success) throw new Error(JSON.stringify(parsed.error.issues));
  const run = new AbortController();
  const ctx = testContext(parsed.data as { plugin: string }, {
    ended: run.signal,
  }) as PipelineRunContext<never>;
  const send = (events: readonly CollectedEvent[], id = 'call-1'): Promise<void> =>
    lastValueFrom(from(plugin.forwardBatch?.({ ctx, events, id } as never) as never), {
      defaultValue: undefined,
    });
  const failure = (events: readonly CollectedEvent[], id?: string) =>
    send(events, id).then(
      () => {
        throw new Error('it did not fail');
      },
      (error: PluginError) => error,
    );
  return { kafka, plugin, ctx, send, failure, end: () => run.abort() };
}

const texts = (kafka: FakeKafka) => kafka.stored.map(({ text }) => text);
const numbers = (kafka: FakeKafka) => texts(kafka).map((text) => Number(/"n":(\d+)/.exec(text)?.[1]));
const noAnswer = () => new KafkaError('no answer in time');

describe('a record', () => {
  it.each([
    [{}, `{"timestamp":"${AT}","data":{"n":0,"line":"a\\nb"}}`],
    [{ payload: 'flat' }, `{"timestamp":"${AT}","n":0,"line":"a\\nb"}`],
    [{ payload: 'line' }, 'a\nb'],
  ])('has the event as %j says', async (fields, text) => {
    const { kafka, send } = forwarder(fields);
    await send(numbered(1, { line: 'a\nb' }));
    expect(texts(kafka)).toEqual([text]);
  });

  it.each([
    ['user.id', ['7', undefined, 'x']],
    [{ cel: 'string(data.n)' }, ['0', '1', '2']],
    [{ cel: 'data.?user.?id.orValue(null)' }, ['7', undefined, 'x']],
  ])('has the key that %j gives', async (key, keys) => {
    const { kafka, send } = forwarder({ key });
    kafka.partitions = 1;
    await send(
      [{ user: { id: 7 } }, {}, { user: { id: 'x' } }].map((data, n) => collectedEvent({ n, ...data }, AT)),
    );
    expect(kafka.stored.map((record) => record.key)).toEqual(keys);
  });

  it('goes to the partition that Kafka’s own clients choose for its key', () => {
    const hashes = ['21', 'foobar', 'a-little-bit-long-string', 'a-little-bit-longer-string', 'abc'];
    expect(hashes.map((key) => murmur2(Buffer.from(key)))).toEqual([
      -973932308, -790332482, -985981536, -1486304829, 479470107,
    ]);
    expect(partitionOf(Buffer.from('21'), 10)).toBe((-973932308 & 0x7fffffff) % 10);
  });

  it('goes to one partition with the others of its batch if it has no key, and the next batch to the next one', async () => {
    const { kafka, send } = forwarder();
    for (const id of ['a', 'b', 'c', 'd']) await send(numbered(2), id);
    expect(kafka.stored.map(({ partition }) => partition)).toEqual([0, 0, 1, 1, 2, 2, 0, 0]);
  });

  it('is made of bytes without creating events, as long as nothing is asked of them', () => {
    const bytesOf = (fields: object) => {
      const { plugin, ctx } = forwarder(fields);
      return plugin.forwardJsonLines?.({ ctx } as never);
    };
    expect(bytesOf({})).toBeDefined();
    for (const fields of [{ key: 'n' }, { topic: { cel: '"logs"' } }, { payload: 'flat' }]) {
      expect(bytesOf(fields)).toBeUndefined();
    }
  });
});

describe('the time of a record', () => {
  const YEAR = 365 * 24 * 3600 * 1000;
  const at = (timestamp: string, data: object = {}) => ({ ...collectedEvent({ ...data }, AT), timestamp });
  const timesOf = (kafka: FakeKafka) => kafka.stored.map(({ timestamp }) => timestamp);

  it.each([{}, { payload: 'flat' }, { key: 'n' }])('is that of its event, with %j', async (fields) => {
    const { kafka, send } = forwarder(fields);
    kafka.partitions = 1;
    await send([
      at('2026-01-01T00:00:00.001Z'),
      at('1969-12-31T23:59:59Z'),
      at('2026-01-01T00:00:00.123456Z'),
    ]);
    expect(timesOf(kafka)).toEqual([1_767_225_600_001, -1000, 1_767_225_600_123]);
  });

  it('is that of its event, where no events are created', async () => {
    const { kafka, plugin, ctx } = forwarder();
    const before = Date.now();
    const lines = [
      ...[
        AT,
        AT,
        '2026-01-01T00:00:00.123456Z',
        '2026-01-01T00:00:01Z',
        new Date(before + YEAR).toISOString(),
      ].map((timestamp) => `{"timestamp":"${timestamp}","data":{"line":"2030-01-01T00:00:00Z"}}`),
      '{"data":{"line":"2020-01-01T00:00:00.000Z"},"timestamp":"2026-01-01T00:00:00.000Z"}',
    ];
    const write = plugin.forwardJsonLines?.({ ctx } as never);
    await lastValueFrom(from(write?.(Buffer.from(`${lines.join('\n')}\n`), 'call') as never), {
      defaultValue: undefined,
    });
    const [one, two, three, four, ...others] = timesOf(kafka);
    const start = Date.parse(AT);
    expect([one, two, three, four]).toEqual([start, start, start + 123, start + 1000]);
    // A broker refuses records of the future.
    expect(others).toHaveLength(2);
    for (const time of others) expect(Math.abs((time as number) - before)).toBeLessThan(60_000);
  });

  it('is never in the future, which a broker refuses', async () => {
    const { kafka, send } = forwarder({ key: 'n' });
    const before = Date.now();
    await send([at(new Date(before + YEAR).toISOString())]);
    expect(Math.abs((timesOf(kafka)[0] as number) - before)).toBeLessThan(60_000);
  });
});

describe('a failure', () => {
  it('that says that the records are stored already is none', async () => {
    const { kafka, send } = forwarder();
    kafka.onWrite = (_batch, store) => {
      store();
      throw new KafkaError('refused', 'DUPLICATE_SEQUENCE_NUMBER');
    };
    await send(numbered(3));
    kafka.onWrite = (_batch, store) => store();
    await send(numbered(2), 'call-2');
    expect(numbers(kafka)).toEqual([0, 1, 2, 0, 1]);
    // The client would number the next records as those.
    expect(kafka.sent.map(({ producer }) => producer)).toEqual([0, 1]);
  });

  it.each(['success', 'failure'])(
    'by a timeout of the engine leads to no second producer: the next attempt gets the %s of the first one',
    async (outcome) => {
      const { kafka, plugin, ctx } = forwarder({ concurrency: 2 });
      let answer: () => void = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      let writes = 0;
      kafka.answerTo = async (store) => {
        if (writes++ > 0) return store();
        await answered;
        if (outcome === 'failure') throw noAnswer();
        store();
      };
      const attempt = () =>
        from(plugin.forwardBatch?.({ ctx, events: numbered(3), id: 'call' } as never) as never);
      attempt()
        .subscribe({ error: () => {} })
        .unsubscribe();
      attempt()
        .subscribe({ error: () => {} })
        .unsubscribe();
      await eventually(() => writes === 1);
      const last = lastValueFrom(attempt(), { defaultValue: undefined });
      answer();
      if (outcome === 'failure') {
        await expect(last).rejects.toThrow('no answer in time');
        await lastValueFrom(attempt(), { defaultValue: undefined });
      }
      await last.catch(() => {});
      expect(numbers(kafka)).toEqual([0, 1, 2]);
      expect(kafka.producers).toBe(1);
    },
  );

  it('of another call that was given up does not divide a call from its producer', async () => {
    const { kafka, send, failure } = forwarder({ concurrency: 2 });
    kafka.onWrite = (_batch, store) => {
      store();
      throw noAnswer();
    };
    await failure(numbered(3), 'a');
    await failure(numbered(2), 'given-up');
    kafka.onWrite = (_batch, store) => store();
    await send(numbered(1), 'c');
    await send(numbered(3), 'a');
    expect(numbers(kafka)).toEqual([0, 1, 2, 0, 1, 0]);
    expect(kafka.sent.filter(({ records }) => records.length === 3).map(({ producer }) => producer)).toEqual([
      0, 0,
    ]);
  });

  it('of calls that were given up keeps a few producers only', async () => {
    const { kafka, failure } = forwarder();
    kafka.onWrite = () => {
      throw noAnswer();
    };
    for (let n = 0; n < 10; n++) await failure(numbered(1), `call-${n}`);
    expect(kafka.producers - kafka.closedProducers).toBe(3);
  });

  it('by a timeout of the engine is none if the records are stored before the next attempt', async () => {
    const { kafka, plugin, ctx, send } = forwarder();
    const attempt = from(plugin.forwardBatch?.({ ctx, events: numbered(3), id: 'call-1' } as never) as never);
    attempt.subscribe().unsubscribe();
    await eventually(() => kafka.stored.length === 3);
    await send(numbered(3));
    expect(numbers(kafka)).toEqual([0, 1, 2]);
  });

  it('is tried again with the same batch by the same producer, so that it is stored once', async () => {
    const { kafka, send, failure } = forwarder();
    let calls = 0;
    kafka.onWrite = (_batch, store) => {
      store();
      if (calls++ === 0) throw noAnswer();
    };
    expect(await failure(numbered(5))).toMatchObject({
      message: 'no answer in time',
      failedEvents: undefined,
    });
    await send(numbered(5));
    await send(numbered(5), 'call-2');
    expect(numbers(kafka)).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    expect(new Set(kafka.sent.map(({ producer }) => producer))).toEqual(new Set([0]));
  });

  it('sends only what is left', async () => {
    const { kafka, send, failure } = forwarder({ key: 'n' });
    const seen: number[] = [];
    let isDown = true;
    kafka.onWrite = ({ partition }, store) => {
      if (isDown && seen.length === 1) throw noAnswer();
      seen.push(partition);
      store();
    };
    await failure(numbered(20));
    isDown = false;
    await send(numbered(20));
    expect([...numbers(kafka)].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each(['give up', 'divide'])(
    'never takes other records for a repetition: when the engine does %s',
    async (what) => {
      const { kafka, send, failure } = forwarder();
      kafka.partitions = 1;
      kafka.onWrite = (_batch, store) => {
        store();
        throw noAnswer();
      };
      await failure(numbered(5));
      kafka.onWrite = (_batch, store) => store();
      // As many records as before, of which the broker would take the number for that of the batch before.
      const next = what === 'give up' ? numbered(10).slice(5) : numbered(5).toReversed();
      await send(next, 'call-2');
      expect(kafka.sent.map(({ producer }) => producer)).toEqual([0, 1]);
      expect(numbers(kafka).slice(5)).toEqual(next.map(({ data }) => data.n));
    },
  );

  it.each(['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH'])(
    'of a producer that the broker does not know any more (%s) makes another producer of it',
    async (id) => {
      const { kafka, send, failure } = forwarder();
      kafka.onWrite = () => {
        throw new KafkaError('refused', id);
      };
      await failure(numbered(3));
      kafka.onWrite = (_batch, store) => store();
      await send(numbered(3));
      expect(kafka.sent.map(({ producer }) => producer)).toEqual([0, 1]);
      expect(numbers(kafka)).toEqual([0, 1, 2]);
    },
  );

  it('because of its size concerns one event only, which is named', async () => {
    const { kafka, failure, send } = forwarder();
    kafka.maxBytes = 300;
    const events = numbered(10);
    events[3] = collectedEvent({ n: 3, text: 'x'.repeat(400) }, AT);
    const error = await failure(events);
    expect(error.failedEvents).toEqual([expect.objectContaining({ index: 3, permanent: true })]);
    expect(error.permanent).toBe(true);
    expect(error.message).toMatch(/has \d+ bytes \(max\.message\.bytes of the topic\): MESSAGE_TOO_LARGE$/);
    expect(error.message).not.toContain('xxx');
    expect(numbers(kafka)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9]);
    const before = kafka.sent.length;
    await send(numbered(10), 'call-2');
    // What is known to be too large is not tried again.
    expect(kafka.sent.slice(before).every(({ records }) => records.length <= 5)).toBe(true);
  });

  it('of an expression concerns its event only, and does not show it', async () => {
    const { kafka, failure } = forwarder({ topic: { cel: 'data.app' } });
    const apps = ['web', 'not a topic', undefined, 'db'];
    const error = await failure(apps.map((app, n) => collectedEvent({ n, ...(app && { app }) }, AT)));
    expect(error.failedEvents).toEqual([
      expect.objectContaining({ index: 1, permanent: true }),
      expect.objectContaining({ index: 2, permanent: true }),
    ]);
    expect(JSON.stringify(error.failedEvents)).not.toContain('not a topic');
    expect(kafka.stored.map(({ topic }) => topic)).toEqual(['web', 'db']);
  });

  it('of a topic that is missing holds back all events, or those that an expression sends there', async () => {
    const kafka = new FakeKafka();
    kafka.topics = ['web'];
    const literal = await forwarder({}, kafka).failure(numbered(2));
    expect(literal).toMatchObject({ fatal: true, failedEvents: undefined });
    const events = ['web', 'nowhere', 'web'].map((app, n) => collectedEvent({ n, app }, AT));
    const computed = await forwarder({ topic: { cel: 'data.app' } }, kafka).failure(events);
    expect(computed).toMatchObject({ permanent: false, failedEvents: [{ index: 1 }] });
    expect(numbers(kafka)).toEqual([0, 2]);
  });
});

it('has a producer for each call at a time, and closes them at the end', async () => {
  const { kafka, send, end } = forwarder({ concurrency: 3 });
  await Promise.all(['a', 'b', 'c'].map((id) => send(numbered(2), id)));
  await send(numbered(2), 'd');
  expect(kafka.producers).toBe(3);
  end();
  expect(kafka.closedProducers).toBe(3);
});

it('leaves a connection on which no answer comes, and sends the request again over another one', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const brokers = [`127.0.0.1:${port}`];
  const writer = await openWriter({ brokers, compression: 'none', timeout: 0.1 });
  const answer = writer.partitions('logs').catch(() => {});
  try {
    await eventually(() => sockets.length > 1 && sockets[0]?.destroyed === true);
  } finally {
    writer.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
  await answer;
});

describe('an error of the client', () => {
  const of = (more: object, errors: readonly Error[] = []) =>
    Object.assign(new Error('secret'), { errors }, more);

  it.each([
    [
      of({ code: 'PLT_KFK_PROTOCOL', apiId: 'TOPIC_AUTHORIZATION_FAILED' }),
      /permit this user to use the topic/,
      true,
    ],
    [of({ code: 'PLT_KFK_AUTHENTICATION' }), /refuses the login; check `sasl`/, true],
    [
      of({ code: 'PLT_KFK_PROTOCOL', apiId: 'NOT_ENOUGH_REPLICAS' }),
      /the server answered NOT_ENOUGH_REPLICAS$/,
      false,
    ],
    [of({ code: 'PLT_KFK_NETWORK' }), /the connection was closed without an answer$/, false],
    [of({ code: 'ECONNREFUSED' }), /ECONNREFUSED/, false],
  ])('%# is put in our own words, also inside of others', (error, message, isFatal) => {
    const inside = of({ code: 'PLT_KFK_MULTIPLE' }, [of({ code: 'PLT_KFK_NETWORK' }, []), error]);
    for (const given of [error, inside]) {
      const shown = kafkaError('not stored', given);
      expect(shown.message).toMatch(message);
      expect(shown.message).not.toContain('secret');
      expect('fatal' in shown).toBe(isFatal);
    }
  });

  it('keeps what is ours', () => {
    const ours = new KafkaError('as it is');
    expect(kafkaError('not stored', ours)).toBe(ours);
  });
});

describe('a configuration', () => {
  const problems = (fields: object) => {
    const { open, openTransactional } = new FakeKafka();
    const plugin = kafkaForwarder(open, openTransactional);
    const all = { plugin: 'kafka', brokers: 'localhost', topic: 'logs', ...fields };
    const parsed = plugin.get_config_schema().safeParse(all);
    return parsed.success
      ? []
      : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  };

  it.each([
    { brokers: 'user:pw@host:9092' },
    { brokers: 'kafka://host:9092' },
    { topic: 'a b' },
    { topic: '..' },
    { topic: { cel: '1 + 1' } },
    { key: { cel: 'data.' } },
    { sasl: { mechanism: 'plain', username: 'me' } },
    { tls: { cert: '-----BEGIN CERTIFICATE-----' } },
    { compression: 'brotli' },
  ])('is refused with %j', (fields) => expect(problems(fields)).toHaveLength(1));

  it.each([
    { brokers: ['a', 'b:9093', '[::1]:9092'] },
    { tls: true },
    { tls: { verify: false } },
    { key: { cel: 'data.n' } },
  ])('may have %j', (fields) => expect(problems(fields)).toEqual([]));

  const sasl = (mechanism: string) => ({ mechanism, username: 'me', password: { env: 'KAFKA_PASSWORD' } });
  it.each([
    [{ tls: { verify: false } }, ['tls.verify']],
    [{ sasl: sasl('plain') }, ['sasl.mechanism']],
    [{ sasl: sasl('plain'), tls: { verify: false } }, ['tls.verify']],
    [{ sasl: sasl('plain'), tls: true }, []],
    [{ sasl: sasl('scram-sha-512') }, []],
    [{ sasl: sasl('plain'), brokers: ['localhost', '127.0.0.1:9093', '[::1]:9092'] }, []],
    [{ sasl: sasl('plain'), brokers: ['localhost', 'kafka1'] }, ['sasl.mechanism']],
  ])('with %j is warned of %j, on both sides', (fields, warned) => {
    const { open, openTransactional, join } = new FakeKafka();
    const sides = [
      { plugin: kafkaForwarder(open, openTransactional), own: { topic: 'logs' } },
      { plugin: kafkaCollector(join), own: { topics: 'logs', group: 'readers' } },
    ];
    for (const { plugin, own } of sides) {
      const all = { plugin: 'kafka', brokers: 'kafka1', ...own, ...fields };
      const parsed = plugin.get_config_schema().safeParse(all) as { data: unknown };
      const problems = plugin.checkConfig?.({ config: parsed.data as never, host: undefined }) ?? [];
      expect(problems.map(({ path, severity }) => [path.join('.'), severity])).toEqual(
        warned.map((path) => [path, 'warning']),
      );
    }
  });
});
