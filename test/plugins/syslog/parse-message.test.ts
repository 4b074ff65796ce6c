import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { messageParser } from '../../../plugins/syslog/parse-message.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const RECEIVED = '2026-11-26T15:00:01.000Z';

function parse(text: string, zone?: string) {
  const { fields, timestamp } = messageParser(zone)(text, '10.0.0.7', RECEIVED);
  const { source, ...others } = fields;
  expect(source).toBe('10.0.0.7');
  return timestamp === undefined ? others : { ...others, timestamp };
}

const NOTICE = { facility: 'user', severity: 'notice' };

describe('a message of RFC 5424', () => {
  it('has all of its fields, and structured data as objects', () => {
    const text =
      '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog 42 ID47 ' +
      '[exampleSDID@32473 iut="3" eventSource="App \\"x\\" \\\\ \\]"][b ip="1" ip="2"][c] \ufeffAn event';
    expect(parse(text)).toEqual({
      ...{ facility: 'local4', severity: 'notice', hostname: 'mymachine.example.com', appname: 'evntslog' },
      ...{ procid: '42', msgid: 'ID47', message: 'An event', timestamp: '2003-10-11T22:14:15.003Z' },
      structured_data: {
        'exampleSDID@32473': { iut: '3', eventSource: 'App "x" \\ ]' },
        b: { ip: ['1', '2'] },
        c: {},
      },
    });
  });

  it.each([
    ['no values', '<34>1 - - - - - -', { message: '' }],
    ['a message after no values', '<34>1 - - - - - - m', { message: 'm' }],
    ['a header that ends early', '<34>1 - web1', { hostname: 'web1', message: '' }],
    ['structured data that is not closed', '<34>1 - - - - - [a b="c" m', { message: '[a b="c" m' }],
    [
      'structured data with a quote that is not closed',
      '<34>1 - - - - - [a b="c] m',
      { message: '[a b="c] m' },
    ],
    ['text in place of structured data', '<34>1 - - - - - m n', { message: 'm n' }],
    ['text that starts with a dash', '<34>1 - - - - - -m', { message: '-m' }],
    [
      'a bracket in a value',
      '<34>1 - - - - - [a b="]"] m',
      { structured_data: { a: { b: ']' } }, message: 'm' },
    ],
    [
      'an escape of another character',
      '<34>1 - - - - - [a b="\\n"] m',
      { structured_data: { a: { b: '\\n' } }, message: 'm' },
    ],
    ['newlines', '<34>1 - - - - - - a\nb', { message: 'a\nb' }],
  ])('may have %s', (_, text, fields) => {
    expect(parse(text)).toEqual({ facility: 'auth', severity: 'crit', ...fields });
  });

  it('keeps names such as __proto__ as names', () => {
    const { structured_data } = parse('<34>1 - - - - - [__proto__ __proto__="1" constructor="2"]') as {
      structured_data: object;
    };
    expect(JSON.stringify(structured_data)).toBe('{"__proto__":{"__proto__":"1","constructor":"2"}}');
    expect(({} as Record<string, unknown>).constructor).toBe(Object);
  });

  it.each([
    ['2026-01-02T03:04:05.123456-07:00', '2026-01-02T10:04:05.123Z'],
    ['2026-01-02T03:04:05.1Z', '2026-01-02T03:04:05.100Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-12-31T23:59:60Z', '2026-12-31T23:59:59.000Z'],
    ['2026-13-02T03:04:05Z', undefined],
    ['2026-02-30T03:04:05.5Z', undefined],
    ['-', undefined],
  ])('has the time %s', (time, timestamp) => {
    expect(messageParser()(`<1>1 ${time} - - - - -`, '', RECEIVED).timestamp).toBe(timestamp);
  });
});

describe('a message of RFC 3164', () => {
  it.each([
    [
      "<34>Oct 11 22:14:15 mymachine su: 'su root' failed",
      {
        facility: 'auth',
        severity: 'crit',
        hostname: 'mymachine',
        appname: 'su',
        message: "'su root' failed",
      },
      '2026-10-11T22:14:15.000Z',
    ],
    [
      '<13>Nov  6 15:00:00 web1 postfix/smtpd[123]: connect',
      { ...NOTICE, hostname: 'web1', appname: 'postfix/smtpd', procid: '123', message: 'connect' },
      '2026-11-06T15:00:00.000Z',
    ],
    [
      '<13>Dec 31 23:59:59 web1 app: last year',
      { ...NOTICE, hostname: 'web1', appname: 'app', message: 'last year' },
      '2025-12-31T23:59:59.000Z',
    ],
    [
      '<13>2026-11-26T15:00:00.123456+01:00 web1 CRON[12]: (root) CMD',
      { ...NOTICE, hostname: 'web1', appname: 'CRON', procid: '12', message: '(root) CMD' },
      '2026-11-26T14:00:00.123Z',
    ],
    [
      '<13>Nov 26 15:00:00 app[7]: no host name',
      { ...NOTICE, appname: 'app', procid: '7', message: 'no host name' },
      '2026-11-26T15:00:00.000Z',
    ],
    [
      '<13>Nov 26 15:00:00 web1 no tag here',
      { ...NOTICE, hostname: 'web1', message: 'no tag here' },
      '2026-11-26T15:00:00.000Z',
    ],
    [
      '<13>Nov 26 15:00:00 fe80::1 app: an address',
      { ...NOTICE, hostname: 'fe80::1', appname: 'app', message: 'an address' },
      '2026-11-26T15:00:00.000Z',
    ],
    [
      '<189>123: *Mar  1 18:46:11.123 UTC: %SYS-5-CONFIG_I: Configured',
      { facility: 'local7', severity: 'notice', appname: '%SYS-5-CONFIG_I', message: 'Configured' },
      '2026-03-01T18:46:11.123Z',
    ],
    [
      '<13>Nov 26 2025 15:00:00 web1 a: b',
      { ...NOTICE, hostname: 'web1', appname: 'a', message: 'b' },
      '2025-11-26T15:00:00.000Z',
    ],
    ['<13>Nov 26 15:00:00 single', { ...NOTICE, message: 'single' }, '2026-11-26T15:00:00.000Z'],
    ['<13>app: no time', { ...NOTICE, appname: 'app', message: 'no time' }, undefined],
    ['<13>app[7]: no time', { ...NOTICE, appname: 'app', procid: '7', message: 'no time' }, undefined],
    ['<13>1 bottle', { ...NOTICE, message: '1 bottle' }, undefined],
    ['<13>just text', { ...NOTICE, message: 'just text' }, undefined],
    ['error: no priority', { ...NOTICE, message: 'error: no priority' }, undefined],
    ['<13>Feb 30 12:00:00 web1 a: b', { ...NOTICE, message: 'Feb 30 12:00:00 web1 a: b' }, undefined],
    ['<192>too high', { ...NOTICE, message: '<192>too high' }, undefined],
    ['<>x', { ...NOTICE, message: '<>x' }, undefined],
    ['<1', { ...NOTICE, message: '<1' }, undefined],
    ['<0>', { facility: 'kern', severity: 'emerg', message: '' }, undefined],
    ['', { ...NOTICE, message: '' }, undefined],
  ])('%j', (text, fields, timestamp) => {
    expect(parse(text)).toEqual(timestamp === undefined ? fields : { ...fields, timestamp });
  });

  it('has its time in the zone of the configuration, unless it names one', () => {
    const time = (text: string) => messageParser('Europe/Berlin')(text, '', RECEIVED).timestamp;
    expect(time('<13>Nov 26 15:00:00 web1 a: b')).toBe('2026-11-26T14:00:00.000Z');
    expect(time('<13>Jul 26 15:00:00.5 web1 a: b')).toBe('2026-07-26T13:00:00.500Z');
    expect(time('<13>Nov 26 15:00:00 UTC: %A: b')).toBe('2026-11-26T15:00:00.000Z');
    expect(time('<13>2026-11-26T15:00:00+02:00 web1 a: b')).toBe('2026-11-26T13:00:00.000Z');
  });

  it('follows the clock into the next year', () => {
    const parse = messageParser();
    const text = '<13>Jan  1 00:00:00 web1 a: b';
    expect(parse(text, '', '2026-06-01T00:00:00.000Z').timestamp).toBe('2026-01-01T00:00:00.000Z');
    expect(parse(text, '', '2026-12-31T23:59:59.000Z').timestamp).toBe('2027-01-01T00:00:00.000Z');
  });
});

it('never fails, loses no text, and takes time in proportion to the length', () => {
  const piece = fc.constantFrom(
    '<',
    '13',
    '>',
    '1',
    ' ',
    '-',
    '[',
    ']',
    '"',
    '\\',
    '=',
    'a',
    ':',
    'Nov 26 15:00:00',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const message = messageParser()(`<13>${pieces.join('')}`, '', RECEIVED).fields.message;
      expect(typeof message).toBe('string');
    }),
    { numRuns: propertyRuns(1000) },
  );
  for (const part of ['[', '[a ', '[a b="', '\\"', '[a b="" ', ' ', 'a:', '<13>', '0']) {
    const message = `<13>1 - - - - - [a ${part.repeat(200_000)}`;
    expect(parse(message).message).toBe(message.slice('<13>1 - - - - - '.length));
    parse(`<13>${part.repeat(200_000)}`);
  }
});
