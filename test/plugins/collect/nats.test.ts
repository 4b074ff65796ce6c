import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, interval, takeWhile, timer } from 'rxjs';
import { natsCollector } from '../../../plugins/collect/nats.ts';
import type { Manager } from '../../../src/engine/manager.ts';
import { PluginError } from '../../../src/sdk/errors.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { serialise } from '../../../src/sdk/serialise.ts';
import { FakeNats } from '../../support/fake-nats.ts';
import { states, type TestPlugins } from '../../support/pipelines.ts';

const AT = '2026-01-01T00:00:00.000Z';
const line = (n: number) => `${serialise({ timestamp: AT, data: { n } })}\n`;
const message = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => line(from + i)).join('');
const number = ({ data }: CollectedEvent) => data.n as number;

interface Run {
  readonly nats?: FakeNats;
  readonly fields?: object;
  readonly forward?: (event: CollectedEvent) => unknown;
  readonly pipeline?: object;
  readonly process?: TestPlugins['process'];
  /** Milliseconds until the pipeline is stopped. Without it the run reads what there is, and ends. */
  readonly until?: number;
  readonly during?: (manager: Manager) => void;
}

/** Reads a stream in memory, in virtual time. */
function run({
  nats = new FakeNats(),
  fields = {},
  forward = () => undefined,
  pipeline = {},
  process = {},
  until,
  during,
}: Run) {
  const out: number[] = [];
  const letters: CollectedEvent['data'][] = [];
  const reported: string[] = [];
  const plugin = natsCollector((...args) => nats.open(...args));
  const schema = plugin.get_config_schema();
  const entry = { plugin: 'nats', servers: 'localhost', stream: 'LOGS', durable: 'workers', ...fields };
  const { manager, seen } = states(
    {
      collect: {
        source: {
          ...plugin,
          get_config_schema: () => ({ safeParse: () => schema.safeParse(entry) }),
          collect: ({ ctx }) => {
            const stats = {
              ...ctx.stats,
              bytes: (count: number) => void reported.push(`${count} bytes`),
              pending: (messages: number) => void reported.push(`${messages} pending`),
            };
            return plugin.collect({ ctx: Object.create(ctx, { stats: { value: stats } }) });
          },
        },
      },
      process,
      forward: {
        out: ({ event }) => {
          out.push(number(event));
          return forward(event) as never;
        },
        letters: ({ event }) => void letters.push(event.data),
      },
      pipeline: { forward: ['out'], ...pipeline },
      options: { once: until === undefined },
    },
    (manager) => {
      if (until !== undefined) timer(until).subscribe(() => void manager.stop());
      during?.(manager);
    },
  );
  return { nats, out, letters, reported, seen, stats: manager.stats().main };
}

const filled = (...messages: readonly string[]) => {
  const nats = new FakeNats();
  for (const text of messages) nats.put(text);
  return nats;
};

describe('a message', () => {
  it('is unpacked, and acknowledged when its last event is', () => {
    const acknowledgedAt: string[] = [];
    const nats = filled(message(1, 3), message(4, 4));
    const { out, stats } = run({
      nats,
      forward: () => {
        acknowledgedAt.push(nats.answers.join());
        return timer(10);
      },
    });
    expect(out).toEqual([1, 2, 3, 4]);
    expect(acknowledgedAt).toEqual(['', '', '', '1 ack']);
    expect(nats.answers).toEqual(['1 ack', '2 ack']);
    expect(stats).toMatchObject({ collected: 4, forwarded: { out: 4 }, in_flight: 0 });
  });

  it('whose event used up its attempts is delivered again later and later, and after `max_deliver` times never', () => {
    const fails = () => {
      throw new PluginError('not now');
    };
    const { nats, out } = run({
      nats: filled(message(1, 1)),
      fields: { max_deliver: 3, nak_delay: 2 },
      forward: fails,
      pipeline: { delivery: { attempts: 1 } },
      until: 60_000,
    });
    expect(nats.answers).toEqual(['1 nak 2000', '1 nak 4000', '1 term']);
    expect(out).toEqual([1, 1, 1]);
  });

  it('whose event failed for good is acknowledged: it would fail again', () => {
    const { nats, out } = run({
      nats: filled(message(1, 1)),
      forward: () => {
        throw new PluginError('no', { permanent: true });
      },
      until: 60_000,
    });
    expect(nats.answers).toEqual(['1 ack']);
    expect(out).toEqual([1]);
  });

  it('is not delivered again if the failed event went to the dead letter', () => {
    const { nats, letters } = run({
      nats: filled(message(1, 2)),
      forward: (event) => {
        if (number(event) === 1) throw new PluginError('no', { permanent: true });
      },
      pipeline: { delivery: { dead_letter: 'letters' } },
    });
    expect(nats.answers).toEqual(['1 ack']);
    expect(letters).toHaveLength(1);
  });

  it.each([
    ['JSON', '{"data":\n', /line 1 of the message is not JSON/],
    ['an object', '[1]\n', /line 1 .* not a JSON object/],
    ['an event', `${line(1)}{"timestamp":"yesterday","data":{}}\n`, /line 2 .* no ISO 8601/],
    ['UTF-8', undefined, /not UTF-8/],
    [
      'small enough',
      `{"timestamp":"${AT}","data":{"text":"${'x'.repeat(2000)}"}}`,
      /above `max_message_bytes`/,
    ],
  ])('that is not %s goes to the dead letter, and is never delivered again', (_, text, reason) => {
    const nats = filled(text ?? 'ÿ', message(7, 7));
    if (text === undefined) nats.stored[0] = { subject: 'logs.app', text: '\ud800', id: '' };
    nats.asBytes = text === undefined ? () => Buffer.from([0xff]) : undefined;
    const { out, letters, stats } = run({
      nats,
      fields: { max_message_bytes: 1024 },
      pipeline: { delivery: { dead_letter: 'letters' } },
    });
    expect(nats.answers.toSorted()).toEqual(text === undefined ? ['1 term', '2 term'] : ['1 term', '2 ack']);
    expect(letters[0]).toMatchObject({
      error: expect.stringMatching(reason),
      kind: 'collect',
      plugin: 'source',
    });
    expect(letters[0]).toMatchObject({ event: { data: { stream: 'LOGS', sequence: 1 } } });
    if (text !== undefined) expect(out).toEqual([7]);
    expect(stats?.in_flight).toBe(0);
  });

  it('that cannot be read stays in the stream if there is no dead letter, however often it was delivered', () => {
    const { nats, out } = run({
      nats: filled('{"n":1}\n', message(7, 7)),
      fields: { max_deliver: 2, nak_delay: 100 },
      until: 800_000,
    });
    expect(nats.answers).toEqual(['1 nak 100000', '2 ack', '1 nak 200000', '1 nak 300000', '1 nak 300000']);
    expect(out).toEqual([7]);
  });

  it('that cannot be read is withheld from the dead letter of a pipeline that masks', () => {
    const masks = {
      get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true as const, data }) }),
      traits: { masks: true },
      process: ({ event }: { event: CollectedEvent }) => [event],
    };
    const { letters, nats } = run({
      nats: filled('hunter2'),
      process: { mask: masks as never },
      pipeline: { delivery: { dead_letter: 'letters' } },
    });
    expect(nats.answers).toEqual(['1 term']);
    expect(letters[0]).toMatchObject({ withheld: expect.stringContaining('mask') });
    expect(JSON.stringify(letters)).not.toContain('hunter2');
  });

  it.each([
    ['json', '{"n":1}\n{"n":2}\n', [1, 2]],
    ['lines', 'a\r\nb\n', [undefined, undefined]],
  ])('may hold %s', (format, text, numbers) => {
    expect(run({ nats: filled(text), fields: { format } }).out).toEqual(numbers);
  });
});

describe('statistics', () => {
  it('have the bytes of each message and how many messages are behind it', () => {
    const [first, second] = [message(1, 3), message(4, 4)];
    const { reported } = run({ nats: filled(first, second) });
    expect(reported).toEqual([`${first.length} bytes`, '1 pending', `${second.length} bytes`, '0 pending']);
  });
});

describe('work that takes long', () => {
  it('is reported while it goes on, so that no other worker gets the message', () => {
    const { nats, out } = run({ nats: filled(message(1, 1)), forward: () => timer(100_000) });
    expect(out).toEqual([1]);
    expect(nats.answers.at(-1)).toBe('1 ack');
    expect(nats.answers.filter((answer) => answer === '1 working').length).toBeGreaterThanOrEqual(4);
  });

  it('is not begun again if the message comes again all the same', () => {
    const nats = filled(message(1, 1));
    nats.isDeaf = true;
    const { out } = run({ nats, forward: () => timer(100_000) });
    expect(out).toEqual([1]);
    expect(nats.answers.at(-1)).toBe('1 ack');
  });
});

describe('the window', () => {
  it('limits what is in flight and what is asked for', () => {
    const nats = filled(...Array.from({ length: 50 }, (_, i) => message(10 * i, 10 * i + 9)));
    let most = 0;
    let open = 0;
    const { out } = run({
      nats,
      pipeline: { max_in_flight: 30, ordered: false },
      forward: () => {
        most = Math.max(most, ++open);
        return timer(5).pipe((source) => {
          source.subscribe(() => open--);
          return source;
        });
      },
    });
    expect(out).toHaveLength(500);
    expect(most).toBeLessThanOrEqual(30);
    expect(nats.calls[1]).toBe('use workers of LOGS, 30 at most');
  });

  it('is filled at once after a pause, and by what has gathered at the server in 100 ms while messages keep coming', () => {
    const nats = new FakeNats();
    const forwardedAt: (readonly [event: number, ms: number])[] = [];
    let start = 0;
    run({
      nats,
      pipeline: { max_in_flight: 2000 },
      until: 1000,
      during: () => {
        start = asyncScheduler.now();
        for (const at of [100, 110, 120, 130, 400]) timer(at).subscribe(() => nats.put(message(at, at)));
      },
      forward: (event) => void forwardedAt.push([number(event), asyncScheduler.now() - start]),
    });
    expect(forwardedAt).toEqual([
      [100, 100],
      [110, 200],
      [120, 200],
      [130, 200],
      [400, 400],
    ]);
    // One, which says how many are behind it, and then those.
    expect(nats.requests).toEqual([1, 1, 2, 1, 1]);
  });

  it('is filled as fast as it empties while more messages are there than it has room for', () => {
    const nats = filled(...Array.from({ length: 50 }, (_, n) => message(10 * n, 10 * n + 9)));
    let forwarded = 0;
    run({
      nats,
      pipeline: { max_in_flight: 40 },
      until: 90,
      forward: () => void forwarded++,
    });
    expect(forwarded).toBeGreaterThan(450);
  });

  it('is filled at once by messages that are delivered again, which the server does not count as pending', () => {
    const nats = filled(...Array.from({ length: 200 }, (_, n) => message(n, n)));
    const startedAt: number[] = [];
    run({
      nats,
      fields: { nak_delay: 1 },
      pipeline: { max_in_flight: 100_000, delivery: { attempts: 1 } },
      until: 3000,
      forward: () => {
        startedAt.push(asyncScheduler.now());
        if (startedAt.length <= 200) throw new PluginError('not now');
      },
    });
    expect(nats.answers.filter((answer) => answer.endsWith('ack'))).toHaveLength(200);
    expect((startedAt.at(-1) ?? 0) - (startedAt[200] ?? 0)).toBeLessThan(200);
  });

  it('has room for at most 16 MiB at a time, as far as the messages before tell', () => {
    const nats = filled(...Array.from({ length: 33 }, () => 'x'.repeat(1024 * 1024)));
    const fields = { format: 'lines', max_message_bytes: 2 * 1024 * 1024 };
    run({ nats, fields, pipeline: { max_in_flight: 100_000 }, until: 50 });
    expect(nats.requests).toEqual([1, 16, 8, 8]);
  });

  it('has room for at most 256 messages at a time', () => {
    const nats = filled(...Array.from({ length: 1000 }, (_, n) => message(n, n)));
    run({ nats, pipeline: { max_in_flight: 100_000 }, until: 50 });
    expect(nats.requests.slice(0, 2)).toEqual([1, 256]);
    expect(Math.max(...nats.requests)).toBe(256);
  });

  it('takes a message that is larger than it', () => {
    const { out } = run({ nats: filled(message(1, 9), message(10, 12)), pipeline: { max_in_flight: 4 } });
    expect(out).toHaveLength(12);
  });
});

describe('a stop', () => {
  it('answers what is in flight, gives back what waits, and then closes the connection', () => {
    const nats = filled(message(1, 4), message(5, 8));
    const { out, seen } = run({
      nats,
      pipeline: { max_in_flight: 4 },
      forward: () => timer(500),
      until: 700,
    });
    expect(out).toEqual([1, 2, 3, 4]);
    expect(nats.answers).toEqual(expect.arrayContaining(['1 ack']));
    expect(nats.calls.slice(-2)).toEqual(['flush', 'close']);
    expect(seen.at(-1)).toMatch(/stopped/);
  });

  it('is not needed with `once`: the run ends when nothing is left', () => {
    expect(run({ nats: filled(message(1, 3)) }).seen.at(-1)).toMatch(/completed/);
    expect(run({ nats: filled() }).seen.at(-1)).toMatch(/completed/);
  });

  it('with `once` asks what is there before the first message and after the last', () => {
    const nats = filled(...Array.from({ length: 100 }, (_, n) => message(n, n)));
    const { out } = run({ nats, pipeline: { max_in_flight: 8 } });
    expect(out).toHaveLength(100);
    expect(nats.asked).toBe(2);
  });

  it.each([
    ['', [message(1, 3)]],
    [', and had got before', []],
  ])('with `once` waits a second for messages that another worker got%s', (_, messages) => {
    const nats = filled(...messages);
    nats.takenByOthers = 5;
    let endedAt = 0;
    const { out, seen } = run({
      nats,
      during: () => {
        timer(500).subscribe(() => (nats.takenByOthers = 0));
        interval(100)
          .pipe(takeWhile(() => !nats.calls.includes('close')))
          .subscribe(() => (endedAt += 100));
      },
    });
    expect(out).toHaveLength(3 * messages.length);
    expect(seen.at(-1)).toMatch(/completed/);
    expect(endedAt).toBeLessThanOrEqual(1100);
  });
});

describe('a server that', () => {
  const three = () => filled(message(1, 1), message(2, 3), message(4, 4));

  it('has lost the state of the consumer delivers messages again as if for the first time: they are acknowledged only', () => {
    const nats = three();
    const { out } = run({
      nats,
      until: 60_000,
      during: () => {
        timer(3000).subscribe(() => nats.rewind(0));
        timer(20_000).subscribe(() => nats.rewind(1));
        timer(30_000).subscribe(() => nats.put(message(5, 5)));
      },
    });
    expect(out).toEqual([1, 2, 3, 4, 5]);
    expect(nats.answers.join(', ')).toBe('1 ack, 2 ack, 3 ack, 1 ack, 2 ack, 3 ack, 2 ack, 3 ack, 4 ack');
  });

  it('delivers a message that is in work as if for the first time gets one acknowledgement', () => {
    const nats = three();
    const { out } = run({
      nats,
      until: 60_000,
      forward: () => timer(2000),
      during: () => void timer(1000).subscribe(() => nats.rewind(0)),
    });
    expect(out).toEqual([1, 2, 3, 4]);
  });

  it('has deleted the consumer gives what comes after the last message that was acknowledged', () => {
    const nats = three();
    const { out } = run({
      nats,
      fields: { create: true, start: 'new' },
      until: 60_000,
      during: () => {
        timer(5000).subscribe(() => {
          nats.deleteConsumer();
          nats.put(message(5, 6));
        });
      },
    });
    expect(out).toEqual([1, 2, 3, 4, 5, 6]);
    expect(nats.calls.filter((call) => call.startsWith('create'))).toEqual([
      expect.not.stringContaining('after'),
      expect.stringMatching(/, after 3$/),
    ]);
    expect(nats.answers.filter((answer) => answer === '1 ack')).toHaveLength(1);
  });

  it('has lost the stream gives all messages of the one that is created again', () => {
    const nats = three();
    const { out } = run({
      nats,
      fields: { create: true, start: 'new' },
      until: 60_000,
      during: () => {
        timer(5000).subscribe(() => {
          nats.deleteConsumer(true);
          nats.put(message(5, 6));
          nats.put(message(7, 7));
        });
      },
    });
    expect(out).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('a connection', () => {
  it('that cannot be opened is tried again', () => {
    const nats = filled(message(1, 2));
    nats.refuses = new PluginError('cannot connect to localhost: connection refused');
    const { out } = run({
      nats,
      until: 20_000,
      during: () => void timer(3500).subscribe(() => (nats.refuses = undefined)),
    });
    expect(out).toEqual([1, 2]);
  });

  it('that cannot be opened fails a run with `once`', () => {
    const nats = new FakeNats();
    nats.refuses = new PluginError('cannot connect');
    expect(run({ nats, pipeline: { restart: false } }).seen.at(-1)).toMatch(/failed/);
  });
});
