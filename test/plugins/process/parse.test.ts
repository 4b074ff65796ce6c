import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { csvParser, parseCri, parseJsonValue } from '../../../plugins/parse/formats.ts';
import { logfmtParser } from '../../../plugins/parse/logfmt.ts';
import parse from '../../../plugins/process/parse.ts';
import type { CollectedEvent } from '../../../src/sdk/events.ts';
import { serialise } from '../../../src/sdk/serialise.ts';
import { deepFreeze } from '../../support/deep-freeze.ts';
import { processContext } from './context.ts';

const TIME = '2026-01-01T00:00:00.000Z';

const parsed = (settings: object) => parse.get_config_schema().safeParse({ plugin: 'parse', ...settings });

function results(settings: object, data: CollectedEvent['data']): CollectedEvent[] {
  const config = parsed(settings);
  if (!config.success) throw new Error(JSON.stringify(config.error.issues));
  const event = deepFreeze({ timestamp: TIME, data });
  return parse.process({ ctx: processContext(config.data).ctx as never, event }) as CollectedEvent[];
}

const COMBINED =
  '10.0.0.1 - ada [10/Oct/2026:13:55:36 +0200] "GET /a?b=\\"c HTTP/1.1" 200 2326 "-" "Mozilla/5.0 (X11)"';

describe('parse', () => {
  it.each<[object, string, object]>([
    [{ format: 'json' }, '{"a":1,"b":{"c":[true,null]}}', { a: 1, b: { c: [true, null] } }],
    [{ format: 'json', into: 'app.log' }, '[1,2]', { app: { log: [1, 2] } }],
    [
      { format: 'logfmt' },
      'level=info msg="it \\"works\\"\\n\\u00e9 \\\\u00e9" n=1 e= log.level=x',
      { level: 'info', msg: 'it "works"\né \\u00e9', n: '1', e: '', 'log.level': 'x' },
    ],
    [
      { format: 'json' },
      '{"id":12345678901234567890,"t":[1790000000123456789],"s":"\\"12345678901234567890","f":0.12345678901234567,"n":-9007199254740991,"e":1e400}',
      {
        id: '12345678901234567890',
        t: ['1790000000123456789'],
        s: '"12345678901234567890',
        f: '0.12345678901234567',
        n: -9007199254740991,
        e: '1e400',
      },
    ],
    [
      { format: 'regex', pattern: '^(?<queue>\\w+): (?<n>\\d+)(?: (?<unit>s))?' },
      'mail: 12',
      { queue: 'mail', n: '12' },
    ],
    [{ format: 'csv', columns: ['a', 'b', 'c'] }, 'x,"y ""z"", w",', { a: 'x', b: 'y "z", w', c: '' }],
    [{ format: 'csv', columns: ['a', 'b'], delimiter: ';' }, '1;2,3', { a: '1', b: '2,3' }],
    [{ format: 'csv', columns: ['a', 'b'] }, '"two\nlines",C:\\x', { a: 'two\nlines', b: 'C:\\x' }],
    [
      { format: 'combined' },
      COMBINED,
      {
        remote_addr: '10.0.0.1',
        user: 'ada',
        time: '10/Oct/2026:13:55:36 +0200',
        method: 'GET',
        path: '/a?b=\\"c',
        protocol: 'HTTP/1.1',
        status: 200,
        bytes: 2326,
        user_agent: 'Mozilla/5.0 (X11)',
      },
    ],
    [
      { format: 'combined' },
      '::1 - - [10/Oct/2026:13:55:36 +0200] "\\x16\\x03" 400 -',
      {
        remote_addr: '::1',
        time: '10/Oct/2026:13:55:36 +0200',
        request: '\\x16\\x03',
        status: 400,
        bytes: 0,
      },
    ],
    [
      { format: 'cri' },
      '2026-10-06T00:17:09.669794202Z stderr P an unfinished ',
      { time: '2026-10-06T00:17:09.669794202Z', stream: 'stderr', partial: true, line: 'an unfinished ' },
    ],
  ])('%j of %s', (settings, line, expected) => {
    const [event] = results(settings, { line, source: 'a.log' });
    expect(event).toEqual({ timestamp: TIME, data: { source: 'a.log', ...expected } });
  });

  it('reads another field, and replaces what has the same name', () => {
    const data = { http: { body: '{"a":1}', x: 1 }, a: 0 };
    expect(results({ format: 'json', field: 'http.body' }, data)[0]?.data).toEqual({ http: { x: 1 }, a: 1 });
  });

  it.each([
    [{ format: 'json' }, '{"a":'],
    [{ format: 'json' }, '[1]'],
    [{ format: 'json' }, 'null'],
    [{ format: 'json' }, `{"a":${'['.repeat(65)}${']'.repeat(65)}}`],
    [{ format: 'json' }, '['.repeat(1_000_000)],
    [{ format: 'json' }, JSON.stringify({ a: 'x'.repeat(5_000_000) })],
    [{ format: 'logfmt' }, 'a plain sentence'],
    [{ format: 'logfmt' }, ' '],
    [{ format: 'logfmt' }, 'level=info retry with AKIAQ3ZK7WLMP2XYZT4R for bob@corp-mail.net'],
    [{ format: 'logfmt' }, 'a=b '.repeat(1001)],
    [{ format: 'logfmt' }, `level=info msg="${'x'.repeat(5_000_000)}"`],
    [{ format: 'combined' }, COMBINED.replace('b=', 'b'.repeat(12_000_000))],
    [{ format: 'regex', pattern: '(?<a>x)' }, 'x'.repeat(5_000_000)],
    [{ format: 'logfmt' }, 'a="open'],
    [{ format: 'regex', pattern: '^(?<n>\\d+)$' }, 'none'],
    [{ format: 'csv', columns: ['a', 'b'] }, 'one'],
    [{ format: 'csv', columns: ['a'] }, 'one,two'],
    [{ format: 'csv', columns: ['a'] }, '"open'],
    [{ format: 'csv', columns: ['a'] }, '"a"b'],
    [{ format: 'combined' }, 'GET /'],
    [{ format: 'cri' }, 'just a line'],
  ])('%j: what is not in the format is kept, dropped, or fails without its content', (settings, line) => {
    const data = { line, source: 'a.log' };
    expect(results(settings, data)).toEqual([{ timestamp: TIME, data }]);
    expect(results({ ...settings, on_error: 'drop' }, data)).toEqual([]);
    const { format } = settings;
    expect(() => results({ ...settings, on_error: 'fail' }, data)).toThrow(
      new Error(`the field \`line\` cannot be parsed as ${format}`),
    );
  });

  it.each([
    [{ format: 'logfmt' }, `level=info msg="${'\\x'.repeat(2_000_000)}"`],
    [{ format: 'combined' }, COMBINED.replace('b=', '\\x'.repeat(2_000_000))],
  ])('%j: takes a string that is nearly as long as may be', (settings, line) => {
    expect(results({ ...settings, on_error: 'fail' }, { line })[0]?.data).not.toHaveProperty('line');
  });

  it('limits the time of expressions that never backtrack, too', () => {
    // V8 takes time for each character and each part of the expression.
    const parts = Array.from({ length: 100 }, (_, index) => `(?<x${index}>.*?) `).join('');
    const settings = { format: 'regex', pattern: `^${parts}q$` };
    expect(() => results(settings, { line: 'a '.repeat(1_000_000) })).toThrow(
      'a regular expression took too long',
    );
  });

  it('finds fields whose names have dots', () => {
    const line = '{"log.level":"WARN","@timestamp":"2026-11-23T12:00:00Z"}';
    expect(results({ format: 'json', level: 'log.level', timestamp: '@timestamp' }, { line })[0]).toEqual({
      timestamp: '2026-11-23T12:00:00.000Z',
      data: { 'log.level': 'WARN', '@timestamp': '2026-11-23T12:00:00Z', level: 'warn' },
    });
    const data = { http: { 'body.text': '{"a":1}' }, 'http.x': 1 };
    expect(results({ format: 'json', field: 'http.body.text' }, data)[0]?.data).toEqual({
      http: {},
      'http.x': 1,
      a: 1,
    });
  });

  it('keeps an event without the field, or with no text in it', () => {
    for (const data of [{}, { line: 1 }]) {
      expect(results({ format: 'json' }, data)).toEqual([{ timestamp: TIME, data }]);
    }
  });

  it('recognises the time and the level if asked to', () => {
    const line = '{"time":"2026-02-03T04:05:06.789123+02:00","level":"WARNING","msg":"x"}';
    expect(results({ format: 'json', timestamp: 'time', level: 'level' }, { line })).toEqual([
      {
        timestamp: '2026-02-03T02:05:06.789Z',
        data: { time: '2026-02-03T04:05:06.789123+02:00', level: 'warn', msg: 'x' },
      },
    ]);
    expect(results({ format: 'json' }, { line })[0]).toMatchObject({
      timestamp: TIME,
      data: { level: 'WARNING' },
    });
    const other = '{"time":"yesterday","level":"blue"}';
    expect(results({ format: 'json', timestamp: 'time', level: 'level' }, { line: other })[0]).toMatchObject({
      timestamp: TIME,
      data: { level: 'blue' },
    });
  });

  it('takes `__proto__` for a name like any other', () => {
    const line = '{"__proto__":{"polluted":true},"a":1}';
    const [event] = results({ format: 'json' }, { line });
    expect(Object.getPrototypeOf(event?.data)).toBe(Object.prototype);
    expect(event?.data).not.toHaveProperty('polluted');
    expect(serialise(event as CollectedEvent)).toContain('"a":1');
    expect((Object.prototype as { polluted?: unknown }).polluted).toBeUndefined();
    const [pairs] = results({ format: 'logfmt' }, { line: '__proto__=x constructor=y' });
    expect(Object.getPrototypeOf(pairs?.data)).toBe(Object.prototype);
    expect(pairs?.data.constructor).toBe('y');
  });

  it.each([
    [{ format: 'xml' }, ['format']],
    [{ format: 'regex' }, ['pattern']],
    [{ format: 'regex', pattern: '(' }, ['pattern']],
    [{ format: 'regex', pattern: '\\d+' }, ['pattern']],
    [{ format: 'regex', pattern: '(?i)(?<a>(a+)+)$' }, ['pattern']],
    [{ format: 'json', pattern: '(?<a>x)' }, ['pattern']],
    [{ format: 'csv' }, ['columns']],
    [{ format: 'csv', columns: [] }, ['columns']],
    [{ format: 'csv', columns: ['a', 'b', 'a'] }, ['columns']],
    [{ format: 'json', delimiter: ';' }, ['delimiter']],
    [{ format: 'json', into: '__proto__.x' }, ['into']],
  ])('refuses %j', (settings, path) => {
    expect(parsed(settings)).toMatchObject({ success: false, error: { issues: [{ path }] } });
  });
});

describe('the formats', () => {
  it('json gives what was written', () => {
    /** As JSON writes it without an exponent. */
    const isLarge = (value: unknown) =>
      typeof value === 'number' &&
      Number.isInteger(value) &&
      !Number.isSafeInteger(value) &&
      Math.abs(value) < 1e21;
    const value = fc.jsonValue({ maxDepth: 5 });
    fc.assert(
      fc.property(value, (json) => {
        const expected = JSON.stringify(json, (_, inner) => (isLarge(inner) ? String(inner) : inner));
        expect(parseJsonValue(JSON.stringify(json))).toEqual(JSON.parse(expected));
      }),
    );
  });

  const word = fc.stringMatching(/^[a-z_.]{1,8}$/);

  it('logfmt gives the pairs that were written', () => {
    const pairs = fc.uniqueArray(fc.tuple(word, fc.string()), { minLength: 1, selector: ([key]) => key });
    fc.assert(
      fc.property(pairs, (all) => {
        const text = all.map(([key, value]) => `${key}="${value.replace(/["\\]/g, '\\$&')}"`).join(' ');
        expect(logfmtParser()(text)).toEqual(Object.fromEntries(all));
      }),
    );
  });

  it('csv gives the values that were written', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string(), { minLength: 1, maxLength: 6 }),
        fc.constantFrom(',', ';', '\t'),
        (values, delimiter) => {
          const columns = values.map((_, index) => `c${index}`);
          const quoted = values.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter);
          expect(Object.values(csvParser(columns, delimiter)(quoted) as object)).toEqual(values);
          const plain = values.map((value) => value.replaceAll('"', '').replaceAll(delimiter, ''));
          expect(Object.values(csvParser(columns, delimiter)(plain.join(delimiter)) as object)).toEqual(
            plain,
          );
        },
      ),
    );
  });

  it('no text makes a parser throw or take long', () => {
    const parsers = [parseJsonValue, logfmtParser(), parseCri, csvParser(['a'], ',')];
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('"', '=', ' ', '\\', ',').chain((c) => fc.constant(c.repeat(50_000))),
    );
    fc.assert(fc.property(text, (any) => parsers.forEach((parser) => void parser(any))));
  });
});
