import { expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const redactorOf = (more: object) =>
  createRedactor(RedactProcessConfig.parse({ plugin: 'redact', ...more }), {
    now: () => 0,
    onMask: () => {},
  });

const settings = {
  'the default': {},
  'a character': { action: { default: { mask_char: '*' } } },
  'last digits': { action: { default: { keep_last: 2 } } },
};
const EVENTS = [
  { cvv: 123, x: 1 },
  { a: { otp: 4839201 }, b: [1, 2] },
  { pin: 483920 },
  { pin: 483920, name: 'x' },
  { card: 4111111111111111 },
  { cards: [4111111111111111] },
];

it.each(Object.entries(settings))('a line of JSON stays JSON: %s', (_, more) => {
  const redactor = redactorOf({ packs: ['default', 'pii/payment'], ...more });
  for (const event of EVENTS) {
    for (const line of [JSON.stringify(event), JSON.stringify(event, null, 1).replaceAll('\n', ' ')]) {
      const masked = redactor.maskText(line);
      expect(masked).not.toBe(line);
      expect(JSON.parse(masked)).toEqual(redactor.maskEvent({ data: event }).data);
      const outer = redactor.maskText(JSON.stringify({ log: line, n: 1 }));
      expect(JSON.parse((JSON.parse(outer) as { log: string }).log)).toEqual(JSON.parse(masked));
    }
  }
});

it('text that is no JSON gets no quotes', () => {
  const redactor = redactorOf({ packs: ['default', 'pii/payment'] });
  expect(redactor.maskText('cvv=123, x')).toBe('cvv=<:code:>, x');
  expect(redactor.maskText('paid by 4111111111111111, 17 EUR')).toBe('paid by <:card:>, 17 EUR');
  expect(redactor.maskText('"{""cvv"":123}"')).toBe('"{""cvv"":""<:code:>""}"');
});
