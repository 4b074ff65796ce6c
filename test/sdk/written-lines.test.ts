import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toUtc } from '../../operators/support/clock.ts';
import { countWrittenEvents } from '../../src/sdk/json-lines/written-lines.ts';
import { parseJson } from '../../src/sdk/parse-json.ts';
import { WrittenEvents } from '../../src/sdk/rows.ts';
import { toJsonLine } from '../../src/sdk/serialise.ts';
import { propertyRuns } from '../support/property-runs.ts';

const TIMESTAMP = '2026-01-01T00:00:00.000Z';
const isTimestamp = (text: string) => toUtc(text) === text;
const count = (text: string) => countWrittenEvents(Buffer.from(text), isTimestamp);
const line = (data: string, rest = '') => `{"timestamp":"${TIMESTAMP}","data":${data}${rest}}\n`;

/** What the plain way says: an event for each line, as `serialise` would write it. */
function isEventForEach(text: string, lines: number): boolean {
  const documents = text.split('\n').slice(0, -1);
  return (
    text.endsWith('\n') &&
    documents.length === lines &&
    documents.every((document) => {
      const { timestamp, data } = JSON.parse(document);
      return (
        toUtc(timestamp) === timestamp && typeof data === 'object' && data !== null && !Array.isArray(data)
      );
    })
  );
}

const data = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());

describe('countWrittenEvents', () => {
  it('counts what serialise writes, whatever it holds', () => {
    fc.assert(
      fc.property(fc.array(data, { minLength: 1, maxLength: 5 }), fc.boolean(), (all, backfill) => {
        const events = all.map((one) => ({ timestamp: TIMESTAMP, data: one, backfill, tag: 'a' }));
        const documents = Buffer.from(events.map((event) => toJsonLine(event)).join(''));
        expect(countWrittenEvents(documents, isTimestamp)).toBe(events.length);
        expect(new WrittenEvents(documents, events.length).events).toEqual(parseJson(JSON.stringify(events)));
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('counts nothing that is not an event for each line, however little of it was changed', () => {
    const pieces = [
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\n',
      '0',
      '-',
      '.',
      'e',
      'u',
      'true',
      '\u0001',
      ' ',
    ];
    const change = fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom(...pieces));
    fc.assert(
      fc.property(data, change, (one, [place, removed, added]) => {
        const text =
          toJsonLine({ timestamp: TIMESTAMP, data: one }) + line('{"a":[1.5e3,{"b":null},"\\u00e9"]}');
        const at = place % text.length;
        const changed = text.slice(0, at) + added + text.slice(at + removed);
        const found = count(changed);
        if (found !== undefined) expect(isEventForEach(changed, found)).toBe(true);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  it.each([
    ['an unfinished line', line('{"a":1}').slice(0, -1)],
    ['a line that is not JSON', `${line('{}')}hunter2\n`],
    ['an empty line', `${line('{}')}\n`],
    ['two events in a line', line('{}').trim() + line('{}')],
    ['data that is an array', line('[]')],
    ['a second data', line('{}', ',"data":1')],
    ['a second data in disguise', line('{}', ',"\\u0064ata":1')],
    ['a second timestamp', line('{}', ',"timestamp":1')],
    ['a second timestamp in disguise', line('{}', ',"t\\u0069mestamp":1')],
    ['a timestamp of no day', line('{}').replace('01-01', '02-30')],
    ['a timestamp with another zone', line('{}').replace('000Z', '0+01')],
    ['a control character', line('{"a":"\t"}')],
    ['an unknown escape', line('{"a":"\\x"}')],
    ['an escape without digits', line('{"a":"\\u00g0"}')],
    ['a leading zero', line('{"a":01}')],
    ['a comma too many', line('{"a":1,}')],
    ['a bracket that closes an object', line('{"a":1]')],
    ['nothing', ''],
  ])('leaves %s to who parses it', (_, text) => {
    expect(count(text)).toBeUndefined();
  });

  it('leaves more levels than it can follow, and more bytes than it has room for, to who parses them', () => {
    const nested = (levels: number) => line(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(count(nested(61))).toBe(1);
    expect(count(nested(62))).toBeUndefined();
    expect(count(line(`{"a":"${'x'.repeat(2_000_000)}"}`))).toBeUndefined();
  });

  it('counts lines of several timestamps', () => {
    const other = line('{"b":2}').replace('01-01', '12-31');
    expect(count(line('{"a":1}') + other + line('{}') + line('{}'))).toBe(4);
  });
});
