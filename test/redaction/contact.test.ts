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
  ['用户@例子.公司', '<:email:>'],
  ['bob@例え.jp', '<:email:>'],
  ['请联系bob@example.com谢谢', '请联系<:email:>谢谢'],
  ['ivan@xn--e1afmkfd.xn--p1ai', '<:email:>'],
  ['박@한국.한국', '<:email:>'],
  ['user@उदाहरण.भारत', '<:email:>'],
  ['tel:+491701234567', 'tel:<:phone:>'],
  ['call 00491701234567', 'call <:phone:>'],
  ['tel:00491701234567', 'tel:<:phone:>'],
  ['{"from":"00491701234567"}', '{"from":"<:phone:>"}'],
  ['0049 170 1234567', '<:phone:>'],
  ['0049-30-1234567', '<:phone:>'],
  ['0049 (0)30 1234567', '<:phone:>'],
  ['0049(0)301234567', '<:phone:>'],
  ['0049/170/1234567', '<:phone:>'],
  ['0033612345678, 0014155550132', '<:phone:>, <:phone:>'],
  ['+49 170/1234567', '<:phone:>'],
  ['"phone": "4155550132"', '"phone": "<:phone-field:>"'],
  ['"phone":{"number":"4155550132"}', '"phone":{"number":"<:phone-field:>"}'],
  ['<phone>4155550132</phone>', '<phone><:phone-field:></phone>'],
  ['tel. 4155550132', 'tel. <:phone-field:>'],
  ['"phone1":"4155550132"', '"phone1":"<:phone-field:>"'],
  ['"telefono":"612345678"', '"telefono":"<:phone-field:>"'],
  ['"contactNumber":"9876543210"', '"contactNumber":"<:phone-field:>"'],
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
  'InitPrio=0043754335 usec=2201',
  'id=00491701234567',
  'user_id: 00491701234567',
  '004141 882162 7630 INFO started',
  '2 006706941581 eni-8df49e46fc0de6274',
  '0000491701234567',
  'seq 0012345678',
  'microphone=01701234567',
  'imsi=219474561085198 cell=562187621',
  '{"mobile":true,"mobile_id":491701234567}',
])('%s has no phone', (text) => {
  expect(redactor.maskText(text)).toBe(text);
});
