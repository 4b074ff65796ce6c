import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { logfmtParser } from '../../../plugins/parse/logfmt.ts';
import parse from '../../../plugins/process/parse.ts';

const parseLogfmt = logfmtParser();

describe('logfmt', () => {
  it.each<[string, object | undefined]>([
    // Escapes of Go's strconv.Quote, of JSON and of C
    [String.raw`msg="\x1b[31mred\x1b[0m"`, { msg: '\u001b[31mred\u001b[0m' }],
    [String.raw`m="\U0001F600 \u00e9 \ud83d\ude00"`, { m: '😀 é 😀' }],
    [String.raw`m="\a\b\f\n\r\t\v\\\"\/\x7f"`, { m: '\u0007\b\f\n\r\t\v\\"/\u007f' }],
    [String.raw`m="\101\303\244\xc3\xa4"`, { m: 'Aää' }],
    [String.raw`m="C:\Users\docs\q \x1 \9 \U00110000"`, { m: String.raw`C:\Users\docs\q \x1 \9 \U00110000` }],
    [String.raw`m="\xff\x41"`, { m: String.raw`\xffA` }],
    // Only white space of ASCII ends a value.
    ['price=1\u00a0000 a=b\u2003c d=1\u00a0', { price: '1\u00a0000', a: 'b\u2003c', d: '1\u00a0' }],
    ['a=1\tb=2\r\nc=3', { a: '1', b: '2', c: '3' }],
    // Quotes
    [`request='GET /m HTTP/1.1' code=200`, { request: 'GET /m HTTP/1.1', code: '200' }],
    [String.raw`a='it\'s' b=''`, { a: "it's", b: '' }],
    ["name='tis the=end", { name: "'tis", the: 'end' }],
    ['"my key"="a b" "é\\n"=1', { 'my key': 'a b', 'é\n': '1' }],
    ['obj={"a":1} b=2', { obj: '{"a":1}', b: '2' }],
    ['obj={"a":"x y"} b=2', undefined],
    ['a="b"c d=1', undefined],
    ['msg="cut off', undefined],
    // Words that are no pairs
    ['foo=bar plonk baz=1', { foo: 'bar', plonk: true, baz: '1' }],
    ['dry-run foo=bar', { 'dry-run': true, foo: 'bar' }],
    ['vlan="" type=Unknown (0x0000) port="P8"', { vlan: '', type: 'Unknown', port: 'P8', rest: '(0x0000)' }],
    ['a=1 b=2 three other words', undefined],
    ['a=1 b=2 two words c=3', { a: '1', b: '2', c: '3', rest: 'two words' }],
    ['a=1 AKIAQ3ZK7WLMP2XYZT4R b=2', { a: '1', b: '2', rest: 'AKIAQ3ZK7WLMP2XYZT4R' }],
    ['the value x=5 is wrong', undefined],
    ['plonk', undefined],
    // Nothing is lost.
    ['a=1 b=2 a=3 a=', { a: ['1', '3', ''], b: '2' }],
    ['rest=1 b=2 (x)', { rest: ['1', '(x)'], b: '2' }],
    // As zerolog colours keys and values, and logrus keys
    ['\u001b[36mkey=\u001b[0mvalue \u001b[36mk\u001b[0m=v', { key: 'value', k: 'v' }],
    ['err="file \u001b[33mx\u001b[0m"', { err: 'file \u001b[33mx\u001b[0m' }],
    // A line of slog, and one of Heroku
    [
      'time=2026-03-12T05:00:02.123+01:00 level=INFO msg="m s" "my key"="a\\tb" n=1',
      {
        time: '2026-03-12T05:00:02.123+01:00',
        level: 'INFO',
        msg: 'm s',
        'my key': 'a\tb',
        n: '1',
      },
    ],
    [
      'at=info path="/" sample#load=0.1MB bytes=',
      { at: 'info', path: '/', 'sample#load': '0.1MB', bytes: '' },
    ],
  ])('%j', (line, expected) => expect(parseLogfmt(line)).toEqual(expected));

  it.each([
    [
      ',',
      'a=1, b=hello world , c="x, y" ,flag,d=\'q, r\',,e=',
      { a: '1', b: 'hello world', c: 'x, y', flag: true, d: 'q, r', e: '' },
    ],
    [';', 'a=1;b = 2', { a: '1', b: '2' }],
    ['|', 'a=1|b=2 3', { a: '1', b: '2 3' }],
    ['^', 'a=1^b-c=2', { a: '1', 'b-c': '2' }],
    [']', 'a=1]b=2', { a: '1', b: '2' }],
  ])('separates pairs by %s', (delimiter, line, expected) => {
    expect(logfmtParser(delimiter)(line)).toEqual(expected);
  });

  /** What Go's `strconv.Quote` writes, and with `isAscii` its `QuoteToASCII`. */
  function quote(value: string, isAscii: boolean): string {
    const short: Record<string, string> = {
      '\u0007': 'a',
      '\b': 'b',
      '\f': 'f',
      '\n': 'n',
      '\r': 'r',
      '\t': 't',
      '\v': 'v',
    };
    const written = Array.from(value, (character) => {
      const code = character.codePointAt(0) as number;
      if ('"\\'.includes(character)) return `\\${character}`;
      if (short[character] !== undefined) return `\\${short[character]}`;
      if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
      if (!isAscii || code < 0x7f) return character;
      return code > 0xffff
        ? `\\U${code.toString(16).padStart(8, '0')}`
        : `\\u${code.toString(16).padStart(4, '0')}`;
    });
    return `"${written.join('')}"`;
  }

  it('gives what a library of Go has written', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('"', '\\', '=', ' ', '\n', '\u001b', '\u00a0', "'"),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
    });
    const pairs = fc.uniqueArray(fc.tuple(text, text), { minLength: 1, selector: ([key]) => key });
    fc.assert(
      fc.property(pairs, fc.boolean(), (all, isAscii) => {
        const line = all.map((pair) => pair.map((part) => quote(part, isAscii)).join('=')).join(' ');
        expect(parseLogfmt(line)).toEqual(Object.fromEntries(all));
      }),
    );
  });

  it('takes no long time, whatever the line', () => {
    for (const delimiter of [undefined, ',']) {
      for (const unit of [' ', 'a ', 'a,', '"', "'", '=', '\\"', 'a=" ', "a=' ", '\\x41']) {
        for (const start of ['', 'x="', "x='", 'x="a" ']) {
          const begin = performance.now();
          logfmtParser(delimiter)(start + unit.repeat(500_000 / unit.length));
          expect(performance.now() - begin).toBeLessThan(5000);
        }
      }
    }
  });
});

it.each([
  [{ format: 'json', delimiter: ',' }, 'only `format: csv` and `format: logfmt`'],
  [{ format: 'logfmt', delimiter: '=' }, 'a character other than quotes and `=`'],
])('refuses %j', (settings, message) => {
  const result = parse.get_config_schema().safeParse({ plugin: 'parse', ...settings });
  expect(result.success).toBe(false);
  expect(JSON.stringify(result)).toContain(message);
});
