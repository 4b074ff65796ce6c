import { describe, expect, it } from '@jest/globals';
import { PluginError } from '../../src/sdk/errors.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { states } from '../support/pipelines.ts';

describe('options of a PluginError', () => {
  it.each<[object, string]>([
    [{ premanent: true }, 'it has the unknown option `premanent`; expected cause, permanent'],
    [{ permanent: 'yes' }, 'its option `permanent` is wrong: expected true or false'],
    [{ permanent: 1 }, 'its option `permanent` is wrong'],
    [{ unfinished: 'no' }, 'its option `unfinished` is wrong'],
    [{ retryAfter: 'soon' }, 'its option `retryAfter` is wrong: expected a number of seconds'],
    [{ retryAfter: Number.NaN }, 'its option `retryAfter` is wrong'],
    [{ failedEvents: 3 }, 'its option `failedEvents` is wrong: expected an array of positions'],
    [{ failedEvents: [-1] }, 'the index -1; expected an integer of at least 0'],
    [{ failedEvents: [1.5] }, 'the index 1.5'],
    [{ failedEvents: ['1'] }, 'an index is of the type string'],
    [{ failedEvents: [null] }, 'an index is of the type object'],
    [
      { failedEvents: [{ line: 1, permanent: true }] },
      'the unknown field `line`; expected `{ index, reason, permanent }`',
    ],
    [{ failedEvents: [{ index: 1, permanent: 'yes' }] }, 'a `permanent` is neither true nor false'],
    [{ failedEvents: [{ index: 1, reason: 5 }] }, 'a `reason` is no string'],
  ])('are refused: %j', (options, problem) => {
    expect(() => new PluginError('part', options)).toThrow(
      expect.objectContaining({ code: 'MILLRACE_ARGUMENT', message: expect.stringContaining(problem) }),
    );
  });

  it.each([
    {},
    { cause: 1 },
    { permanent: undefined },
    { retryAfter: 0.5 },
    { failedEvents: [] },
    { failedEvents: [0, { index: 2 }] },
  ])('are taken: %j', (options) => {
    expect(new PluginError('part', options).message).toBe('part');
  });
});

describe('failedEvents that name no events of the batch', () => {
  it.each<[unknown, string]>([
    [[99], 'the index 99; expected an integer from 0 to 2'],
    [[3], 'the index 3'],
    [[-1], 'the index -1'],
    [[{ line: 1, permanent: true }], 'the unknown field `line`'],
    ['1', 'expected an array'],
    [[0, Number.NaN], 'the index NaN'],
  ])('make the whole call fail, and the log says why: %j', (failedEvents, problem) => {
    const calls: number[] = [];
    const { logger, manager } = states({
      collect: { source: () => new EventBatch([1, 2, 3].map((n) => collectedEvent({ n }))) },
      forward: {
        out: {
          get_config_schema: () => ({ safeParse: (data: unknown) => ({ success: true, data }) }),
          forward: () => undefined,
          forwardBatch: ({ events }: { events: readonly unknown[] }) => {
            calls.push(events.length);
            if (calls.length === 1) throw Object.assign(new Error('hunter2'), { failedEvents });
          },
        } as never,
      },
    });
    expect(calls).toEqual([3, 3]);
    expect(manager.stats().main).toMatchObject({ forwarded: { out: 3 }, dropped: {} });
    const [line = ''] = logger.lines.filter((text) => text.includes('attempt 1'));
    expect(line).toContain('main: forwarder out: attempt 1 failed');
    expect(line).toContain(problem);
    expect(line).toContain('The whole call of 3 events counts as failed');
    expect(line).not.toContain('hunter2');
  });
});
