import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { applyRulesInOrder } from '../../operators/masks/apply-rule.ts';
import { isPhoneNumber } from '../../operators/masks/checks/phone.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { rulesOf } from './packs.ts';

const examples = createRequire(import.meta.url)('libphonenumber-js/examples.mobile.json');
const numbers = getCountries().flatMap((country) => getExampleNumber(country, examples) ?? []);

describe('phone numbers, beside libphonenumber', () => {
  it('are found in international form of every country', () => {
    const rules = rulesOf(['pii/contact']);
    const written = numbers.flatMap((number) => [number.formatInternational(), number.format('E.164')]);
    expect(written.length).toBeGreaterThan(480);
    const left = written.filter(
      (text) => applyRulesInOrder(`call ${text} now`, rules) !== 'call <:phone:> now',
    );
    expect(left).toEqual([]);
  });

  it('have the lengths that it knows', () => {
    const codes = [...new Set(getCountries().map((country) => getCountryCallingCode(country)))];
    // The North American plan is checked more closely. Two countries with other lengths share 599.
    const code = fc.constantFrom(...codes.filter((one) => one !== '1' && one !== '599'));
    const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 6, maxLength: 14 });
    const property = fc.property(code, digits, (start, rest) => {
      const text = `+${start}${rest.join('')}`;
      const parsed = parsePhoneNumberFromString(text);
      // It reads a prefix for calls within a country as none: +49 0 30 as +49 30.
      fc.pre(parsed?.number === text && new Set(text.slice(1)).size > 1);
      expect([text, isPhoneNumber(text)]).toEqual([text, parsed?.isPossible()]);
    });
    fc.assert(property, { numRuns: propertyRuns(400) });
  });
});
