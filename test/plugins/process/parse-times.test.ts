import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { recogniseLevel } from '../../../plugins/parse/level.ts';
import { timeZone } from '../../../plugins/parse/time-zone.ts';
import { timeReader } from '../../../plugins/parse/timestamp.ts';
import parse from '../../../plugins/process/parse.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { processContext } from './context.ts';

const READ_AT = '2026-03-10T12:00:00.000Z';
const read = timeReader();

describe('a time', () => {
  it.each([
    ['2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03t04:05:06z', '2026-02-03T04:05:06.000Z'],
    ['2026-02-03t04:05:06.789+01:00', '2026-02-03T03:05:06.789Z'],
    ['2026-02-03 04:05:06,789', '2026-02-03T04:05:06.789Z'],
    ['2026-02-03T04:05Z', '2026-02-03T04:05:00.000Z'],
    ['2026-02-03T04:05:06.123456789+0100', '2026-02-03T03:05:06.123Z'],
    ['2026-02-03T04:05:06.9999Z', '2026-02-03T04:05:06.999Z'],
    ['2026-02-03 04:05:06.789123 +0100 CET m=+0.012', '2026-02-03T03:05:06.789Z'],
    ['2026-11-23T12:00:00+02', '2026-11-23T10:00:00.000Z'],
    ['2026-11-23 12:00:00 +0200', '2026-11-23T10:00:00.000Z'],
    ['2026-11-23 12:00:00 UTC', '2026-11-23T12:00:00.000Z'],
    ['2021/06/17 19:25:59', '2021-06-17T19:25:59.000Z'],
    ['2021/06/17 19:25:59.123456', '2021-06-17T19:25:59.123Z'],
    ['10/Oct/2026:13:55:36 +0200', '2026-10-10T11:55:36.000Z'],
    ['10/Oct/2026 13:55:36', '2026-10-10T13:55:36.000Z'],
    ['10-Oct-2026 13:55:36.123', '2026-10-10T13:55:36.123Z'],
    ['10 Oct 2026 13:55:36,123', '2026-10-10T13:55:36.123Z'],
    ['Fri, 09 Oct 2026 13:55:36 GMT', '2026-10-09T13:55:36.000Z'],
    ['Fri, 9 Oct 2026 13:55:36 -0700', '2026-10-09T20:55:36.000Z'],
    ['Fri Oct  9 13:55:36 2026', '2026-10-09T13:55:36.000Z'],
    ['Fri Oct 09 13:55:36.123456 2026', '2026-10-09T13:55:36.123Z'],
    ['Fri Oct  9 13:55:36 UTC 2026', '2026-10-09T13:55:36.000Z'],
    ['Oct  9 2026 13:55:36', '2026-10-09T13:55:36.000Z'],
    ['20261123120000', '2026-11-23T12:00:00.000Z'],
    [20261123120000, '2026-11-23T12:00:00.000Z'],
    ['20261123T120000Z', '2026-11-23T12:00:00.000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    // Leap seconds
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
    ['2016-12-31T23:59:60.5Z', '2016-12-31T23:59:59.500Z'],
    ['2017-01-01T08:59:60+09:00', '2016-12-31T23:59:59.000Z'],
    ['31/Dec/2016:23:59:60 +0000', '2016-12-31T23:59:59.000Z'],
    ['2016-12-31T12:59:60Z', undefined],
    ['2016-12-31T23:59:61Z', undefined],
    // Epochs, none of them later than what was written
    [1_770_000_000, '2026-02-02T02:40:00.000Z'],
    [1_770_000_000.5, '2026-02-02T02:40:00.500Z'],
    [1_558_541_946.431, '2019-05-22T16:19:06.431Z'],
    [1_770_000_000_123, '2026-02-02T02:40:00.123Z'],
    ['1770000000123.9', '2026-02-02T02:40:00.123Z'],
    ['1770000000123999', '2026-02-02T02:40:00.123Z'],
    ['1770000000123999999', '2026-02-02T02:40:00.123Z'],
    ['1770000000999999999', '2026-02-02T02:40:00.999Z'],
    ['1770000000.999999999', '2026-02-02T02:40:00.999Z'],
    ['2026-02-30T00:00:00Z', undefined],
    ['2026-02-00T00:00:00Z', undefined],
    ['31/Feb/2026:13:55:36 +0200', undefined],
    ['2026-02-03T24:05:06Z', undefined],
    ['2026-02-03T04:60:06Z', undefined],
    ['2026-02-03T04:05:06+25:00', undefined],
    ['2026-02-03 04:05:06 CET', undefined],
    [5, undefined],
    ['4111111111111111', undefined],
    ['20261301120000', undefined],
    ['2026-13-03T04:05:06Z', undefined],
    ['31/Foo/2026:13:55:36 +0200', undefined],
    ['now', undefined],
    ['', undefined],
    [`2026-02-03T04:05:06.${'0'.repeat(1000)}Z`, undefined],
    [-1, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [null, undefined],
    [{}, undefined],
  ])('%j', (value, expected) => expect(read(value, READ_AT)).toBe(expected));

  it('is never rounded up, whatever its unit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 946_684_800, max: 4_102_444_799 }),
        fc.integer({ min: 0, max: 999_999_999 }),
        (s, ns) => {
          const nanos = String(ns).padStart(9, '0');
          const expected = new Date(s * 1000 + Number(nanos.slice(0, 3))).toISOString();
          expect(read(`${s}${nanos}`, READ_AT)).toBe(expected);
          expect(read(`${s}.${nanos}`, READ_AT)).toBe(expected);
          expect(read(Number(`${s}${nanos.slice(0, 6)}`), READ_AT)).toBe(expected);
          expect(read(Number(`${s}.${nanos.slice(0, 3)}`), READ_AT)).toBe(expected);
        },
      ),
    );
  });

  it.each([
    ['Mar 10 11:00:00', READ_AT, '2026-03-10T11:00:00.000Z'],
    ['Mar 11 11:00:00', READ_AT, '2026-03-11T11:00:00.000Z'],
    ['Mar 12 11:00:00', READ_AT, '2025-03-12T11:00:00.000Z'],
    ['Dec 31 23:59:59', '2026-01-01T00:00:05.000Z', '2025-12-31T23:59:59.000Z'],
    ['Jan  1 00:00:01', '2025-12-31T23:59:59.000Z', '2026-01-01T00:00:01.000Z'],
    ['Feb 29 12:00:00', READ_AT, '2024-02-29T12:00:00.000Z'],
    ['0614 15:16:01.123456', READ_AT, '2025-06-14T15:16:01.123Z'],
    ['Jun 14 15:16:01', '1970-01-01T00:00:00.000Z', '1970-06-14T15:16:01.000Z'],
    ['Jun 31 15:16:01', READ_AT, undefined],
  ])('without a year is of the last year that is not in the future: %s', (value, reference, expected) => {
    expect(read(value, reference)).toBe(expected);
  });

  it.each([
    ['Europe/Berlin', '2026-01-15 12:00:00', '2026-01-15T11:00:00.000Z'],
    ['Europe/Berlin', '2026-07-15 12:00:00', '2026-07-15T10:00:00.000Z'],
    ['Europe/Berlin', '2026-07-15T12:00:00Z', '2026-07-15T12:00:00.000Z'],
    ['Europe/Berlin', '2026-07-15 12:00:00 +0900', '2026-07-15T03:00:00.000Z'],
    // The clocks show 02:30 twice, and on the other day never.
    ['Europe/Berlin', '2026-10-25 02:30:00', '2026-10-25T00:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25 03:00:00', '2026-10-25T02:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29 02:30:00', '2026-03-29T01:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-07-15 12:00:00', '2026-07-15T01:30:00.000Z'],
    ['-03:30', '2026-07-15 12:00:00', '2026-07-15T15:30:00.000Z'],
    ['Europe/Berlin', 'Jan 1 00:30:00', '2025-12-31T23:30:00.000Z'],
  ])('without a zone is of %s: %s', (zone, value, expected) => {
    expect(timeReader({ zone })(value, READ_AT)).toBe(expected);
  });

  it('in the zone of this machine', () => {
    const shown = Date.UTC(2026, 6, 15, 12);
    expect(timeZone('local')?.(shown)).toBe(new Date(2026, 6, 15, 12).getTime());
  });

  it.each([
    ['%d.%m.%Y %H:%M:%S', '15.07.2026 12:00:01', '2026-07-15T12:00:01.000Z'],
    ['%m/%d/%y %I:%M %p', '07/15/26 12:30 AM', '2026-07-15T00:30:00.000Z'],
    ['%m/%d/%y %I:%M %p', '07/15/26 12:30 pm', '2026-07-15T12:30:00.000Z'],
    ['%A, %d %B %Y', 'Wednesday, 15 July 2026', '2026-07-15T00:00:00.000Z'],
    ['%b %e %T', 'Jul  5 12:00:01', '2025-07-05T12:00:01.000Z'],
    ['%F %T%.f %z', '2026-07-15 12:00:01.123456 +02:00', '2026-07-15T10:00:01.123Z'],
    ['%F %T%.3f%:z', '2026-07-15 12:00:01.123Z', '2026-07-15T12:00:01.123Z'],
    ['%Y-%j %R', '2028-366 10:00', '2028-12-31T10:00:00.000Z'],
    ['%Y-%j %R', '2026-366 10:00', undefined],
    ['%s.%f', '1770000000.5', '2026-02-02T02:40:00.500Z'],
    ['[%d/%b/%Y:%H:%M:%S.%L]', '[15/jul/2026:12:00:01.5]', '2026-07-15T12:00:01.500Z'],
    ['%Y%m%d %% (x)', '20260715 % (x)', '2026-07-15T00:00:00.000Z'],
    ['%F %T %Z', '2026-07-15 12:00:01 UTC', '2026-07-15T12:00:01.000Z'],
    ['%F %T %Z', '2026-07-15 12:00:01 CEST', undefined],
    ['%F', '2026-07-15T12:00:00Z', undefined],
  ])('in a format of its own: %s', (format, value, expected) => {
    expect(timeReader({ formats: ['never %F', format] })(value, READ_AT)).toBe(expected);
  });

  it('takes a name that is not unique for the zone of the configuration', () => {
    const options = { formats: ['%F %T %Z'], zone: 'Europe/Berlin' };
    expect(timeReader(options)('2026-07-15 12:00:01 CEST', READ_AT)).toBe('2026-07-15T10:00:01.000Z');
  });
});

describe('a level', () => {
  it.each([
    ['WARNING', 'warn'],
    [50, 'error'],
    ['emerg', 'fatal'],
    ['\u001b[32minfo\u001b[39m', 'info'],
    ['\u001b[1;31mERROR\u001b[0m', 'error'],
    ['INFO ', 'info'],
    ['\tdebug\r\n', 'debug'],
    ['[warn]', 'warn'],
    ['<ERROR>:', 'error'],
    ...['0', '1', '2'].map((severity) => [severity, 'fatal'] as const),
    [3, 'error'],
    [4, 'warn'],
    [5, 'info'],
    ['6', 'info'],
    [7, 'debug'],
    ['I', 'info'],
    ['W', 'warn'],
    ['E', 'error'],
    ['F', 'fatal'],
    ['D', 'debug'],
    ['D2', 'debug'],
    ['trace8', 'trace'],
    ['DEBUG1', 'debug'],
    ['WARN3', 'warn'],
    ['trce', 'trace'],
    ['fail', 'error'],
    ...[10, 20, 30, 40, 50, 60].map(
      (level, index) => [level, ['trace', 'debug', 'info', 'warn', 'error', 'fatal'][index]] as const,
    ),
    [8, undefined],
    [35, undefined],
    ['blue', undefined],
    ['constructor', undefined],
    [`info${' '.repeat(100)}`, undefined],
    ['', undefined],
    [{}, undefined],
  ])('%j', (value, expected) => expect(recogniseLevel(value)).toBe(expected));
});

describe('what is not recognised', () => {
  it('is counted, and warned of once for each field, without its content', () => {
    const result = parse
      .get_config_schema()
      .safeParse({ plugin: 'parse', format: 'json', timestamp: 'time', level: 'level' });
    if (!result.success) throw new Error('invalid');
    const warnings: string[] = [];
    const counted: unknown[] = [];
    const { ctx } = processContext(result.data);
    const logger = { ...ctx.logger, warn: (message: string) => void warnings.push(message) };
    const counter = () => ({ inc: (...args: unknown[]) => void counted.push(args) });
    const metrics = { ...ctx.metrics, counter: counter as never };
    const observed = { ...ctx, logger, metrics };
    const process = (data: object) =>
      parse.process({
        ctx: observed as never,
        event: { timestamp: READ_AT, data: { line: JSON.stringify(data) } },
      }) as CollectedEvent[];
    expect(process({ time: 'hunter2', level: 'secret' })[0]).toEqual({
      timestamp: READ_AT,
      data: { time: 'hunter2', level: 'secret' },
    });
    process({ time: 'hunter3', level: 'info' });
    process({ msg: 'without either' });
    expect(warnings).toEqual([
      expect.stringMatching(/^the field `time` has a time that is not recognised.*`timestamp.format`/),
      expect.stringMatching(/^the field `level` has a level that is not recognised/),
    ]);
    expect(warnings.join()).not.toMatch(/hunter|secret/);
    expect(counted).toEqual([
      [1, { what: 'timestamp' }],
      [1, { what: 'level' }],
      [1, { what: 'timestamp' }],
    ]);
  });
});

it.each([
  [{ field: 'time', format: '%H:%M:%S' }, 'it has no day'],
  [{ field: 'time', format: '%Q' }, 'the directive `%Q` is not known'],
  [{ field: 'time', format: ['%F', '%F %d'] }, 'two directives for the same part'],
  [{ field: 'time', format: '%F %I:%M' }, '%I and %p require each other'],
  [{ field: 'time', format: '%F %' }, 'the directive `%` is not known'],
  [{ field: 'time', zone: 'Mars/Olympus' }, 'a time zone, such as Europe/Berlin'],
])('refuses %j', (timestamp, message) => {
  const result = parse.get_config_schema().safeParse({ plugin: 'parse', format: 'json', timestamp });
  expect(result.success).toBe(false);
  expect(JSON.stringify(result)).toContain(message);
});
