import { describe, expect, it } from '@jest/globals';
import { Batches, batchOf } from '../../src/engine/batches.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { toJsonLine } from '../../src/sdk/serialise.ts';

const ENVELOPE = { timestamp: '2026-01-01T00:00:00.000Z', source: 'a', backfill: true, isTruncated: false };
const first = new Delivery(2, () => {});
const second = new Delivery(3, () => {});
const events = ['3', '4', '5'].map((line) => collectedEvent({ line }));
const batches = new Batches([
  { rows: LineEvents.of(['1', '2'], ENVELOPE), delivery: first },
  batchOf(events, second),
]);
const linesOf = ({ list }: Batches) =>
  list.map(({ rows, delivery }) => [
    delivery === first ? 'first' : 'second',
    rows.events.map(({ data }) => data.line).join(''),
  ]);

describe('Batches', () => {
  it.each<[start: number, end: number | undefined, expected: readonly (readonly string[])[]]>([
    [
      0,
      undefined,
      [
        ['first', '12'],
        ['second', '345'],
      ],
    ],
    [0, 2, [['first', '12']]],
    [
      1,
      4,
      [
        ['first', '2'],
        ['second', '34'],
      ],
    ],
    [2, 3, [['second', '3']]],
    [5, undefined, []],
  ])('are cut from %d to %s, each part with its delivery', (start, end, expected) => {
    expect(linesOf(batches.slice(start, end))).toEqual(expected);
  });

  it('are selected by positions that count through all of them', () => {
    expect(linesOf(batches.select((position) => position % 2 === 0))).toEqual([
      ['first', '1'],
      ['second', '35'],
    ]);
    expect(batches.select((position) => position > 2).size).toBe(2);
    expect(linesOf(batches.select((position) => position > 1))).toEqual([['second', '345']]);
  });

  it.each([0, 100, 10_000])('write the rows of all, with room for %d bytes', (room) => {
    const wanted = batches.events.map((event) => toJsonLine(event)).join('');
    expect(batches.toJsonLines(Buffer.alloc(room)).toString()).toBe(wanted);
  });

  it('give each event with its delivery', () => {
    const pairs = [...batches.each()].map(([{ data }, delivery]) => [data.line, delivery === first]);
    expect(pairs).toEqual([
      ['1', true],
      ['2', true],
      ['3', false],
      ['4', false],
      ['5', false],
    ]);
  });
});
