import { describe, expect, it } from '@jest/globals';
import { headers, type MsgHdrsImpl } from '@nats-io/nats-core/internal';
import { natsForwarder } from '../../../plugins/forward/nats.ts';
import { headerBytes } from '../../../plugins/nats/message-draft.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import { EventBatch } from '../../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../../src/sdk/events.ts';
import { FakeNats } from '../../support/fake-nats.ts';
import { states } from '../../support/pipelines.ts';

const AT = '2026-01-01T00:00:00.000Z';
const event = (data: CollectedEvent['data']) => collectedEvent(data, AT);
const numbered = (count: number) => Array.from({ length: count }, (_, n) => event({ n }));

/** Runs events through the forwarder, in virtual time, with these fields. */
function run(
  fields: object,
  events: readonly CollectedEvent[],
  nats = new FakeNats(),
  pipeline: object = {},
) {
  const letters: unknown[] = [];
  const plugin = natsForwarder(nats.open);
  const schema = plugin.get_config_schema();
  const out = {
    ...plugin,
    get_config_schema: () => ({
      safeParse: () =>
        schema.safeParse({ plugin: 'nats', servers: 'localhost', subject: 'logs.app', ...fields }),
    }),
  };
  const { manager, seen } = states({
    collect: { source: () => [new EventBatch(events)] as never },
    forward: { out, letters: ({ event }) => void letters.push(event.data) },
    pipeline: { forward: ['out'], ...pipeline },
  });
  return { nats, letters, seen, stats: manager.stats().main };
}

const texts = (nats: FakeNats) => nats.stored.map(({ text }) => text);

describe('a message', () => {
  it('has a batch of events, one a line, and is acknowledged when it is stored', () => {
    const { nats, stats } = run({}, numbered(600));
    expect(texts(nats).map((text) => text.split('\n').length - 1)).toEqual([256, 256, 88]);
    expect(nats.stored[0]?.text.split('\n')[1]).toBe(`{"timestamp":"${AT}","data":{"n":1}}`);
    expect(new Set(nats.stored.map(({ id }) => id)).size).toBe(3);
    expect(stats).toMatchObject({ forwarded: { out: 600 }, in_flight: 0 });
  });

  it('has one event with `message: event`', () => {
    const { nats } = run({ message: 'event' }, numbered(3));
    expect(texts(nats)).toEqual([0, 1, 2].map((n) => `{"timestamp":"${AT}","data":{"n":${n}}}`));
  });

  it.each([
    [{ message: 'event' }, [1, 1, 1]],
    [{ batch: { events: 1 } }, [1, 1, 1]],
    [{ subject: { cel: '"logs." + data.app' } }, [3]],
  ])('has an id of its own although it begins with an object that came before: %j', (fields, lines) => {
    const beat = event({ app: 'web' });
    const { nats, stats } = run(fields, [beat, beat, beat]);
    expect(texts(nats).map((text) => text.trimEnd().split('\n').length)).toEqual(lines);
    expect(stats).toMatchObject({ forwarded: { out: 3 } });
  });

  it('has the subject that an expression gives for its events', () => {
    const events = ['web', 'db', 'web'].map((app, n) => event({ app, n }));
    const { nats } = run({ subject: { cel: '"logs." + data.app' } }, events);
    const numbers = nats.stored.map(({ subject, text }) => [subject, text.match(/(?<="n":)\d/g)?.join(' ')]);
    expect(numbers).toEqual([
      ['logs.web', '0 2'],
      ['logs.db', '1'],
    ]);
  });

  it('is split where the server takes no larger one', () => {
    const nats = new FakeNats();
    nats.maxPayload = 200;
    run({}, numbered(10), nats);
    expect(texts(nats).every((text) => text.length <= 200)).toBe(true);
    expect(
      texts(nats)
        .join('')
        .match(/(?<="n":)\d/g),
    ).toEqual([...'0123456789']);
  });
});

describe('a failure', () => {
  it('is tried again with the same id, so that a message whose acknowledgement was lost is stored once', () => {
    const nats = new FakeNats();
    let calls = 0;
    nats.onPublish = ({ id, payload, subject }) => {
      if (calls++ > 0) return;
      nats.stored.push({ subject, text: Buffer.from(payload).toString(), id });
      nats.know(id);
      throw new PluginError('no answer within 5 s');
    };
    const { stats } = run({}, numbered(3), nats);
    expect(nats.stored).toHaveLength(1);
    expect(stats).toMatchObject({ forwarded: { out: 3 }, retries: 1 });
  });

  it('keeps the order of the events by default: no message is published before one that is tried again', () => {
    const nats = new FakeNats();
    let calls = 0;
    nats.onPublish = () => {
      if (calls++ === 0) throw new PluginError('no answer within 5 s');
    };
    run({ message: 'event', batch: { events: 1 } }, numbered(5), nats);
    expect(
      texts(nats)
        .join('')
        .match(/(?<="n":)\d/g),
    ).toEqual([...'01234']);
  });

  it.each([
    [1, {}],
    [3, {}],
    [3, { message: 'event' }],
    [3, { subject: { cel: '"logs." + data.app' } }],
  ])(
    'with %i calls at a time, loses no event that is the same object as another: %j',
    (concurrency, fields) => {
      const nats = new FakeNats();
      let calls = 0;
      nats.onPublish = ({ id, payload, subject }) => {
        if (calls++ > 0) return;
        nats.stored.push({ subject, text: Buffer.from(payload).toString(), id });
        nats.know(id);
        throw new PluginError('no answer within 5 s');
      };
      const beat = event({ app: 'web' });
      const batch = { events: 'message' in fields ? 2 : 1 };
      const { stats } = run({ batch, concurrency, ...fields }, Array(6).fill(beat), nats);
      expect(nats.stored).toHaveLength(6);
      expect(stats).toMatchObject({ forwarded: { out: 6 }, retries: 1 });
    },
  );

  it('of some messages of a subject repeats these as they were, even if they would fit into one', () => {
    const nats = new FakeNats();
    nats.maxPayload = 330;
    const tried: string[] = [];
    nats.onPublish = ({ id, payload }) => {
      tried.push(`${id} ${payload}`);
      if ([1, 3].includes(tried.length)) throw new PluginError('no answer within 5 s');
    };
    const events = [event({ n: 0 }), event({ n: 1, text: 'x'.repeat(170) }), event({ n: 2 })];
    const { stats } = run({ subject: { cel: '"logs.app"' } }, events, nats);
    expect(tried).toHaveLength(5);
    expect(tried.slice(3)).toEqual([tried[0], tried[2]]);
    expect(stats).toMatchObject({ forwarded: { out: 3 }, retries: 1 });
  });

  it('of one subject leaves the messages of others alone, and repeats exactly its own', () => {
    const nats = new FakeNats();
    const ids: string[] = [];
    nats.onPublish = ({ subject, id }) => {
      if (subject !== 'logs.db') return;
      ids.push(id);
      if (ids.length < 3) throw new PluginError('no answer within 5 s');
    };
    const events = ['web', 'db', 'web', 'db'].map((app, n) => event({ app, n }));
    run({ subject: { cel: '"logs." + data.app' } }, events, nats);
    expect(nats.stored.map(({ subject }) => subject)).toEqual(['logs.web', 'logs.db']);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  it('to connect is retried, and nothing is lost', () => {
    const nats = new FakeNats();
    nats.refuses = new PluginError('cannot connect');
    let attempts = 0;
    const { open } = nats;
    nats.open = (...args) => {
      if (++attempts === 3) nats.refuses = undefined;
      return open(...args);
    };
    const { stats } = run({}, numbered(2), nats);
    expect(stats).toMatchObject({ forwarded: { out: 2 }, retries: 2 });
  });

  it('of an event that no message has room for, or without a subject, goes to the dead letter alone', () => {
    const nats = new FakeNats();
    nats.maxPayload = 300;
    const pipeline = { delivery: { dead_letter: 'letters' } };
    const events = [event({ n: 0 }), event({ n: 1, text: 'x'.repeat(300) }), event({ n: 2 })];
    const large = run({}, events, nats, pipeline);
    expect(
      texts(nats)
        .join('')
        .match(/(?<="n":)\d/g),
    ).toEqual(['0', '2']);
    expect(large.letters).toMatchObject([
      { error: expect.stringMatching(/takes a message of \d+ bytes/), event: { data: { n: 1 } } },
    ]);
    const odd = ['web', 'a b', '', '*', '.', 'a..b'].map((app) => event({ app }));
    const { letters, nats: other } = run(
      { subject: { cel: '"logs." + data.app' } },
      odd,
      new FakeNats(),
      pipeline,
    );
    expect(other.stored.map(({ subject }) => subject)).toEqual(['logs.web']);
    expect(letters).toHaveLength(5);
    expect(JSON.stringify(letters.map((letter) => (letter as { error: string }).error))).not.toContain('a b');
  });
});

describe('an event must not choose a subject of the API of the server', () => {
  it.each(['$JS.API.STREAM.DELETE.LOGS', '$SYS.REQ.SERVER.PING', '_INBOX.abc.1'])('%s', (subject) => {
    const pipeline = { delivery: { dead_letter: 'letters' } };
    const { nats, letters } = run(
      { subject: { cel: 'data.to' } },
      [event({ to: subject }), event({ to: 'logs.a' })],
      new FakeNats(),
      pipeline,
    );
    expect(nats.stored.map((stored) => stored.subject)).toEqual(['logs.a']);
    expect(letters).toMatchObject([{ error: expect.stringContaining('API of the server') }]);
  });
});

describe('the limit of a message', () => {
  const dead = { delivery: { dead_letter: 'letters' } };
  const numbers = (nats: FakeNats) =>
    [
      ...texts(nats)
        .join('')
        .matchAll(/"n":(\d+)/g),
    ].map(([, n]) => Number(n));
  const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

  it('counts the headers as the client writes them', () => {
    for (const [id, stream] of [
      ['a', undefined],
      ['0.1-2-3', 'LOGS'],
      ['x'.repeat(90), 'Protokolle-ä'],
    ] as const) {
      const written = headers();
      written.set('Nats-Msg-Id', id);
      if (stream !== undefined) written.set('Nats-Expected-Stream', stream);
      expect(headerBytes(id, stream)).toBe((written as MsgHdrsImpl).encode().length);
    }
  });

  it.each([
    [{}],
    [{ stream: 'LOGS' }],
    [{ batch: { events: 10_000 } }],
    [{ subject: { cel: '"logs." + (data.n < 20 ? "low" : "high")' } }],
    [{ message: 'event', batch: { events: 3 } }],
    [{ stream: 'LOGS', create: true, concurrency: 3 }],
  ])('includes the headers, whatever their size: every event is stored once with %j', (fields) => {
    for (let limit = 240; limit < 1200; limit += 41) {
      const nats = new FakeNats();
      nats.maxPayload = limit;
      const { letters, stats } = run(fields, numbered(40), nats, dead);
      expect([limit, ...sorted(numbers(nats))]).toEqual([limit, ...upTo(40)]);
      expect(Math.max(...nats.published)).toBeLessThanOrEqual(limit);
      expect(letters).toEqual([]);
      expect(stats).toMatchObject({ retries: 0, in_flight: 0 });
    }
  });

  it.each([[{}], [{ message: 'event' }], [{ subject: { cel: '"logs.a"' } }]])(
    'is known to the byte: an event as large as that is stored, and a larger one goes to the dead letter, with %j',
    (fields) => {
      const nats = new FakeNats();
      run(fields, [event({ n: 0, text: 'x'.repeat(500) })], nats);
      const [bytes = 0] = nats.published;
      for (const limit of [bytes, bytes - 1]) {
        const other = new FakeNats();
        other.maxPayload = limit;
        const { letters } = run(fields, [event({ n: 0, text: 'x'.repeat(500) })], other, dead);
        expect(other.stored).toHaveLength(limit === bytes ? 1 : 0);
        expect(letters).toHaveLength(limit === bytes ? 0 : 1);
      }
    },
  );

  it.each([
    ['the stream refuses', { maxMessage: 400 }],
    ['the whole stream has no room for', { maxStream: 400 }],
  ])('is also that which %s: a batch is split, and a single event goes to the dead letter', (_, limits) => {
    for (const fields of [{}, { subject: { cel: '"logs.a"' } }, { message: 'event' }]) {
      const nats = Object.assign(new FakeNats(), limits);
      const events = [...numbered(20), event({ n: 99, text: 'x'.repeat(400) }), ...numbered(20)];
      const { letters, stats } = run({ ...fields, stream: 'LOGS' }, events, nats, dead);
      expect(sorted(numbers(nats))).toEqual(sorted([...upTo(20), ...upTo(20)]));
      expect(letters).toMatchObject([{ event: { data: { n: 99 } } }]);
      expect(stats).toMatchObject({ retries: 0, in_flight: 0 });
    }
  });

  it('of the stream is remembered, and forgotten when it was raised', () => {
    const nats = new FakeNats();
    nats.maxMessage = 300;
    const big = event({ n: 1, text: 'x'.repeat(300) });
    const events = [...numbered(64), big, big];
    nats.onPublish = ({ payload }) => {
      if (payload.length > 300 && nats.stored.length > 10) nats.maxMessage = 10_000;
    };
    const { letters } = run({ batch: { events: 8 } }, events, nats, dead);
    expect(nats.published.filter((bytes) => bytes > 300).length).toBeLessThan(6);
    expect(letters).toEqual([]);
    expect(nats.stored.filter(({ text }) => text.includes('xxx'))).not.toEqual([]);
  });

  it.each([[{}], [{ subject: { cel: '"logs.a"' } }], [{ message: 'event' }]])(
    'of the server may be smaller after it was connected again: with %j',
    (fields) => {
      const nats = new FakeNats();
      let isFirst = true;
      nats.onPublish = () => {
        if (!isFirst) return;
        isFirst = false;
        nats.maxPayload = 330;
        throw new PluginError('not connected');
      };
      const events = [...numbered(10), event({ n: 99, text: 'x'.repeat(300) })];
      const { letters } = run(fields, events, nats, dead);
      expect(sorted(numbers(nats))).toEqual(upTo(10));
      expect(letters).toMatchObject([{ event: { data: { n: 99 } } }]);
    },
  );

  it('that becomes larger between two attempts changes no message of which a part is stored', () => {
    const nats = new FakeNats();
    nats.maxPayload = 330;
    let failures = 0;
    nats.onPublish = ({ payload }) => {
      if (failures > 0 || !Buffer.from(payload).includes('"n":0')) return;
      failures++;
      nats.maxPayload = 10_000;
      throw new PluginError('no answer within 5 s');
    };
    run({ subject: { cel: '"logs.a"' } }, numbered(20), nats, dead);
    expect(sorted(numbers(nats))).toEqual(upTo(20));
  });
});

describe('the stream', () => {
  it('is created again if it was deleted while the forwarder uses it', () => {
    const nats = new FakeNats();
    nats.onPublish = () => {
      if (nats.stored.length === 1)
        nats.hasStream = nats.calls.filter((call) => call.startsWith('stream')).length > 1;
    };
    const { stats } = run({ stream: 'LOGS', create: true }, numbered(600), nats);
    expect(stats).toMatchObject({ forwarded: { out: 600 }, retries: 1 });
    expect(nats.calls.filter((call) => /^(?:open|stream)/.test(call))).toEqual([
      'open millrace main',
      'stream LOGS of logs.app',
      'stream LOGS of logs.app',
    ]);
  });

  it('is created before the first message if the entry says so, and has to store every message', () => {
    const { nats } = run({ stream: 'LOGS', create: true }, numbered(1));
    expect(nats.calls).toEqual([
      'open millrace main',
      'stream LOGS of logs.app',
      'publish logs.app to LOGS',
      'close',
    ]);
  });

  const load = (fields: object) =>
    parseConfig({
      collectors: { in: { plugin: 'test' } },
      forwarders: { out: { plugin: 'nats', servers: 'localhost', subject: 'logs.app', ...fields } },
      pipelines: { main: { collect: 'in', forward: 'out' } },
      host_config: {},
    } as never);

  it.each([
    [{ create: true }, /requires `stream`/],
    [{ subject: { cel: 'data.app' }, stream: 'LOGS', create: true }, /requires `create.subjects`/],
    [{ subject: { cel: 'data.app +' } }, /expression/],
    [{ subject: 'logs.*' }, /subject/],
    [{ stream: 'a.b' }, /name without/],
    [{ servers: 'nats://localhost/x' }, /a server such as/],
    [{ auth: { token: 'a', user: 'b', password: 'c' } }, /one of: `token`/],
    [{ auth: { user: 'b' } }, /one of: `token`/],
  ])('is refused with %j', (fields, message) => expect(load(fields)).rejects.toThrow(message));

  it.each(['nats://ada:hunter2@localhost', ['nats://localhost', 'nats://hunter2@localhost']])(
    'is refused with credentials in %j, which are not shown',
    async (servers) => {
      const { message } = await load({ servers }).then(
        () => new Error('it was accepted'),
        (error: Error) => error,
      );
      expect(message).toContain('belongs under `auth`');
      expect(message).not.toContain('hunter2');
    },
  );
});
