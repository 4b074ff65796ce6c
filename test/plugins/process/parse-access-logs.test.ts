import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  apacheParser,
  combinedParser,
  ingressNginxParser,
  nginxParser,
  vhostCombinedParser,
} from '../../../plugins/parse/access-logs.ts';
import { parseApacheError, parseNginxError } from '../../../plugins/parse/error-logs.ts';
import parse from '../../../plugins/process/parse.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const AT = '04/Oct/2022:04:34:49 +0200';
const GET = { method: 'GET', path: '/', protocol: 'HTTP/1.1' };
const OK = '"GET / HTTP/1.1" 200 612';
const combined = combinedParser();

describe('combined', () => {
  it.each([
    ['"User User"', { request: 'User User' }],
    ['"\\x03\\x00/*\\xE0 Cookie: mstshash=Admin"', { request: '\\x03\\x00/*\\xE0 Cookie: mstshash=Admin' }],
    ['"OPTIONS sip:nm SIP/2.0"', { request: 'OPTIONS sip:nm SIP/2.0' }],
    ['"GET /a b.pdf HTTP/1.1"', { request: 'GET /a b.pdf HTTP/1.1' }],
    ['"POST /login"', { request: 'POST /login' }],
    ['""', { request: '' }],
    ['"-"', {}],
    ['"GET /old"', { method: 'GET', path: '/old' }],
    ['"PRI * HTTP/2.0"', { method: 'PRI', path: '*', protocol: 'HTTP/2.0' }],
    ['"M-SEARCH * HTTP/1.1"', { method: 'M-SEARCH', path: '*', protocol: 'HTTP/1.1' }],
    ['"CONNECT a.example:443 HTTP/1.1"', { method: 'CONNECT', path: 'a.example:443', protocol: 'HTTP/1.1' }],
  ])('takes only a request of HTTP apart: %s', (request, expected) => {
    const base = { remote_addr: '10.0.0.1', time: AT, status: 400, bytes: 0 };
    expect(combined(`10.0.0.1 - - [${AT}] ${request} 400 -`)).toEqual({ ...base, ...expected });
  });

  it('reads what others write like a line with more after it', () => {
    const part = fc.array(
      fc.constantFrom(
        ...['10.0.0.1', '::1', '-', ' ', ' - ', ',', ', ', '"', '""', '\\', '[', ']', ':', 'ä', 'GET', '/'],
      ),
      { maxLength: 5 },
    );
    const some = (...usual: string[]) =>
      fc.oneof(
        fc.constantFrom(...usual),
        part.map((parts) => parts.join('')),
      );
    const line = fc.record({
      front: some(
        '10.0.0.1 - -',
        '10.0.0.1 - ada',
        '10.0.0.1 - a b',
        '::1, ::2 - ""',
        'h:80 ::1 - -',
        '1 2 3',
      ),
      time: some(AT, '-', ''),
      request: some('GET / HTTP/1.1', 'GET /', '-', '', 'P* x HTTP/2', '- - HTTP/1.0'),
      status: fc.constantFrom('200', '-', '1'),
      size: fc.constantFrom('12', '-', '99999999999999999999', '007'),
      end: fc.constantFrom('', ' "-" "curl"', ' "http://x/" "a b"', ' "" ""', ' "-"'),
    });
    fc.assert(
      fc.property(line, ({ front, time, request, status, size, end }) => {
        const text = `${front} [${time}] "${request}" ${status} ${size}${end}`;
        const fields = combined(text);
        const more = combined(`${text} more`);
        fc.pre(fields !== undefined && fields !== null && !Object.hasOwn(fields, 'rest'));
        // A line that ends in half of an escape has no place for more.
        fc.pre(!text.endsWith('\\'));
        expect(JSON.stringify(more)).toBe(JSON.stringify({ ...(fields as object), rest: 'more' }));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  it.each([
    [' "-" "curl/7.88" "203.0.113.9"', { user_agent: 'curl/7.88', rest: '"203.0.113.9"' }],
    [' "-" "x" 345 0.007 [web-80] []', { user_agent: 'x', rest: '345 0.007 [web-80] []' }],
    [' "http://a/" "Mozilla/5.0 (cut', { referer: 'http://a/', user_agent: 'Mozilla/5.0 (cut' }],
    [' "http://a/" "cut\\', { referer: 'http://a/', user_agent: 'cut' }],
    [' "http://a/', { rest: '"http://a/' }],
    [' "a" "of a server "that" escapes nothing"', { rest: '"a" "of a server "that" escapes nothing"' }],
    [' 0.003', { rest: '0.003' }],
    ['', {}],
  ])('keeps what follows the size: %s', (end, expected) => {
    const base = { remote_addr: '10.0.0.1', time: AT, ...GET, status: 200, bytes: 612 };
    expect(combined(`10.0.0.1 - - [${AT}] ${OK}${end}`)).toEqual({ ...base, ...expected });
  });

  it.each([
    ['10.0.0.1 - ann lee', { remote_addr: '10.0.0.1', user: 'ann lee' }],
    ['10.0.0.1 - a - b', { remote_addr: '10.0.0.1', user: 'a - b' }],
    ['10.0.0.1 - 10.0.0.2 - b', { remote_addr: '10.0.0.1', user: '10.0.0.2 - b' }],
    [`10.0.0.1 - a [${AT}] \\"`, { remote_addr: '10.0.0.1', user: `a [${AT}] \\"` }],
    ['10.0.0.1 - ""', { remote_addr: '10.0.0.1' }],
    ['10.0.0.1 - ', { remote_addr: '10.0.0.1' }],
    ['10.0.0.1 ann lee', { remote_addr: '10.0.0.1', ident: 'ann', user: 'lee' }],
    ['fe80::1%eth0 - -', { remote_addr: 'fe80::1%eth0' }],
    ['[2001:db8::1] - -', { remote_addr: '[2001:db8::1]' }],
    ['10.0.0.2, unknown,127.0.0.1 - -', { remote_addr: '10.0.0.2, unknown,127.0.0.1' }],
    ['a.example 10.0.0.9 - -', { server_name: 'a.example', remote_addr: '10.0.0.9' }],
    ['a.example:443 ::1 - b', { server_name: 'a.example', server_port: 443, remote_addr: '::1', user: 'b' }],
    ['a.example 10.0.0.9, 10.0.0.8 - -', { server_name: 'a.example', remote_addr: '10.0.0.9, 10.0.0.8' }],
    ['made up by a client - -', { remote_addr: 'made up by a client' }],
  ])('reads what stands in front of the time: %s', (front, expected) => {
    const base = { time: AT, ...GET, status: 200, bytes: 612 };
    expect(combined(`${front} [${AT}] ${OK}`)).toEqual({ ...base, ...expected });
  });

  it('takes `-` for the status, and gives sizes that a number cannot hold as a string', () => {
    expect(combined(`10.0.0.1 - - [${AT}] "GET / HTTP/1.1" - 5`)).not.toHaveProperty('status');
    expect(combined(`10.0.0.1 - - [${AT}] "GET / HTTP/1.1" 200 9007199254740993`)).toMatchObject({
      bytes: '9007199254740993',
    });
  });

  it('takes no long time for what a client may send', () => {
    for (const unit of ['a,', ' - ', ':', '\\"', '[', '] ']) {
      const line = `1.1.1.1, ${unit.repeat(1_000_000 / unit.length)} - - [${AT}] ${OK}`;
      const start = performance.now();
      combined(line);
      expect(performance.now() - start).toBeLessThan(50_000);
    }
  });
});

/** As nginx and Apache write a string of a client. */
const byNginx = (value: string) =>
  value === '' ? '-' : value.replace(/["\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase()}`);
const byApache = (value: string) => (value === '' ? '-' : value.replace(/["\\]/g, '\\$&'));

describe('a client', () => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '"',
          '\\',
          ' ',
          '[',
          ']',
          ' - ',
          `[${AT}]`,
          '" 200 5 "',
          ', ',
          '-',
          '""',
          '%s',
          '$status',
        ),
        fc.string({ maxLength: 5 }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('').replaceAll('\n', ''));
  const trusted = { remote_addr: '10.0.0.1', time: AT, status: 404, bytes: 7 };

  it.each([
    ['nginx', byNginx],
    ['Apache', byApache],
  ])('can shift no column of %s, nor make a line that is not parsed', (_, written) => {
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (user, request, referer, agent) => {
        const [u, r, f, a] = [user, request, referer, agent].map(written) as [string, string, string, string];
        const end = `[${AT}] "${r}" 404 7 "${f}" "${a}"`;
        const client = { ...(f !== '-' && { referer: f }), ...(a !== '-' && { user_agent: a }) };
        expect(combined(`10.0.0.1 - ${u} ${end}`)).toMatchObject({ ...trusted, ...client });
        const vhost = vhostCombinedParser()(`a.example:80 10.0.0.1 - ${u} ${end}`);
        expect(vhost).toMatchObject({ ...trusted, ...client, server_name: 'a.example', server_port: 80 });
        const ingress = ingressNginxParser()(
          `10.0.0.1 - ${u} ${end} 345 0.007 [web] [] 10.0.0.2:80, 10.0.0.3:80 0, 7 0.001, 0.002 502, 404 ab`,
        );
        expect(ingress).toMatchObject({
          ...trusted,
          ...client,
          request_time: 0.007,
          proxy_upstream_name: 'web',
          upstream_addr: '10.0.0.2:80, 10.0.0.3:80',
          upstream_status: '502, 404',
          req_id: 'ab',
        });
        const own = nginxParser(
          '$status $request_time "$http_x_forwarded_for" $http_host [$time_local] "$request_uri" ($body_bytes_sent)',
        )(`404 0.5 "${f}" ${u} [${AT}] "${r}" (7)`);
        expect(own).toMatchObject({ time: AT, status: 404, bytes: 7, request_time: 0.5 });
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('gets no other address by what nginx writes into its error log', () => {
    const end =
      ', client: 10.0.0.1, server: a.example, request: "GET /x HTTP/1.1", host: "a.example", referrer: "r"';
    const line = (path: string, rest = end) =>
      `2023/01/01 12:00:00 [error] 12#34: *9 open() "${path}" failed${rest}`;
    expect(parseNginxError(line('/x'))).toEqual({
      time: '2023/01/01 12:00:00',
      level: 'error',
      pid: 12,
      tid: 34,
      connection: 9,
      message: 'open() "/x" failed',
      method: 'GET',
      path: '/x',
      protocol: 'HTTP/1.1',
      remote_addr: '10.0.0.1',
      server_name: 'a.example',
      host: 'a.example',
      referer: 'r',
    });
    for (const text of [
      line('/, client: 6.6.6.6, server: b'),
      line('/x', end.replace('"r"', '"r", client: 6.6.6.6, server: b')),
      line('/x', end.replace('GET /x', 'GET /", host: "b')),
      // nginx has cut its own part off.
      line(`/${', client: 6.6.6.6, server: b'}${'x'.repeat(2040)}`).slice(0, 2047),
    ]) {
      const fields = parseNginxError(text);
      expect(fields).toMatchObject({ level: 'error', connection: 9 });
      expect(fields).not.toHaveProperty('remote_addr');
      expect(fields).not.toHaveProperty('host');
      expect(text).toContain(`*9 ${fields?.message}`);
    }
  });
});

describe('a pattern', () => {
  it.each<[typeof nginxParser, string, string, object | undefined]>([
    [
      nginxParser,
      '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent rt=$request_time urt="$upstream_response_time"',
      `10.0.0.1 - - [${AT}] ${OK} rt=0.003 urt="0.001, 0.002"`,
      {
        remote_addr: '10.0.0.1',
        time: AT,
        ...GET,
        status: 200,
        bytes: 612,
        request_time: 0.003,
        upstream_response_time: '0.001, 0.002',
      },
    ],
    [
      nginxParser,
      '{"t":"$time_iso8601","s":$status,"u":$upstream_response_time,"r":"${request}"}',
      '{"t":"2026-01-01T00:00:00+00:00","s":200,"u":-,"r":"GET / HTTP/1.1"}',
      { time: '2026-01-01T00:00:00+00:00', status: 200, ...GET },
    ],
    [
      nginxParser,
      '$time_local|$time_iso8601|$request_method|$request',
      `${AT}|2026-01-01T00:00:00+00:00|GET|GET / HTTP/1.1`,
      {
        time: AT,
        time_iso8601: '2026-01-01T00:00:00+00:00',
        request_method: 'GET',
        ...GET,
      },
    ],
    [nginxParser, '$status $__proto__', '200 x', JSON.parse('{"status":200,"__proto__":"x"}')],
    [nginxParser, '$status (a|b)*', '200 (a|b)*', { status: 200 }],
    [nginxParser, '$status', '200 more', undefined],
    [nginxParser, '$status', 'abc', undefined],
    [
      apacheParser,
      '%v:%p %h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\" %D %{X-Forwarded-For}i %{ms}T %X',
      `a.example:80 10.0.0.1 - "" [${AT}] ${OK} "r" "x" 1234 1.1.1.1, 2.2.2.2 1 -`,
      {
        server_name: 'a.example',
        server_port: 80,
        remote_addr: '10.0.0.1',
        time: AT,
        ...GET,
        status: 200,
        bytes_sent: 612,
        referer: 'r',
        user_agent: 'x',
        request_time_us: 1234,
        http_x_forwarded_for: '1.1.1.1, 2.2.2.2',
        request_time_ms: 1,
        connection_status: '-',
      },
    ],
    [
      apacheParser,
      '100%% %{%F}t|%400,501{User-agent}i|%{TAG}n',
      '100% 2020-01-01|x|y',
      { time: '2020-01-01', user_agent: 'x', TAG: 'y' },
    ],
  ])('%p %s', (parserOf, pattern, line, expected) => {
    const fields = parserOf(pattern)(line);
    expect(JSON.stringify(fields)).toBe(JSON.stringify(expected));
  });

  it.each([
    ['nginx', '$scheme$host', 'nothing separates `$scheme` and `$host`'],
    ['nginx', '$status "$status"', '`$status` and `$status` both give the field `status`'],
    ['nginx', 'no column', 'it has no column'],
    ['apache', '%a %h', '`%a` and `%h` both give the field `remote_addr`; write %{NAME}n'],
    ['apache', '%Z', '`%Z` is not known; write %{NAME}n'],
    ['nginx', undefined, 'missing; `format: nginx` requires it'],
    ['combined', '$status', 'only `format: regex`, `format: nginx`, `format: apache` has this field'],
  ])('refuses %s: %s', (format, pattern, message) => {
    const result = parse.get_config_schema().safeParse({ plugin: 'parse', format, pattern });
    expect(result).toMatchObject({
      success: false,
      error: { issues: [{ path: ['pattern'], message: expect.stringContaining(message) }] },
    });
  });

  it.each([
    ['nginx', '$http_a $status $http_b', /spaces in `\$http_a` or `\$http_b` can forge `\$status`/],
    ['apache', '"%{A}i %s %{B}i"', /can forge `%s`/],
    ['nginx', '"$http_a" $status "$http_b"', undefined],
    ['nginx', '$status $http_a - $remote_user [$time_local]', undefined],
  ])('warns of columns that a client can move: %s %s', (format, pattern, message) => {
    const problems = parse.checkConfig?.({ config: { format, pattern } as never, host: undefined });
    expect(problems).toEqual(
      message === undefined
        ? []
        : [{ path: ['pattern'], severity: 'warning', message: expect.stringMatching(message) }],
    );
  });
});

it.each([
  [
    '[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 357:tid 4328636416] [client ::1:12345] File does not exist: /x',
    {
      time: 'Fri Sep 09 10:42:29.902022 2011',
      module: 'core',
      level: 'error',
      pid: 357,
      tid: 4328636416,
      remote_addr: '::1',
      remote_port: 12345,
      message: 'File does not exist: /x',
    },
  ],
  [
    '[Fri Sep  9 10:42:29 2011] [error] [client ::1] no [x]',
    { time: 'Fri Sep  9 10:42:29 2011', level: 'error', remote_addr: '::1', message: 'no [x]' },
  ],
  ['AH00558: apache2: could not determine the name', undefined],
])('the error log of Apache: %s', (line, expected) => {
  expect(parseApacheError(line)).toEqual(expected);
});
