import { describe, expect, it } from '@jest/globals';
import { Batches, batchOf } from '../../src/engine/batches.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { splitFailed } from '../../src/engine/split-failed.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { serialise } from '../../src/sdk/serialise.ts';

const ENVELOPE = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a', backfill: true, isTruncated: false };
const delivery = new Delivery(5, () => {});
const batches = new Batches([
  { rows: LineEvents.of(['0', '1'], ENVELOPE), delivery },
  batchOf(
    ['2', '3', '4'].map((line) => collectedEvent({ line })),
    delivery,
  ),
]);
const linesOf = ({ events }: Batches) => events.map(({ data }) => data.line).join('');
const failing = (failedEvents: PluginError['failedEvents'], others: object = {}) =>
  Object.assign(new PluginError('no', { failedEvents }), others);

/** What became of the events, as the positions of each kind. */
function split(error: unknown, failsInPart = true) {
  const found = splitFailed(batches, error, failsInPart);
  return (
    found && {
      delivered: linesOf(found.delivered),
      lost: [...found.lost.keys()].join(''),
      rest: linesOf(found.rest),
      restErrors: [...found.restErrors.keys()].join(''),
      isUntried: found.isUntried,
      wasSent: found.wasSent,
    }
  );
}

describe('A call that failed in part is split', () => {
  it.each([
    ['some may succeed later', failing([1, 2]), { delivered: '034', lost: '', rest: '12', restErrors: '12' }],
    [
      'some never will',
      failing([1, { index: 4, reason: 'no', permanent: true }]),
      { delivered: '023', lost: '4', rest: '1', restErrors: '1' },
    ],
    ['all failed', failing([0, 1, 2, 3, 4]), { delivered: '', lost: '', rest: '01234', restErrors: '01234' }],
  ])('where %s', (_, error, expected) => {
    expect(split(error)).toEqual({ ...expected, isUntried: false, wasSent: true });
  });

  it('where the rest was not tried yet, unless nothing was', () => {
    expect(split(failing([3, 4], { unfinished: true }))?.isUntried).toBe(true);
    expect(split(failing([0, 1, 2, 3, 4], { unfinished: true }))?.isUntried).toBe(false);
  });

  it('where one event has no JSON form: the others were not sent', () => {
    const data: Record<string, unknown> = {};
    data.circle = data;
    const event = collectedEvent(data);
    const all = new Batches([...batches.list, batchOf([event], delivery)]);
    let thrown: unknown;
    try {
      serialise(event);
    } catch (error) {
      thrown = error;
    }
    const found = splitFailed(all, thrown, false);
    expect(found).toMatchObject({ isUntried: true, wasSent: false });
    expect(found?.delivered.size).toBe(0);
    expect([...(found?.lost ?? [])]).toEqual([[5, thrown]]);
    expect(linesOf(found?.rest ?? batches)).toBe('01234');
    // It is not one of these.
    expect(splitFailed(batches, thrown, false)).toBeUndefined();
  });

  it.each([
    ['the error names no events', new PluginError('no'), true],
    ['the error names an event that there is not', failing([5]), true],
    ['the forwarder cannot fail in part', failing([1]), false],
  ])('but not where %s', (_, error, failsInPart) => {
    expect(split(error, failsInPart)).toBeUndefined();
  });
});
