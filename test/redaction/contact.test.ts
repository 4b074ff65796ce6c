import { expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs: ['pii/contact'] }), {
  now: () => 0,
  onMask: () => {},
});

it.each([
  ['bob@exämple.com', '<:email:>'],
  ['müller@example.com', '<:email:>'],
  ['jörg.müller@straße.de, ok', '<:email:>, ok'],
  ['иван@пример.рф', '<:email:>'],
  ['tel:+491701234567', 'tel:<:phone:>'],
  ['phone=01701234567', 'phone=<:phone-field:>'],
  ['phone=01701234567 200 17', 'phone=<:phone-field:> 200 17'],
  ['Mobil: 0170 1234567', 'Mobil: <:phone-field:>'],
  ['Telefon: 030/12345678', 'Telefon: <:phone-field:>'],
])('%s is masked as a whole', (text, masked) => {
  expect(redactor.maskText(text)).toBe(masked);
});

it.each([
  { phone: '01701234567' },
  { mobile: 491701234567 },
  { user: { phone_number: '0170-1234567' } },
  { phones: ['01701234567'] },
])('%j is masked as a line and as an event', (data) => {
  const { data: masked } = redactor.maskEvent({ data }) as { data: unknown };
  expect(JSON.stringify(masked)).toMatch(/"<:phone-field:>"/);
  expect(JSON.parse(redactor.maskText(JSON.stringify(data)))).toEqual(masked);
});

it.each([
  'phone=iPhone 15',
  'tel: 12',
  'microphone=01701234567',
  'imsi=219474561085198 cell=562187621',
  '{"mobile":true,"mobile_id":491701234567}',
])('%s has no phone', (text) => {
  expect(redactor.maskText(text)).toBe(text);
});
