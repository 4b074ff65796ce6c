import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import { collectedEvent } from '../../src/sdk/events.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { ParsedEvents } from '../../src/sdk/parsed-events.ts';
import { EventRows, LazyRows, type Rows, WrittenEvents } from '../../src/sdk/rows.ts';
import { toJsonLine } from '../../src/sdk/serialise.ts';
import { WrittenFields } from '../../src/sdk/written-fields.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

/** A form that implements only what it has to. */
class LeastRows extends LazyRows {
  readonly size: number;
  readonly #of: LineEvents;

  constructor(of: LineEvents) {
    super();
    this.#of = of;
    this.size = of.size;
  }

  protected createEvents() {
    return this.#of.events;
  }

  toJsonLines() {
    return this.#of.toJsonLines();
  }
}

const block = (lines: readonly string[]) =>
  new LineBlock(Buffer.from(lines.map((line) => `${line}\n`).join('')), lines.length);

const writtenFields = (lines: readonly string[]) =>
  new WrittenFields(new WrittenEvents(LineEvents.of(lines, ENVELOPE).toJsonLines(), lines.length), ENVELOPE);

const FORMS: readonly (readonly [name: string, make: (lines: readonly string[]) => Rows])[] = [
  ['lines of strings', (lines) => LineEvents.of(lines, ENVELOPE)],
  ['lines of bytes', (lines) => new LineEvents(block(lines), ENVELOPE)],
  ['JSON', (lines) => new WrittenEvents(LineEvents.of(lines, ENVELOPE).toJsonLines(), lines.length)],
  [
    'JSON whose events are known',
    (lines) => {
      const rows = LineEvents.of(lines, ENVELOPE);
      return new WrittenEvents(rows.toJsonLines(), lines.length, rows.events);
    },
  ],
  ['JSON whose fields are parsed', (lines) => writtenFields(lines)],
  ['a form that implements the least', (lines) => new LeastRows(LineEvents.of(lines, ENVELOPE))],
];

const line$ = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', 'ä', '€', '7'), maxLength: 6 });
const rows$ = fc.array(fc.tuple(line$, fc.boolean()), { maxLength: 12 });

/** Everything that a stage can learn of rows. */
const contentOf = (rows: Rows) => ({
  size: rows.size,
  events: rows.events,
  json: rows.toJsonLines().toString(),
  bytes: Array.from({ length: rows.size }, (_, position) => rows.bytesAt(position)),
});

/** What is asked first must not change what is answered later. */
const PREPARATIONS: readonly ((rows: Rows) => unknown)[] = [
  () => {},
  (rows) => rows.events,
  (rows) => rows.written(),
  (rows) => rows.size > 0 && rows.bytesAt(0),
  (rows) => rows instanceof ParsedEvents && rows.fields,
];

describe.each(FORMS)('rows that hold %s', (_, make) => {
  it('are selected, cut, measured and written as events are', () => {
    const prepare$ = fc.constantFrom(...PREPARATIONS);
    fc.assert(
      fc.property(rows$, fc.nat(12), fc.nat(12), prepare$, (entries, one, other, prepare) => {
        const lines = entries.map(([line]) => line);
        const rows = make(lines);
        prepare(rows);
        const expected = new EventRows(LineEvents.of(lines, ENVELOPE).events);
        expect(contentOf(rows)).toEqual(contentOf(expected));
        const isKept = (position: number) => entries[position]?.[1] === true;
        expect(contentOf(rows.select(isKept))).toEqual(contentOf(expected.select(isKept)));
        const start = Math.min(one, other, lines.length);
        const end = Math.min(Math.max(one, other), lines.length);
        expect(contentOf(rows.slice(start, end))).toEqual(contentOf(expected.slice(start, end)));
        expect(contentOf(rows.written())).toEqual(contentOf(expected));
      }),
    );
  });

  it('stay the same rows if all are selected, and call `keep` once for each in order', () => {
    const asked: number[] = [];
    const rows = make(['a', 'b', 'c']);
    expect(rows.select((position) => asked.push(position) > 0)).toBe(rows);
    expect(asked).toEqual([0, 1, 2]);
  });

  it('keep their form, and the events that were created', () => {
    const rows = make(['a', 'b', 'c']);
    const { events } = rows;
    const selected = rows.select((position) => position !== 1);
    expect(selected.prefersJson).toBe(true);
    expect(selected.events[1]).toBe(events[2]);
  });
});

describe('rows whose fields are parsed', () => {
  it('may be changed in place, unless somebody holds the events', () => {
    const change = (rows: WrittenFields) => {
      for (const fields of rows.takeFields()) fields.line = 'masked';
    };
    const rows = writtenFields(['a', 'b']);
    change(rows);
    expect(rows.fields.map(({ line }) => line)).toEqual(['masked', 'masked']);
    expect(rows.slice(1, 2).toJsonLines().toString()).toContain('"line":"masked"');
    expect(
      rows
        .select((position) => position === 0)
        .toJsonLines()
        .toString(),
    ).toContain('"line":"masked"');

    const held = writtenFields(['a', 'b']);
    const { events } = held;
    change(held);
    expect(events.map(({ data }) => data.line)).toEqual(['a', 'b']);
  });

  it('have numbers as they are written', () => {
    const data = { large: 12_345_678_901_234_567_000, small: 1.5e-300, text: '9007199254740993' };
    const line = toJsonLine({ timestamp: ENVELOPE.timestamp, data });
    const { backfill: _, ...envelope } = ENVELOPE;
    expect(new WrittenFields(new WrittenEvents(Buffer.from(line), 1), envelope).events[0]?.data).toEqual(
      data,
    );
  });
});

describe('rows that hold events', () => {
  it('count 0 bytes for an event that cannot be written', () => {
    const circle: Record<string, unknown> = {};
    circle.circle = circle;
    const whole = collectedEvent({ n: 1 });
    const rows = new EventRows([whole, collectedEvent(circle)]);
    expect([rows.bytesAt(0), rows.bytesAt(1)]).toEqual([Buffer.byteLength(toJsonLine(whole)), 0]);
  });

  it.each([
    ['none', [false, false]],
    ['some', [true, false]],
    ['all', [true, true]],
    ['none', []],
  ] as const)('say that %s of them are truncated', (expected, truncated) => {
    const events = truncated.map((is) => ({ ...collectedEvent({}), ...(is && { truncated: true }) }));
    expect(new EventRows(events).truncated).toBe(expected);
  });
});
