import { describe, expect, it } from '@jest/globals';
import { natsForwarder } from '../../../plugins/forward/nats.ts';
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
    nats.maxPayload = 250;
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
      { error: expect.stringMatching(/has \d+ bytes/), event: { data: { n: 1 } } },
    ]);
    const odd = ['web', 'a b', '', '*'].map((app) => event({ app }));
    const { letters, nats: other } = run(
      { subject: { cel: '"logs." + data.app' } },
      odd,
      new FakeNats(),
      pipeline,
    );
    expect(other.stored.map(({ subject }) => subject)).toEqual(['logs.web']);
    expect(letters).toHaveLength(3);
    expect(JSON.stringify(letters.map((letter) => (letter as { error: string }).error))).not.toContain('a b');
  });
});

describe('the stream', () => {
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
