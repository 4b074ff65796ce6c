import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mayHaveEncoded, replaceEncoded } from '../../../../operators/masks/redact/decode.ts';
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

describe('mayHaveEncoded', () => {
  it('lets no string pass in which replaceEncoded finds something', () => {
    let found = 0;
    fc.assert(
      fc.property(strings, (text) => {
        const replaced = replaceEncoded(text, LAYERS, () => '<>');
        if (replaced === text) return;
        found++;
        expect(mayHaveEncoded(Buffer.from(text), LAYERS)).toBe(true);
      }),
      { numRuns: propertyRuns(600) },
    );
    expect(found).toBeGreaterThan(propertyRuns(40));
  });

  it.each([
    ['2026-01-01T00:00:00Z GET /api/v1/orders/24806?page=13 7764fbfc-6ee1-48c2-a827-4e9e6fe5fc76', false],
    ['hash 9b32ceb4acb449f5a2e0d2ddd982d119', false],
    [`token ${Buffer.from('{"password":"hunter2"}').toString('base64')}`, true],
    [`-enc ${Buffer.from('echo hunter2 or so', 'utf16le').toString('base64')}`, true],
    ['q=%41', true],
  ])('of %p is %p', (line, may) => {
    expect(mayHaveEncoded(Buffer.from(line), LAYERS)).toBe(may);
  });
});
