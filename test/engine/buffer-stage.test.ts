import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { concat, firstValueFrom, map, NEVER, of, Subject, take, timer } from 'rxjs';
import { z } from 'zod';
import type { Manager } from '../../src/engine/manager.ts';
import { EventBatch, type Outcome } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { eventually } from '../support/eventually.ts';
import { recordingLogger, type TestPlugins, testManager } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const managers: Manager[] = [];
let logger = recordingLogger();

afterEach(async () => {
  for (const manager of managers.splice(0)) await firstValueFrom(manager.stop());
  logger = recordingLogger();
});

// After the hook above: a folder is removed when the managers that write to it are stopped.
const folder = tempFolder();

/** A collector that emits what the test gives it, a forwarder that the test opens and closes, and a buffer between. */
function gateway({
  buffer = {},
  options = {},
  answers = true,
  ...plugins
}: Partial<TestPlugins> & { buffer?: object; answers?: boolean } = {}) {
  const source$ = new Subject<EventBatch | CollectedEvent>();
  const outcomes: Outcome[] = [];
  const delivered: unknown[] = [];
  let isDown = false;
  let attempts = 0;
  const manager = testManager({
    collect: {
      source: {
        get_config_schema: () => anyConfig,
        traits: { answers, redelivers: true },
        collect: () => source$,
      } as never,
      // `reject` requires a collector that answers.
      ...(!answers && {
        web: { get_config_schema: () => anyConfig, traits: { answers: true }, collect: () => NEVER } as never,
      }),
    },
    forward: {
      sink: {
        get_config_schema: () => anyConfig,
        forward: ({ event }: { event: CollectedEvent }) => {
          attempts++;
          if (isDown) throw new Error('the sink is away');
          delivered.push(event.data.n);
        },
      } as never,
    },
    ...plugins,
    pipeline: { ...plugins.pipeline, buffer: { type: 'disk', path: folder('buffer'), ...buffer } },
    options: { logger, drainTimeout: 0.05, ...options },
  });
  managers.push(manager);
  return {
    manager,
    delivered,
    outcomes,
    emit: (...numbers: number[]) =>
      source$.next(
        new EventBatch(
          numbers.map((n) => collectedEvent({ n })),
          (outcome) => outcomes.push(outcome),
        ),
      ),
    /** Resolves when the collector is subscribed to, which is once the buffer is open. */
    start: async () => {
      manager.start();
      await eventually(() => source$.observed);
    },
    complete: () => source$.complete(),
    attempts: () => attempts,
    sinkIsDown: (is: boolean) => {
      isDown = is;
    },
  };
}

const anyConfig = z.looseObject({ plugin: z.string() });

const contents = () =>
  fs
    .readdirSync(folder('buffer'))
    .filter((name) => name.endsWith('.records'))
    .map((name) => fs.readFileSync(folder(`buffer/${name}`), 'latin1'))
    .join('');

describe('a buffer on disk', () => {
  it('acknowledges events when they are durable, also while the forwarder fails', async () => {
    const { start, emit, outcomes, delivered, sinkIsDown } = gateway();
    sinkIsDown(true);
    await start();
    emit(1, 2);
    emit(3);
    await eventually(() => expect(outcomes).toEqual(['forwarded', 'forwarded']));
    expect(contents()).toContain('"n":3');
    expect(delivered).toEqual([]);
    sinkIsDown(false);
    await eventually(() => expect(delivered).toEqual([1, 2, 3]), 10_000);
  });

  it('delivers after a restart what was not acknowledged before', async () => {
    const before = gateway();
    before.sinkIsDown(true);
    await before.start();
    before.emit(1, 2);
    await eventually(() => expect(before.outcomes).toEqual(['forwarded']));
    await eventually(() => before.attempts() > 0);
    await firstValueFrom(before.manager.stop());
    expect(logger.lines.at(-1)).toMatch(
      /^info main: 2 events \(\d+ bytes\) wait in the buffer on disk, for the next start$/,
    );
    expect(before.manager.stats().main?.given_up).toBe(0);
    const after = gateway();
    await after.start();
    await eventually(() => expect(after.delivered).toEqual([1, 2]));
    expect(logger.lines).toContainEqual(
      expect.stringMatching(
        /^info main: 2 events \(\d+ bytes\) have waited in the buffer on disk, the oldest for \d s; they are delivered first$/,
      ),
    );
    logger.lines.length = 0;
    await firstValueFrom(after.manager.stop());
    expect(logger.lines.at(-1)).toBe('info main: stopped');
    expect(contents()).not.toContain('"n":1');
  });

  describe('at a stop, with a deadline that is far away', () => {
    const options = { drainTimeout: 600 };
    const failing = () => {
      throw new Error('the sink is away');
    };

    it.each([
      ['fails', { forward: { sink: failing } }],
      [
        'asks to be called later',
        {
          forward: {
            sink: () => {
              throw Object.assign(new Error('busy'), { retryAfter: 600 });
            },
          },
        },
      ],
      ['never answers', { forward: { sink: () => NEVER } }],
      ['never answers, beside one that works', { forward: { sink: () => NEVER, other: () => {} } }],
      ['fails, beside one that never answers', { forward: { sink: failing, other: () => NEVER } }],
      [
        'fails, after a processor behind the buffer',
        { forward: { sink: failing }, buffer: { masked: false } },
      ],
    ] as const)(
      'leaves what is durable to the next run if a forwarder %s',
      async (_name, plugins) => {
        const { manager, start, emit, outcomes } = gateway({ options, ...(plugins as object) });
        await start();
        emit(1, 2, 3);
        await eventually(() => expect(outcomes).toEqual(['forwarded']));
        await firstValueFrom(manager.stop());
        expect(manager.state('main')?.state).toBe('stopped');
        expect(manager.stats().main).toMatchObject({ given_up: 0, in_flight: 0, dropped: {} });
        expect(logger.lines.at(-1)).toMatch(/^info main: 3 events \(\d+ bytes\) wait in the buffer on disk/);
      },
      60_000,
    );

    it('lets a call end that is being made, and the next ones be made', async () => {
      const calls = new Subject<void>();
      const { manager, start, emit, outcomes } = gateway({
        options,
        forward: { sink: () => calls.pipe(take(1)) },
      });
      await start();
      emit(1, 2, 3);
      await eventually(() => expect(outcomes).toEqual(['forwarded']));
      await eventually(() => calls.observed);
      const stopped = firstValueFrom(manager.stop());
      for (let call = 0; call < 3; call++) {
        await eventually(() => calls.observed);
        calls.next();
      }
      await stopped;
      expect(manager.stats().main?.forwarded).toEqual({ sink: 3 });
      expect(logger.lines.at(-1)).toBe('info main: stopped');
    });

    it('waits for what is not durable', async () => {
      const slow = new Subject<void>();
      const { manager, start, emit, outcomes } = gateway({
        options,
        process: {
          slow: ({ event }) =>
            slow.pipe(
              take(1),
              map(() => event),
            ) as never,
        },
        forward: { sink: failing },
      });
      await start();
      emit(1);
      await eventually(() => slow.observed);
      let isStopped = false;
      manager.stop().subscribe(() => {
        isStopped = true;
      });
      expect([isStopped, outcomes]).toEqual([false, []]);
      expect(manager.health().main?.problems).toEqual(['is being stopped: 1 event in flight']);
      slow.next();
      await eventually(() => isStopped);
      expect(outcomes).toEqual(['forwarded']);
    });

    it.each([0, 0.1])(
      'gives up nothing if all of it is durable when the deadline of %d s passes during a call',
      async (drainTimeout) => {
        const { manager, start, emit, outcomes } = gateway({
          options: { drainTimeout },
          forward: { sink: () => NEVER },
        });
        await start();
        emit(1);
        await eventually(() => expect(outcomes).toEqual(['forwarded']));
        await eventually(() => expect(manager.counters('main')?.buffer?.status.events).toBe(1));
        await firstValueFrom(manager.stop());
        expect(manager.stats().main?.given_up).toBe(0);
        expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([]);
        expect(logger.lines.at(-1)).toMatch(/^info main: 1 event \(\d+ bytes\) waits in the buffer on disk/);
      },
    );

    it('gives up what is not durable when the deadline passes', async () => {
      const { manager, start, emit } = gateway({
        options: { drainTimeout: 0.1 },
        process: { never: () => NEVER as never },
      });
      await start();
      emit(1);
      await firstValueFrom(manager.stop());
      expect(manager.stats().main?.given_up).toBe(1);
      expect(logger.lines).toContain(
        'warn main: 1 event was not delivered within 0.1 s of the stop and was given up',
      );
    });
  });

  it.each([
    ['one by one', undefined, 'forward'],
    ['one by one, after the first has failed', 1, 'forward'],
    ['in batches', undefined, 'forwardBatch'],
    ['in small batches', 3, 'forwardBatch'],
    ['as JSON Lines', undefined, 'forwardJsonLines'],
  ] as const)(
    'gives each event the same name in each attempt, and after a restart: %s',
    async (_name, events, how) => {
      const names = new Map<unknown, string>();
      const again: string[] = [];
      let isDown = true;
      let calls = 0;
      const deliver = (numbers: readonly unknown[], eventIds: ((position: number) => string) | undefined) => {
        for (const [position, n] of numbers.entries()) {
          const name = eventIds?.(position) ?? 'none';
          if (names.has(n)) again.push(names.get(n) === name ? 'the same' : 'another');
          names.set(n, name);
        }
        calls++;
        if (isDown) throw new Error('the sink is away');
      };
      type Call = {
        event: CollectedEvent;
        events: readonly CollectedEvent[];
        eventIds?: (position: number) => string;
      };
      const sink = {
        get_config_schema: () => anyConfig,
        forward: ({ event, eventIds }: Call) => deliver([event.data.n], eventIds),
        ...(how === 'forwardBatch' && {
          forwardBatch: (call: Call) =>
            deliver(
              call.events.map(({ data }) => data.n),
              call.eventIds,
            ),
        }),
        ...(how === 'forwardJsonLines' && {
          forwardJsonLines:
            () => (documents: Buffer, _id: string, _rest: unknown, eventIds?: Call['eventIds']) =>
              deliver(
                documents
                  .toString()
                  .trim()
                  .split('\n')
                  .map((line) => JSON.parse(line).data.n),
                eventIds,
              ),
        }),
      } as never;
      const start = async () => {
        const pipeline = events === undefined ? {} : { delivery: { attempts: 1000 } };
        const run = gateway({ forward: { sink }, pipeline, options: { drainTimeout: 600 } });
        await run.start();
        return run;
      };
      const before = await start();
      before.emit(...Array.from({ length: 10 }, (_, n) => n));
      before.emit(...Array.from({ length: 7 }, (_, n) => 10 + n));
      await eventually(() => calls > 1, 20_000);
      await firstValueFrom(before.manager.stop());
      isDown = false;
      const after = await start();
      await eventually(() => expect(after.manager.stats().main?.forwarded).toEqual({ sink: 17 }));
      expect(new Set(again)).toEqual(new Set(['the same']));
      expect(new Set(names.values()).size).toBe(17);
      expect(
        [...names.values()].every((name) =>
          /^\d{8}T\d{6}\.\d{3}Z(?:-[\da-f]+){6}-1-\d+-\d+-[\da-f]+$/.test(name),
        ),
      ).toBe(true);
    },
  );

  it.each(['forward', 'forwardBatch'] as const)(
    'gives an event another name at each forwarder, which may write to one sink: %s',
    async (how) => {
      const names: string[] = [];
      type Call = { events?: readonly unknown[]; eventIds?: (position: number) => string };
      const call = ({ events = [0], eventIds }: Call) => {
        for (const position of events.keys()) names.push(eventIds?.(position) ?? 'none');
      };
      const sink = { get_config_schema: () => anyConfig, forward: call, [how]: call } as never;
      const { start, emit } = gateway({ forward: { plain: sink, 'with-pipeline': sink } });
      await start();
      emit(1, 2);
      await eventually(() => expect(names).toHaveLength(4));
      expect(new Set(names).size).toBe(4);
      expect(new Set(names.map((name) => name.replace(/-[\da-f]+$/, ''))).size).toBe(2);
    },
  );

  it('with `once`, says how many events it keeps if they cannot be delivered', async () => {
    const { manager, start, emit, complete, sinkIsDown } = gateway({
      options: { once: true, giveUpAfter: 0.1 },
    });
    sinkIsDown(true);
    await start();
    emit(1, 2, 3);
    complete();
    const [main] = await firstValueFrom(manager.finished$);
    expect(main?.state).toBe('failed');
    expect(logger.lines.at(-1)).toMatch(/^info main: 3 events \(\d+ bytes\) wait in the buffer on disk/);
  });

  it('is left by a run whose collector has failed, also while the sink is away', async () => {
    let runs = 0;
    const { manager, outcomes } = gateway({
      collect: {
        source: () => {
          runs++;
          return concat(
            of(new EventBatch([collectedEvent({ n: runs })], (outcome) => outcomes.push(outcome))),
            timer(50).pipe(
              map(() => {
                throw new Error('the collector failed');
              }),
            ),
          ) as never;
        },
      },
      forward: {
        sink: () => {
          throw new Error('the sink is away');
        },
      },
      pipeline: { restart: true },
    });
    manager.start();
    await eventually(() => runs > 1);
    expect(outcomes[0]).toBe('forwarded');
  });

  it('holds what processors made of events, so that nothing unmasked reaches the disk', async () => {
    const masked = { secret: 'hunter2' };
    const { start, emit, outcomes } = gateway({
      process: { mask: ({ event }) => ({ ...event, data: { ...event.data, secret: '<:PASSWORD:>' } }) },
      forward: { never: () => NEVER },
    });
    await start();
    emit(1);
    await eventually(() => expect(outcomes).toEqual(['forwarded']));
    expect(contents()).toContain('<:PASSWORD:>');
    expect(contents()).not.toContain(masked.secret);
  });

  it('with `masked: false`, holds events as they were collected, and processes what it reads', async () => {
    const { start, emit, outcomes, delivered } = gateway({
      buffer: { masked: false },
      process: {
        twice: ({ event }) => [event, { ...event, data: { n: Number(event.data.n) * 10 } }],
      },
    });
    await start();
    emit(1, 2);
    await eventually(() => expect(delivered).toEqual([1, 10, 2, 20]));
    expect(outcomes).toEqual(['forwarded']);
  });

  it('tells the source with `reject` that events were not taken, and takes later ones when there is room', async () => {
    const { manager, start, emit, outcomes, delivered, sinkIsDown } = gateway({
      buffer: { when_full: 'reject', max_bytes: 1024 * 1024 },
      pipeline: { max_in_flight: 100_000 },
    });
    sinkIsDown(true);
    await start();
    const many = Array.from({ length: 6000 }, (_, n) => n);
    for (let round = 0; round < 6; round++) emit(...many);
    await eventually(() => expect(outcomes).toHaveLength(6));
    expect(outcomes).toContain('rejected');
    expect(outcomes[0]).toBe('forwarded');
    const taken = outcomes.filter((outcome) => outcome === 'forwarded').length;
    expect(manager.stats().main).toMatchObject({ dropped: {}, rejected: (6 - taken) * 6000 });
    expect(logger.lines.join('\n')).toMatch(
      /main: the buffer refused 6000 events: it is full, and their sender is told to send them again/,
    );
    expect(logger.lines.join('\n')).not.toMatch(/dropped/);
    sinkIsDown(false);
    await eventually(() => expect(delivered).toHaveLength(taken * 6000), 10_000);
    emit(7);
    await eventually(() => expect(outcomes.at(-1)).toBe('forwarded'));
  });

  it.each([
    ['in one go', {}],
    [
      'in parts of a few events each',
      { slow: ({ event }: { event: CollectedEvent }) => Promise.resolve(event) },
    ],
    [
      'in parts, of which a mask has removed some',
      { odd: ({ event }: { event: CollectedEvent }) => (Number(event.data.n) % 2 === 0 ? [] : event) },
    ],
  ])('with `reject`, stores a batch as a whole or not at all: %s', async (_name, process) => {
    const { manager, start, emit, complete, outcomes, delivered, sinkIsDown } = gateway({
      buffer: { when_full: 'reject', max_bytes: 1024 * 1024 },
      pipeline: { max_in_flight: 100 },
      process,
    });
    sinkIsDown(true);
    await start();
    // Sizes that do not divide the room, so that it would end in the midst of a batch.
    const sizes = Array.from({ length: 20 }, (_, batch) => 900 + 137 * batch);
    for (const [batch, size] of sizes.entries()) {
      emit(...Array.from({ length: size }, (_, n) => batch * 10_000 + n));
      await eventually(() => expect(outcomes).toHaveLength(batch + 1));
    }
    expect(new Set(outcomes)).toEqual(new Set(['odd' in process ? 'dropped' : 'forwarded', 'rejected']));
    sinkIsDown(false);
    const isKept = (n: number) => !('odd' in process) || n % 2 === 1;
    const taken = sizes.flatMap((size, batch) =>
      outcomes[batch] !== 'rejected' ? Array.from({ length: size }, (_, n) => batch * 10_000 + n) : [],
    );
    complete();
    await eventually(() => expect(manager.state('main')?.state).toBe('completed'));
    expect(delivered).toEqual(taken.filter(isKept));
  });

  it('with `reject`, never takes a batch that is larger than the whole buffer, and says so', async () => {
    const { manager, start, emit, outcomes } = gateway({
      buffer: { when_full: 'reject', max_bytes: 1024 * 1024 },
    });
    await start();
    emit(...Array.from({ length: 30_000 }, (_, n) => n));
    emit(1);
    await eventually(() => expect(outcomes).toEqual(['too_large', 'forwarded']));
    expect(manager.stats().main?.rejected).toBe(30_000);
    expect(logger.lines.join('\n')).toContain(
      'main: the buffer refused 30000 events: together they are larger',
    );
  });

  it('with `reject`, lets collectors wait that cannot tell their source to send again', async () => {
    const { manager, start, emit, outcomes, delivered, sinkIsDown } = gateway({
      answers: false,
      buffer: { when_full: 'reject', max_bytes: 1024 * 1024 },
      pipeline: { max_in_flight: 100_000 },
    });
    sinkIsDown(true);
    await start();
    // Smaller than a segment, so that the first one that finds no room makes the buffer full.
    const many = Array.from({ length: 1000 }, (_, n) => n);
    for (let round = 0; round < 27; round++) emit(...many);
    emit(...Array.from({ length: 30_000 }, (_, n) => n));
    await eventually(() => expect(manager.counters('main')?.buffer?.isFull).toBe(true));
    expect(outcomes.length).toBeLessThan(27);
    sinkIsDown(false);
    await eventually(() => expect(delivered).toHaveLength(57_000), 10_000);
    expect(outcomes).toEqual(Array(28).fill('forwarded'));
    expect(manager.stats().main).toMatchObject({ dropped: {}, rejected: 0 });
  });

  it('says that it is full and events wait, and that there is room again', async () => {
    const { manager, start, emit, outcomes, sinkIsDown } = gateway({
      buffer: { max_bytes: 1024 * 1024 },
      pipeline: { max_in_flight: 100_000 },
    });
    sinkIsDown(true);
    await start();
    for (let round = 0; round < 4; round++) emit(...Array.from({ length: 6000 }, (_, n) => n));
    const full =
      'warn main: the buffer is full; it has room again when forwarders have delivered some of what is in it';
    const lines = () => logger.lines.filter((line) => / the buffer (is full|has room)/.test(line));
    await eventually(() => expect(lines()).toEqual([full]));
    expect(manager.health().main).toMatchObject({
      isReady: false,
      problems: [expect.stringMatching(/^the buffer is full/), expect.stringMatching(/^forwarder sink/)],
    });
    sinkIsDown(false);
    await eventually(() => expect(outcomes).toHaveLength(4));
    await eventually(() => expect(manager.health().main).toMatchObject({ isReady: true, problems: [] }));
    // What still waited may have filled it once more.
    expect(lines().slice(0, 2)).toEqual([full, 'info main: the buffer has room again']);
  });

  it('with `drop_oldest`, says how many events it has dropped', async () => {
    const { manager, start, emit, outcomes, sinkIsDown } = gateway({
      buffer: { max_bytes: 1024 * 1024, when_full: 'drop_oldest' },
    });
    sinkIsDown(true);
    await start();
    for (let round = 1; round <= 8; round++) {
      emit(...Array.from({ length: 4000 }, (_, n) => n));
      await eventually(() => expect(outcomes).toHaveLength(round));
    }
    const { buffer_full: dropped = 0 } = manager.stats().main?.dropped ?? {};
    expect(dropped).toBeGreaterThan(0);
    expect(logger.lines.join('\n')).toMatch(
      /warn main: the buffer is full: \d+ events dropped, the oldest first; raise `buffer.max_bytes`/,
    );
    expect(manager.health().main?.isReady).toBe(true);
  });

  it('completes when its collectors have completed and all of it is delivered', async () => {
    const { manager, start, emit, complete, delivered } = gateway({ options: { once: true } });
    await start();
    emit(1, 2, 3);
    complete();
    const [main] = await firstValueFrom(manager.finished$);
    expect(main?.state).toBe('completed');
    expect(delivered).toEqual([1, 2, 3]);
  });

  it('gives events without a JSON form to the dead letter, and keeps the others', async () => {
    const cyclic: Record<string, unknown> = { n: 2 };
    cyclic.self = cyclic;
    const { manager, delivered } = gateway({
      collect: {
        source: () => [collectedEvent({ n: 1 }), collectedEvent(cyclic), collectedEvent({ n: 3 })],
      },
      options: { once: true },
    });
    manager.start();
    await firstValueFrom(manager.finished$);
    expect(delivered).toEqual([1, 3]);
    expect(manager.stats().main?.dropped).toEqual({ forwarder_failed: 1 });
  });

  it('is of one pipeline at a time', async () => {
    const one = gateway();
    await one.start();
    one.emit(1);
    await eventually(() => expect(one.delivered).toEqual([1]));
    const other = gateway();
    other.manager.start();
    await eventually(() => expect(other.manager.state('main')?.state).toBe('failed'));
    expect(String(other.manager.state('main')?.error)).toMatch(
      /the buffer .*buffer is in use by this process/,
    );
  });

  it('says how full it is', async () => {
    const { manager, start, emit, outcomes, sinkIsDown } = gateway();
    sinkIsDown(true);
    await start();
    emit(1, 2, 3);
    await eventually(() => expect(outcomes).toHaveLength(1));
    await eventually(() =>
      expect(manager.counters('main')?.buffer?.status).toMatchObject({
        events: 3,
        bytes: expect.any(Number),
        oldest: expect.any(Number),
      }),
    );
  });

  it('ends a run whose folder cannot be used, with a message that names it', async () => {
    fs.writeFileSync(folder('buffer'), 'a file');
    const { manager } = gateway();
    manager.start();
    await eventually(() => expect(manager.state('main')?.state).toBe('failed'));
    expect(String(manager.state('main')?.error)).toContain(folder('buffer'));
  });
});
