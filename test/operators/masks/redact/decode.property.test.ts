import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DECODERS, encodingsIn, replaceEncoded } from '../../../../operators/masks/redact/decode.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const LAYERS = { json: 1, percent: 1, base64: 1 };

/** Encoded text, in pieces, between what looks like it. */
const strings = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '%41', '=', '-', ' ', '\n', '/', 'ab', '0123456789abcdef'),
      fc.string({ maxLength: 40 }).map((text) => Buffer.from(text, 'utf8').toString('base64')),
      fc.string({ maxLength: 40 }).map((text) => Buffer.from(text, 'utf8').toString('base64url')),
      fc.string({ maxLength: 20 }).map((text) => Buffer.from(text, 'utf16le').toString('base64')),
      fc.uint8Array({ minLength: 15, maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/** What tokens are. The search for them jumps to where one can be. */
const EXPRESSIONS = {
  json: /"([^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"/g,
  percent: /((?<![\w.~%+*!()/:@-])(?=[\w.~%+*!()/:@-]*%[0-9A-Fa-f]{2})[\w.~%+*!()/:@-]{8,})/g,
  base64: /((?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}(?![A-Za-z0-9+/_-]))/g,
};

const confusing = fc
  .array(
    fc.constantFrom(
      '"',
      '"a\\"b"',
      '"',
      '\\',
      '\\"',
      '%',
      '%41',
      '%41bcdefg',
      '%4',
      '=',
      'a',
      'bc',
      '\n',
      '.',
      'YWJjZGVmZ2hpamtsbW5vcA',
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('tokens', () => {
  it.each(DECODERS)('of $layer are those that an expression finds', ({ layer, tokens }) => {
    let found = 0;
    const isEncoded = (token: string) => layer !== 'json' || token.includes('\\');
    fc.assert(
      fc.property(fc.oneof(strings, confusing), (text) => {
        const finder = tokens();
        const shown: string[] = [];
        for (let at = finder.next(text, 0); at !== -1; at = finder.next(text, finder.end)) {
          const [place = { start: at, end: finder.end }] = finder.values?.(text) ?? [];
          shown.push(text.slice(place.start, place.end));
        }
        const expected = [...text.matchAll(EXPRESSIONS[layer])].map((match) => match[1] ?? '');
        expect(shown.filter(isEncoded)).toEqual(expected.filter(isEncoded));
        found += shown.length;
      }),
      { numRuns: propertyRuns(1000) },
    );
    expect(found).toBeGreaterThan(propertyRuns(30));
  });

  it('take no longer for a string that is not closed', () => {
    const text = `"${'\\"'.repeat(200_000)}`;
    expect(replaceEncoded(text, LAYERS, () => '<>')).toBe(text);
  });
});

describe('encodingsIn', () => {
  it('lets no string pass in which replaceEncoded finds something', () => {
    let found = 0;
    fc.assert(
      fc.property(strings, (text) => {
        const replaced = replaceEncoded(text, LAYERS, () => '<>');
        if (replaced === text) return;
        found++;
        const encodings = encodingsIn(Buffer.from(text), LAYERS);
        expect(replaceEncoded(text, LAYERS, () => '<>', encodings)).toBe(replaced);
      }),
      { numRuns: propertyRuns(600) },
    );
    expect(found).toBeGreaterThan(propertyRuns(40));
  });

  it.each([
    ['2026-01-01T00:00:00Z GET /api/v1/orders/24806?page=13 7764fbfc-6ee1-48c2-a827-4e9e6fe5fc76', []],
    ['hash 9b32ceb4acb449f5a2e0d2ddd982d119', []],
    [`token ${Buffer.from('{"password":"hunter2"}').toString('base64')}`, ['base64']],
    [`-enc ${Buffer.from('echo hunter2 or so', 'utf16le').toString('base64')}`, ['base64']],
    ['q=%41', ['percent']],
  ])('of %p are %p', (line, encodings) => {
    expect(encodingsIn(Buffer.from(line), LAYERS)).toEqual(encodings);
  });
});
