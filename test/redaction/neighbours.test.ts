import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { RedactProcessConfig } from '../../plugins/process/redact.ts';

const redactor = createRedactor(RedactProcessConfig.parse({ plugin: 'redact', packs: ['all'] }), {
  now: () => 0,
  onMask: () => {},
});

const VISA = '4539578763621486';
const OTHER = '4012888888881881';

describe('a card number beside other numbers', () => {
  it.each([',', ';', ' ', '\t', '|', '/', ', ', ' / ', '":"'])(
    'is masked with %j between them',
    (separator) => {
      expect(redactor.maskText(`${VISA}${separator}${OTHER}`)).toBe(`<:card:>${separator}<:card:>`);
      for (const number of ['1234567890', '20260101', '20261126120000123']) {
        const line = [number, VISA, number, OTHER, 'x'].join(separator);
        expect(redactor.maskText(line)).toBe([number, '<:card:>', number, '<:card:>', 'x'].join(separator));
        const masked = redactor.maskText(JSON.stringify({ row: line }));
        expect(JSON.parse(masked)).toEqual({ row: redactor.maskText(line) });
      }
    },
  );

  it.each([
    ['4539 5787 6362 1486 123', '<:card:> 123'],
    ['4539 5787 6362 1486 12/30', '<:card:> 12/30'],
    ['4539 5787 6362 1486 4012 8888 8888 1881', '<:card:> <:card:>'],
    ['2026 0101 4539 5787 6362 1486', '2026 0101 <:card:>'],
    ['[4539578763621486,4012888888881881]', '[<:card:>,<:card:>]'],
    ['{"n":[4539578763621486,4012888888881881]}', '{"n":["<:card:>","<:card:>"]}'],
  ])('%s', (text, masked) => {
    expect(redactor.maskText(text)).toBe(masked);
  });
});

it.each([
  ['%B4539578763621486^DOE/JOHN^25121011', '%B<:card:>^DOE/JOHN^25121011'],
  [';4539578763621486=25121011234567890?', ';<:card:>=25121011234567890?'],
  ['4539578763621486D25121011234567890', '<:card:>D25121011234567890'],
  ['card: 4539.5787.6362.1486', 'card: <:card:>'],
  ['card_4539578763621486', 'card_<:card:>'],
  ['pan-4539578763621486', 'pan-<:card:>'],
  ['GET /v1/cards/4539578763621486/charges', 'GET /v1/cards/<:card:>/charges'],
  ['paid with 4539578763621486', 'paid with <:card:>'],
  ['[visa,4539578763621486]', '[visa,<:card:>]'],
  ['{"cardNumber":"4539578763621486"}', '{"cardNumber":"<:card:>"}'],
  ['account number 4539578763621486', 'account number <:card:>'],
  ['accountNumber=4539578763621486', 'accountNumber=<:card:>'],
  ['order 17 paid by 4539578763621486', 'order 17 paid by <:card:>'],
  ['card no. 4539578763621486', 'card no. <:card:>'],
])('a card number is masked in %s', (text, masked) => {
  expect(redactor.maskText(text)).toBe(masked);
});

it.each([
  'blk_-4539578763621486',
  'x4539578763621486',
  '0.4539578763621486',
  'a-4539578763621486',
  '/orders/4539578763621486',
  'trace 4539578763621486 sampled',
  'trace_id=4539578763621486',
  'traceId: 4539578763621486',
  '{"traceId":"4539578763621486","spanId":"4012888888881881"}',
  '{\\"dd\\":{\\"trace_id\\":\\"4539578763621486\\"}}',
  'dd.trace_id=4539578763621486 dd.span_id=4012888888881881',
  'X-B3-TraceId: 4539578763621486',
  'b3: 80f198ee56343ba864fe8b2a57d3eff7-4539578763621486-1',
  'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-4539578763621486-01',
  'Root=1-67891233-abcdef012345678912345678;Parent=4539578763621486;Sampled=1',
  'uber-trace-id: 4bf92f3577b34da6:4539578763621486:0:1',
  'uber-trace-id: 4539578763621486:4bf92f3577b34da6:0:1',
  'INFO [orders,4539578763621486,4012888888881881,true] 1 --- started',
  'INFO [orders,4bf92f3577b34da6,4539578763621486] started',
  'trace id is 4539578763621486',
  'span #4539578763621486',
  'order 4539578763621486 shipped',
  'order no. 4539578763621486',
  'orderNumber=4539578763621486',
  'requestId=4539578763621486',
  'request-id: 4539578763621486',
  'correlation_id="4539578763621486"',
  'transaction 4539578763621486 committed',
  'session 4539578763621486 closed',
  'message id 4539578763621486',
  'tracking number: 4539578763621486',
  'ORDER_ID=4539578763621486',
])('%s is no card number', (text) => {
  expect(redactor.maskText(text)).toBe(text);
});

it.each([
  ['BE68 5390 0754 7034 EUR 100', '<:iban:> EUR 100'],
  ['BE68 5390 0754 7034 AT61 1904 3002 3457 3201', '<:iban:> <:iban:>'],
  ['BE68-5390-0754-7034', '<:iban:>'],
  ['de89370400440532013000', '<:iban:>'],
  ['"iban":"de89 3704 0044 0532 0130 00"', '"iban":"<:iban:>"'],
  ['gb29 nwbk 6016 1331 9268 19', '<:iban:>'],
  ['nl91abna0417164300 x', '<:iban:> x'],
  ['fr7630006000011234567890189', '<:iban:>'],
  ['it60x0542811101000000123456', '<:iban:>'],
  ['DE 89 3704 0044 0532 0130 00', '<:iban:>'],
  ['DE89.3704.0044.0532.0130.00', '<:iban:>'],
  ['DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000', '<:iban:>'],
  ['DE89370400440532013000,BE68539007547034', '<:iban:>,<:iban:>'],
])('an IBAN is masked in %s', (text, masked) => {
  expect(redactor.maskText(text)).toBe(masked);
});
