import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { type CountryCode, getExampleNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { ordinaryLines } from '../../plugins/pack-tests/ordinary-lines.ts';
import { Random } from '../../plugins/pack-tests/templates.ts';
import { packNames } from '../../plugins/packs/load-packs.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { resultOf } from './measure-realistic.ts';
import { entriesOf, sampleOf } from './realistic.ts';

const redactorOf = (...packs: string[]) =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs }), { now: () => 0, onMask: () => {} });
const examples = createRequire(import.meta.url)('libphonenumber-js/examples.mobile.json');
const PACKS = packNames().filter((name) => name.startsWith('pii/phone-'));

/** Numbers as people write them. Most are of ranges that no one has. */
const WRITTEN: Readonly<Record<string, string>> = {
  br: `(11) 91234-5678|(21) 3123-4567|11 91234-5678|11912345678|(11)912345678|11 9 1234 5678|(011) 91234-5678|
    (85) 98888.7777|21 2345-6789|(31) 9 9876-5432|011 3123-4567|(61) 3321 4455`,
  de: `030 12345678|030/12345678|030-1234567|(030) 1234567|089 / 123 456 78|0170 1234567|0171-123 45 67|01701234567|
    040 1234-567|06221 123456|0221 9876543|(0711) 12 34 56|0911-98 76 54|03012345678|0152 28 89 54 56|0800 1234567`,
  es: `612 345 678|612 34 56 78|91 123 45 67|612345678|612-345-678|(91) 123 45 67|93 1234567|900 123 456|
    712 345 678|612.34.56.78|954 12 34 56|(954) 12 34 56`,
  fr: `06 12 34 56 78|0612345678|06.12.34.56.78|06-12-34-56-78|01 23 45 67 89|07 98 76 54 32|0800 123 456|
    06/12/34/56/78|09 70 12 34 56|0 800 123 456|(0)6 12 34 56 78|06 123 456 78|01\u00a023\u00a045\u00a067\u00a089`,
  in: `98765 43210|98765-43210|9876543210|098765 43210|0 98765 43210|011-23456789|(022) 2345 6789|080 2345 6789|
    987 654 3210|9876 543 210|044-2345 6789|0120 4567890`,
  it: `347 1234567|333-1234567|3471234567|06 12345678|02 1234567|055 123456|0571-123456|02/12345678|347 123 4567|
    06 1234 5678|340.1234567|(02) 1234567|388 12 34 567`,
  nl: `06-12345678|06 12345678|06 12 34 56 78|020-1234567|020 123 4567|0612345678|(020) 1234567|0172-123456|
    0172 12 34 56|010 - 123 45 67|06 - 1234 5678|030 2345678`,
  pl: `512 345 678|512-345-678|22 123 45 67|(22) 123 45 67|512345678|601.234.567|12 1234567|(12) 123-45-67|
    888 123 456|71 345 67 89|(58) 1234567|790 12 34 56`,
  uk: `020 7946 0958|0161 496 0123|01632 960123|07700 900123|07700900123|(020) 7946 0958|0800 123 4567|
    01632-960-123|07700-900-123|(01632) 960123|0121 4960 123|02079460958|0131 496 0987|029 2018 0000`,
  us: `(415) 555-0132|415-555-0132|415.555.0132|415 555 0132|4155550132|1-415-555-0132|1 (415) 555-0132|
    415/555-0132|(415)555-0132|415 555-0132|1 415 555 0132|1.415.555.0132`,
};
const PLACES = [
  'call NUMBER now',
  'NUMBER',
  'Tel.: NUMBER, room 4',
  'tel:NUMBER',
  'user ada <ada@example.org> NUMBER',
  '"phone": "NUMBER"',
  'phone=NUMBER status=200',
  'ada;NUMBER;Paris',
  'callback from NUMBER failed after 12 ms',
  '2026-11-26T10:11:12Z INFO sms to NUMBER queued',
  '2026-11-26 10:11:12 NUMBER answered',
  '[10:11:12.123] NUMBER',
  "{'mobile': 'NUMBER'}",
];

it('there is a pack for each country', () => {
  expect(PACKS).toEqual(Object.keys(WRITTEN).map((country) => `pii/phone-${country}`));
});

describe.each(Object.entries(WRITTEN))('phone numbers of %s', (country, written) => {
  const redactor = redactorOf(`pii/phone-${country}`);
  const numbers = written.split('|').map((number) => number.trim());

  it('are masked as a whole wherever they stand', () => {
    const samples = numbers.flatMap((number) => PLACES.map((place) => [place, number] as const));
    const left = samples.filter(
      ([place, number]) =>
        redactor.maskText(place.replace('NUMBER', number)) !== place.replace('NUMBER', '<:phone:>'),
    );
    expect(left.map(([place, number]) => place.replace('NUMBER', number))).toEqual([]);
  });

  it('are masked as libphonenumber writes them', () => {
    const code = (country === 'uk' ? 'GB' : country.toUpperCase()) as CountryCode;
    const example = getExampleNumber(code, examples)?.nationalNumber ?? '';
    const r = new Random(51);
    const forms: string[] = [];
    for (let tries = 0; forms.length < 100 && tries < 20_000; tries++) {
      const start = example.slice(0, 1 + r.below(3));
      const digits = Array.from({ length: example.length - start.length }, () => r.below(10)).join('');
      const number = parsePhoneNumberFromString(start + digits, code);
      if (number?.isValid()) forms.push(number.formatNational());
    }
    const found = forms.filter((form) => redactor.maskText(`call ${form} now`) === 'call <:phone:> now');
    expect(forms.length).toBeGreaterThan(30);
    expect(found.length / forms.length).toBeGreaterThanOrEqual(0.97);
  });
});

describe('with all phone packs', () => {
  const redactor = redactorOf(...PACKS);

  it('numbers in realistic lines without a key are masked', () => {
    const withContact = redactorOf('pii/contact', ...PACKS);
    const entries = entriesOf().filter(({ notation }) => notation === 'phone without a key');
    const fates = entries.flatMap((entry) =>
      [0, 1, 2, 3].flatMap((number) => {
        const sample = sampleOf(entry, number);
        const { units } = resultOf(entry, sample, withContact.maskText(sample.text).split('\n'));
        return units.map(({ fate }) => fate);
      }),
    );
    expect(fates.length).toBeGreaterThan(40);
    expect(fates.filter((fate) => fate === 'masked').length / fates.length).toBeGreaterThanOrEqual(0.9);
  });

  it('ordinary lines are left', () => {
    const lines = ordinaryLines(8000, 52);
    const altered = lines.filter((line) => redactor.maskText(line) !== line);
    expect(altered).toEqual([]);
  });

  it.each([
    'user_id=612345678 session=712345678',
    '{"pid":512345678,"offset":4155550132}',
    'order 0612345678 shipped',
    'wrote 612 345 678 bytes',
    'epoch 1764151872 and 1764151872123',
    'ts=1764151872.123',
    '06 12 34 56 78 90',
    '10 06 12 34 56 78',
    '2026-11-26 10:11:12',
    '26.11.2026 06:12:34',
    'x0612345678',
    'v0.612.345.678',
    '192.168.12.34',
    'port 0612',
    'a 064 b',
    '/orders/0612345678',
    'blk_0612345678',
    '1.0612345678',
    'took 512345678 ns',
    'cpu 412345678 ms 612345678 ops',
    'IBAN DE89 3704 0044 0532 0130 00',
    '#612345678',
    'sha 0612345678abcdef',
    '[0612345678901234]',
    'requestId: 3471234567',
    'size 347 1234567 bytes',
  ])('%s is left', (text) => {
    expect(redactor.maskText(text)).toBe(text);
  });

  it('they are not among all packs', () => {
    expect(redactorOf('all').maskText('see 06 12 34 56 78')).toBe('see 06 12 34 56 78');
  });
});
