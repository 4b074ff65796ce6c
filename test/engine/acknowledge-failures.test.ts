import { describe, expect, it } from '@jest/globals';
import { delay, NEVER, of } from 'rxjs';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { states, type TestPlugins } from '../support/pipelines.ts';

/** Four batches of one event; the acknowledgement of the second one throws. */
const source =
  (told: number[], error: unknown = new PluginError('the state is gone'), bad = [2]) =>
  () =>
    [1, 2, 3, 4].map(
      (n) =>
        new EventBatch([collectedEvent({ n })], () => {
          told.push(n);
          if (bad.includes(n)) throw error;
        }),
    );

const WHERE = 'collector source failed in `acknowledge` of an EventBatch';

describe('an error in acknowledge', () => {
  const forwarders: Record<string, (delivered: unknown[]) => TestPlugins['forward'][string]> = {
    'at once':
      (delivered) =>
      ({ event }) =>
        void delivered.push(event.data.n),
    later:
      (delivered) =>
      ({ event }) => {
        delivered.push(event.data.n);
        return of(1).pipe(delay(10));
      },
    'in batches': (delivered) =>
      ({
        get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true, data }) }),
        forward: ({ event }: { event: { data: { n: number } } }) => void delivered.push(event.data.n),
        forwardBatch: ({ events }: { events: readonly { data: { n: number } }[] }) =>
          void delivered.push(...events.map(({ data }) => data.n)),
      }) as never,
  };

  describe.each(Object.keys(forwarders))('of events that a forwarder delivers %s', (how) => {
    it.each([{}, { ordered: false }, { delivery: { attempts: 1 } }, { delivery: { attempts: 3 } }])(
      'fails the run of its collector, and nothing is delivered again: %j',
      (pipeline) => {
        const delivered: unknown[] = [];
        const told: number[] = [];
        const { manager, logger } = states({
          collect: { source: source(told) },
          forward: { out: forwarders[how]?.(delivered) as never },
          pipeline,
        });
        // What the collector has emitted by then is delivered.
        expect(delivered).toEqual(how === 'later' ? [1, 2, 3, 4] : [1, 2]);
        expect(told).toEqual([1, 2]);
        expect(logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
        expect(manager.stats().main).toMatchObject({ retries: 0, dropped: {} });
        expect(logger.lines.filter((line) => /^(?:warn|error).*out/.test(line))).toEqual([]);
      },
    );
  });

  it('gives no event to the dead letter', () => {
    const delivered: unknown[] = [];
    const dead: unknown[] = [];
    const { logger } = states({
      collect: { source: source([], undefined, [1, 2, 3, 4]) },
      forward: { out: ({ event }) => void delivered.push(event.data.n), dead: () => void dead.push(1) },
      pipeline: { forward: ['out'], delivery: { attempts: 1, dead_letter: 'dead' } },
    });
    expect(delivered).toEqual([1]);
    expect(dead).toEqual([]);
    expect(logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
  });

  it.each<[string, NonNullable<TestPlugins['process']>[string]]>([
    ['drops', () => []],
    ['drops later', () => of().pipe(delay(5))],
    [
      'fails on',
      () => {
        throw new PluginError('no');
      },
    ],
  ])('of events that a processor %s is that of the collector', (_, drop) => {
    const told: number[] = [];
    const { logger } = states({
      collect: { source: source(told) },
      process: { drop },
      forward: { out: () => undefined },
    });
    expect(told).toEqual([1, 2]);
    expect(logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
  });

  it('of a batch without events, or of one that was dropped for lack of room, is that of the collector', () => {
    const fail = () => {
      throw new PluginError('the state is gone');
    };
    const empty = states({
      collect: { source: () => new EventBatch([], fail) },
      forward: { out: () => undefined },
    });
    expect(empty.logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
    const dropped = states({
      collect: {
        source: () =>
          of(...[1, 2, 3].map((n) => new EventBatch([collectedEvent({ n })], n === 3 ? fail : undefined))),
      },
      forward: { out: () => of(1).pipe(delay(10)) },
      pipeline: { max_in_flight: 1, buffer: { max_events: 1, when_full: 'drop_newest' } },
    });
    expect(dropped.logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
  });

  it('of a batch with whole and cut lines is that of the collector, also if a promise tells of it', () => {
    const rejected = {
      // biome-ignore lint/suspicious/noThenProperty: a promise that rejects at once, in virtual time
      then: (_: unknown, fail: (error: unknown) => void) => fail(new PluginError('the state is gone')),
    };
    const cut = { ...collectedEvent({ line: 'b' }), truncated: true };
    const { logger } = states({
      collect: {
        source: () => of(new EventBatch([collectedEvent({ line: 'a' }), cut], () => rejected as never)),
      },
      forward: { out: () => undefined },
    });
    expect(logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
  });

  it('ends the other collectors, whose events are delivered and acknowledged', () => {
    const told: unknown[] = [];
    const batch = new EventBatch([collectedEvent({ n: 'other' })], (outcome) => void told.push(outcome));
    const { logger } = states({
      collect: { other: () => of(batch).pipe(delay(0)), endless: () => NEVER, source: source([]) },
      forward: { out: () => of(1).pipe(delay(10)) },
    });
    expect(told).toEqual(['forwarded']);
    expect(logger.lines).toContain(`error main: failed: ${WHERE}: the state is gone`);
  });

  it('says what value of ctx.state it was, and does not start the pipeline again', () => {
    const delivered: unknown[] = [];
    const { logger } = states({
      collect: {
        source: ({ ctx }: { ctx: PipelineRunContext }) =>
          [1, undefined, 3].map(
            (n) => new EventBatch([collectedEvent({ n: n ?? 0 })], () => ctx.state.set('last', n as number)),
          ),
      },
      forward: { out: ({ event }) => void delivered.push(event.data.n) },
      pipeline: { restart: true },
    });
    expect(delivered).toEqual([1, 0]);
    expect(logger.lines).toContainEqual(
      expect.stringContaining(
        `error main: failed: ${WHERE}: ctx.state.set: the value of \`last\` is undefined; expected`,
      ),
    );
  });

  it('withholds a message that could quote an event', () => {
    const { logger } = states({
      collect: { source: source([], new TypeError('hunter2 is not a function')) },
      forward: { out: () => undefined },
    });
    expect(logger.lines).toContainEqual(
      expect.stringMatching(/failed: collector source failed in `acknowledge`.*TypeError/),
    );
    expect(logger.lines.join('\n')).not.toContain('hunter2');
  });

  it('counts if it is that of a promise too', async () => {
    const { logger, manager } = states({
      collect: {
        source: () => [
          new EventBatch([collectedEvent({ n: 1 })], (() =>
            Promise.reject(new PluginError('gone'))) as never),
        ],
      },
      forward: { out: () => undefined },
    });
    expect(manager.stats().main).toMatchObject({ retries: 0 });
    await Promise.resolve();
    expect(logger.lines.join('\n')).not.toContain('attempt 1');
  });
});

describe('a collector that fails', () => {
  it('is named in the log and in the health of its pipeline', () => {
    const { logger } = states({
      collect: {
        one: () => NEVER,
        two: () => {
          throw new PluginError('cannot reach the server');
        },
      },
      forward: { out: () => undefined },
    });
    expect(logger.lines).toContain('error main: failed: collector two: cannot reach the server');
  });
});
