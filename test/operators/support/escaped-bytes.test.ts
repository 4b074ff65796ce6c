import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { escapeBytes, unescapeBytes } from '../../../operators/support/escaped-bytes.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const MIB = 2 ** 20;

/** Bytes of characters, and any others among them. */
const someBytes = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'é', '€', '語', '😀', '💀', '\ufffd').map((text) => Buffer.from(text)),
      fc.uint8Array({ minLength: 1, maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 200 },
  )
  .map((parts) => Buffer.concat(parts));

describe('escaped bytes', () => {
  it('are decoded as the bytes would be, also if the texts of two halves are joined', () => {
    const property = fc.property(someBytes, fc.nat(), (bytes, position) => {
      const cut = position % (bytes.length + 1);
      expect(unescapeBytes(escapeBytes(bytes))).toBe(bytes.toString());
      const joined = escapeBytes(bytes.subarray(0, cut)) + escapeBytes(bytes.subarray(cut));
      expect(unescapeBytes(joined)).toBe(bytes.toString());
    });
    fc.assert(property, { numRuns: propertyRuns(400) });
  });

  it('are those of no whole character', () => {
    const property = fc.property(someBytes, (bytes) => {
      const valid = bytes.toString().replaceAll('\ufffd', '');
      const kept = escapeBytes(bytes).replaceAll(/[\udc80-\udcff]/gu, '');
      expect(kept.replaceAll('\ufffd', '')).toBe(valid);
    });
    fc.assert(property, { numRuns: propertyRuns(400) });
  });

  it.each([
    ['characters of two bytes', 'é', 12 * MIB],
    ['characters of three bytes', '語', 12 * MIB],
    ['characters of four bytes', '😀', 12 * MIB],
    ['ASCII and other characters in turns', 'a語', 4 * MIB],
  ])('take bounded time and stack in long texts of %s', (_, unit, length) => {
    const text = unit.repeat(length / Buffer.byteLength(unit));
    const bytes = Buffer.concat([Buffer.from(text), Buffer.of(0xc3)]);
    const started = performance.now();
    expect(unescapeBytes(escapeBytes(bytes)) === `${text}\ufffd`).toBe(true);
    // On a quiet machine: 0.2 s.
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it.each([0x80, 0xe9])('may be all bytes of a long text: %i', (byte) => {
    const escaped = String.fromCharCode(0xdc00 + byte);
    expect(escapeBytes(Buffer.alloc(MIB, byte)) === escaped.repeat(MIB)).toBe(true);
    // An expression with a repetition fails from 8 Mi on.
    expect(unescapeBytes(escaped.repeat(9 * MIB)) === '\ufffd'.repeat(9 * MIB)).toBe(true);
  });
});
