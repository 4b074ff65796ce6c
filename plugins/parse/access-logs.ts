import { boundedExpression, withoutNames } from '../expressions/bounded-expression.ts';
import { setField } from '../expressions/fields.ts';
import type { Fields, Parser } from './formats.ts';

/** What a server writes in one place of a line, and the field or fields that it becomes. */
interface Column {
  /** The text of the column in the pattern, for messages. */
  readonly written: string;
  readonly field: string;
  /** A regular expression, without groups, for what the server can write here. */
  readonly shape: string;
  /** What becomes of a value. Default: the string, or nothing for `-`. */
  readonly read?: (value: string) => unknown;
}

type Pattern = readonly (string | Column)[];

/**
 * A string that a client may have sent. Servers escape quotes in it, so it ends at the next quote at the latest: it may have
 * spaces and brackets, but can reach no column beyond that.
 */
const TEXT = String.raw`[^"\\]*(?:\\[\s\S][^"\\]*)*`;
const TOKEN = String.raw`[^\s"]*`;
const DIGITS = String.raw`(?:\d*|-)`;
const DECIMAL = String.raw`(?:\d+(?:\.\d+)?|-)?`;
const TIME = String.raw`\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}`;

/** nginx writes a value for each server that it tried. */
const listOf = (shape: string) => `${shape}(?:(?:, | : )${shape})*`;

const text = (value: string) => (value === '-' ? undefined : value);

/** A number if JavaScript can represent it exactly, else the string. */
export function exactNumber(value: string): unknown {
  if (value === '') return undefined;
  if (!/^\d+(?:\.\d+)?$/.test(value)) return text(value);
  const number = Number(value);
  const isExact = value.includes('.') ? value.length <= 16 : Number.isSafeInteger(number);
  return isExact ? number : value;
}

const bytes = (value: string) => (value === '-' ? 0 : exactNumber(value));
/** Apache writes `""` for an empty name. */
const user = (value: string) => (value === '""' || value === '' ? undefined : text(value));

const METHOD = String.raw`[\w!#$%&'*+.^|~-]+`;
/** Of HTTP/0.9, or of a later version. What else a client may send is no request of HTTP. */
const REQUEST = new RegExp(String.raw`^(?:(GET) (/\S*)|(${METHOD}) (\S+) (HTTP/\d(?:\.\d)?))$`);

const REQUEST_FIELDS: readonly string[] = ['request', 'method', 'path', 'protocol'];

export function requestFields(request: string): Fields {
  const fields = {};
  addRequest(fields, request);
  return fields;
}

function addRequest(fields: Record<string, unknown>, request: string): void {
  const match = REQUEST.exec(request);
  if (match === null) {
    if (request !== '-') fields.request = request;
    return;
  }
  fields.method = match[1] ?? match[3];
  fields.path = match[2] ?? match[4];
  if (match[5] !== undefined) fields.protocol = match[5];
}

type Kind = Pick<Column, 'shape' | 'read'>;
const TEXT_KIND: Kind = { shape: TEXT };
const TOKEN_KIND: Kind = { shape: TOKEN };
const INTEGER_KIND: Kind = { shape: DIGITS, read: exactNumber };
const DECIMAL_KIND: Kind = { shape: DECIMAL, read: exactNumber };
const BYTES_KIND: Kind = { shape: DIGITS, read: bytes };
const USER_KIND: Kind = { shape: TEXT, read: user };

const named = (kind: Kind, names: string): [string, Kind][] => names.split(' ').map((name) => [name, kind]);

/** Variables of nginx and of ingress-nginx whose values have no spaces or are numbers. All others are text. */
const NGINX_KINDS: ReadonlyMap<string, Kind> = new Map([
  ...named(
    TOKEN_KIND,
    'remote_addr realip_remote_addr proxy_protocol_addr host server_name server_addr scheme request_method server_protocol ' +
      'time_iso8601 request_id req_id hostname https pipe ssl_protocol ssl_cipher proxy_upstream_name namespace ' +
      'ingress_name service_name service_port proxy_alternative_upstream_name http2 http3',
  ),
  ...named(
    INTEGER_KIND,
    'status bytes_sent request_length content_length connection connection_requests pid server_port remote_port',
  ),
  ...named(BYTES_KIND, 'body_bytes_sent'),
  ...named(DECIMAL_KIND, 'request_time connection_time msec gzip_ratio'),
  ...named({ shape: listOf(String.raw`[^\s,"]+`) }, 'upstream_addr upstream_cache_status'),
  ...named(
    { shape: listOf(DECIMAL), read: exactNumber },
    'upstream_status upstream_response_length upstream_response_time upstream_connect_time upstream_header_time ' +
      'upstream_queue_time upstream_bytes_received upstream_bytes_sent',
  ),
  ['time_local', { shape: TIME }],
  ['remote_user', USER_KIND],
]);

/** Both notations give the fields of `combined` the same names. */
const NGINX_FIELDS: Readonly<Record<string, string>> = {
  remote_user: 'user',
  time_local: 'time',
  time_iso8601: 'time',
  request_method: 'method',
  request_uri: 'path',
  server_protocol: 'protocol',
  body_bytes_sent: 'bytes',
  http_referer: 'referer',
  http_user_agent: 'user_agent',
};

const NGINX_COLUMN = /\$(?:(\w+)|\{(\w+)\})/g;

function readNginxPattern(pattern: string): Pattern {
  const columns = splitPattern(pattern, NGINX_COLUMN, (written, plain, braced): Column => {
    const name = (plain ?? braced) as string;
    const kind = NGINX_KINDS.get(name) ?? TEXT_KIND;
    return { written, ...kind, field: Object.hasOwn(NGINX_FIELDS, name) ? `${NGINX_FIELDS[name]}` : name };
  });
  // Names of variables are unique, so one whose field another gives keeps its own.
  const hasRequest = columns.some((column) => typeof column !== 'string' && column.field === 'request');
  const taken = new Set(hasRequest ? REQUEST_FIELDS : []);
  return columns.map((column) => {
    if (typeof column === 'string' || column.field === 'request') return column;
    const field = taken.has(column.field) ? column.written.replace(/[${}]/g, '') : column.field;
    taken.add(field);
    return { ...column, field };
  });
}

/** `%{…}t` with other formats than `%t` are text; these give numbers. */
const APACHE_TIMES: Readonly<Record<string, string>> = {
  sec: 'time',
  msec: 'time',
  usec: 'time',
  msec_frac: 'msec_frac',
  usec_frac: 'usec_frac',
};

const APACHE_COLUMNS: Readonly<Record<string, readonly [field: string, kind: Kind]>> = {
  h: ['remote_addr', TOKEN_KIND],
  a: ['remote_addr', TOKEN_KIND],
  A: ['server_addr', TOKEN_KIND],
  l: ['ident', TOKEN_KIND],
  u: ['user', { shape: `(?:""|${TEXT})`, read: user }],
  r: ['request', TEXT_KIND],
  s: ['status', INTEGER_KIND],
  b: ['bytes', BYTES_KIND],
  B: ['bytes', BYTES_KIND],
  I: ['bytes_received', INTEGER_KIND],
  O: ['bytes_sent', INTEGER_KIND],
  S: ['bytes_transferred', INTEGER_KIND],
  D: ['request_time_us', INTEGER_KIND],
  T: ['request_time', INTEGER_KIND],
  v: ['server_name', TOKEN_KIND],
  V: ['host', TEXT_KIND],
  p: ['server_port', INTEGER_KIND],
  P: ['pid', INTEGER_KIND],
  H: ['protocol', TEXT_KIND],
  m: ['method', TEXT_KIND],
  U: ['path', TEXT_KIND],
  q: ['query', TEXT_KIND],
  f: ['filename', TEXT_KIND],
  k: ['keepalive_requests', INTEGER_KIND],
  L: ['log_id', TOKEN_KIND],
  R: ['handler', TEXT_KIND],
  X: ['connection_status', { shape: '[X+-]', read: (value) => value }],
};

/** The columns of the form `%{…}X`. */
const APACHE_NAMED: Readonly<Record<string, (name: string) => readonly [field: string, kind: Kind]>> = {
  i: (name) => {
    const variable = variableOf(name);
    const field = NGINX_FIELDS[`http_${variable}`] ?? `http_${variable}`;
    return [field, TEXT_KIND];
  },
  o: (name) => [`sent_http_${variableOf(name)}`, TEXT_KIND],
  C: (name) => [`cookie_${name}`, TEXT_KIND],
  e: (name) => [name, TEXT_KIND],
  n: (name) => [name, TEXT_KIND],
  x: (name) => [variableOf(name), TEXT_KIND],
  a: () => ['peer_addr', TOKEN_KIND],
  h: () => ['peer_addr', TOKEN_KIND],
  p: (name) => [name === 'remote' ? 'remote_port' : 'server_port', INTEGER_KIND],
  P: (name) => [name === 'pid' ? 'pid' : 'tid', TOKEN_KIND],
  T: (name) => [name === 's' ? 'request_time' : `request_time_${name}`, INTEGER_KIND],
  t: (name) => {
    const field = APACHE_TIMES[name.replace(/^(?:begin|end):/, '')];
    return field === undefined ? ['time', TEXT_KIND] : [field, { shape: String.raw`\d+` }];
  },
};

const variableOf = (name: string) => name.toLowerCase().replaceAll('-', '_');

/** With a condition on the status, or `<` or `>`, neither of which changes what is written. */
const APACHE_COLUMN = /%(?:!?\d{3}(?:,\d{3})*)?[<>]?(?:\{([^}]+)\})?([a-zA-Z%]|\^t[io])/g;

function readApachePattern(pattern: string): Pattern {
  const unescaped = pattern.replaceAll('\\"', '"');
  return splitPattern(unescaped, APACHE_COLUMN, (written, name, letter = '') => {
    if (letter === '%' && name === undefined) return '%';
    if (letter === 't' && name === undefined) return { written, field: 'time', shape: TIME };
    const of = letter.startsWith('^') ? APACHE_NAMED[letter.slice(2)] : APACHE_NAMED[letter];
    const known = name === undefined ? APACHE_COLUMNS[letter] : of?.(name);
    if (known === undefined) {
      throw new InvalidPattern(`\`${written}\` is not known; write %{NAME}n to give the column a name`);
    }
    const [field, kind] = known;
    return { written, field, ...kind };
  }).flatMap((part) => (typeof part !== 'string' && part.written === '%t' ? ['[', part, ']'] : [part]));
}

/** What is wrong with a pattern of the configuration. */
export class InvalidPattern extends Error {}

function splitPattern(
  pattern: string,
  columns: RegExp,
  columnOf: (written: string, ...groups: (string | undefined)[]) => string | Column,
): Pattern {
  const parts: (string | Column)[] = [];
  let at = 0;
  for (const match of pattern.matchAll(columns)) {
    const [written, ...groups] = match;
    parts.push(pattern.slice(at, match.index), columnOf(written, ...groups));
    at = match.index + written.length;
  }
  return [...parts, pattern.slice(at)].filter((part) => part !== '');
}

/** The fields that a column may give. */
const fieldsOf = ({ field }: Column) => (field === 'request' ? REQUEST_FIELDS : [field]);

function checkColumns(pattern: Pattern, sign: string): void {
  const byField = new Map<string, Column>();
  for (const [index, part] of pattern.entries()) {
    if (typeof part === 'string') continue;
    const next = pattern[index + 1];
    if (next !== undefined && typeof next !== 'string') {
      throw new InvalidPattern(
        `nothing separates \`${part.written}\` and \`${next.written}\`; write one column in place of both, such as ${sign}`,
      );
    }
    for (const field of fieldsOf(part)) {
      const other = byField.get(field);
      if (other !== undefined) {
        const both = `\`${other.written}\` and \`${part.written}\``;
        throw new InvalidPattern(
          `${both} both give the field \`${field}\`; write ${sign} to give one another name`,
        );
      }
      byField.set(field, part);
    }
  }
  if (byField.size === 0) throw new InvalidPattern(`it has no column, such as ${sign}`);
}

/**
 * What is risky about a pattern: columns that stand between two that a client may fill with spaces, so that it can move
 * them. Quotes end what a client can reach.
 *
 * @throws InvalidPattern
 */
export function patternRisk(format: 'nginx' | 'apache', pattern: string): string | undefined {
  let text: Column | undefined;
  let between: Column | undefined;
  for (const part of format === 'nginx' ? readNginxPattern(pattern) : readApachePattern(pattern)) {
    if (typeof part === 'string') {
      if (part.includes('"')) text = between = undefined;
    } else if (!part.shape.includes(TEXT)) {
      between = part;
    } else if (text !== undefined && between !== undefined) {
      return (
        `a client that sends spaces in \`${text.written}\` or \`${part.written}\` can forge \`${between.written}\` ` +
        'between them; put such columns into quotes in the configuration of the server'
      );
    } else {
      text = part;
      between = undefined;
    }
  }
  return undefined;
}

/** A parser of the lines that a server writes by a pattern. The whole line must fit. */
function patternParser(pattern: Pattern): Parser {
  const columns = pattern.filter((part) => typeof part !== 'string');
  const source = pattern.map((part) =>
    typeof part === 'string' ? part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&') : `(${part.shape})`,
  );
  // A line that was cut within its last column.
  if (pattern.at(-1) === '"') source[source.length - 1] = String.raw`(?:"|\\?)`;
  const find = boundedExpression(`^${source.join('')}$`);
  return (line, fields = {}) => {
    const values = find(line);
    if (values === null) return undefined;
    for (let index = 0; index < columns.length; index++) {
      const { field, read = text } = columns[index] as Column;
      const value = values[index + 1] as string;
      if (field === 'request') addRequest(fields, value);
      else addField(fields, field, read(value));
    }
    return fields;
  };
}

function addField(fields: Record<string, unknown>, field: string, value: unknown): void {
  if (value !== undefined) setField(fields, field, value);
}

/**
 * Parses lines that nginx writes by a `log_format`: `$remote_addr [$time_local] "$request" $status`.
 *
 * @throws InvalidPattern
 */
export function nginxParser(pattern: string): Parser {
  const columns = readNginxPattern(pattern);
  checkColumns(columns, '$NAME');
  return patternParser(columns);
}

/**
 * Parses lines that Apache writes by a `LogFormat`: `%h %t "%r" %>s`.
 *
 * @throws InvalidPattern
 */
export function apacheParser(pattern: string): Parser {
  const columns = readApachePattern(pattern);
  checkColumns(columns, '%{NAME}n');
  return patternParser(columns);
}

/**
 * All that stands in front of the time, the time, the request, the status and the size; then the referer and the user
 * agent, which a cut line may not close, and the rest. What is not like that is all rest.
 */
const COMBINED = String.raw`^(${TEXT}(?:"")?) \[([^\]["]*)\] "(${TEXT})" (\d{3}|-) (\d+|-)(?: "(${TEXT})" "(${TEXT})(?:"(?: ([\s\S]*))?|\\?)|(?: ([\s\S]*))?)$`;

const IP = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}|\[?[\da-fA-F]*:[\da-fA-F:.]+(?:%\w+)?\]?)`;
const listed = (address: string) => `${address}(?:, ?${address})*`;
/**
 * What stands in front of the time. A user may have spaces, so the dash of the identity tells where it starts. The last
 * one is what is left: a list of addresses that a client has sent, say.
 */
const ADDRESS_AND_USER = [
  `^(?<remote_addr>${listed(String.raw`[^\s,"]+`)}) - (?<user>.*)$`,
  String.raw`^(?<server_name>[^\s,":]+)(?::(?<server_port>\d+))? (?<remote_addr>${listed(IP)}) - (?<user>.*)$`,
  String.raw`^(?<remote_addr>\S+) (?<ident>\S+) (?<user>\S+)$`,
  `^(?<remote_addr>.*) - (?<user>.*)$`,
].map((source) => {
  const { expression, names } = withoutNames(new RegExp(source, 's'));
  return { expression, names: [...names.keys()] };
});

const READ_FRONT: Readonly<Record<string, (value: string) => unknown>> = { server_port: exactNumber, user };

/** Characters. Servers take no longer headers, and V8 fails on expressions that take much more. */
const LONGEST_FRONT = 64 * 1024;

/** Adds what stands in front of the time; false if it is in no known form. */
function addFront(fields: Record<string, unknown>, front: string): boolean {
  if (front.length > LONGEST_FRONT) return false;
  for (const { expression, names } of ADDRESS_AND_USER) {
    const match = expression.exec(front);
    if (match === null) continue;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const value = match[index + 1];
      if (value !== undefined) addShown(fields, name, (READ_FRONT[name] ?? text)(value));
    }
    return true;
  }
  return false;
}

function addShown(fields: Record<string, unknown>, field: string, value: unknown): void {
  if (value !== undefined && value !== '-') fields[field] = value;
}

/**
 * The usual line of `combined` and `common`, as {@link COMBINED}, {@link ADDRESS_AND_USER} and {@link REQUEST} would read it:
 * each column can end at one place only, so this takes half of their time, and never long. Its front may have any length.
 */
const USUAL = String.raw`^([^\s,"\\[]+) - ([^"\\[]*) \[([^\]["]*)\] "(${METHOD}) ([^\s"\\]+) (HTTP/\d(?:\.\d)?)" (\d{3}|-) (\d+|-)(?: "([^"\\]*)" "([^"\\]*)")?$`;

/**
 * The access log of Apache and nginx, `common` and a virtual host in front included. What is `-` in it is left out, and
 * what follows it becomes `rest`.
 */
export function combinedParser(): Parser {
  const findUsual = boundedExpression(USUAL);
  const find = boundedExpression(COMBINED);
  return (line, fields = {}) => {
    const usual = findUsual(line);
    if (usual !== null) return addUsual(fields, usual);
    const match = find(line);
    return match !== null && addFront(fields, match[1] as string) ? addCombined(fields, match) : undefined;
  };
}

function addUsual(fields: Record<string, unknown>, match: readonly string[]): Fields {
  const [, address = '', name = '', time, method, path, protocol, ...rest] = match;
  addShown(fields, 'remote_addr', text(address));
  addShown(fields, 'user', user(name));
  addShown(fields, 'time', time);
  fields.method = method;
  fields.path = path;
  fields.protocol = protocol;
  return addAfterRequest(fields, rest);
}

function addCombined(fields: Record<string, unknown>, match: readonly string[]): Fields {
  const [, , time, request = '', ...after] = match;
  addShown(fields, 'time', time);
  addRequest(fields, request);
  return addAfterRequest(fields, after);
}

function addAfterRequest(fields: Record<string, unknown>, match: readonly string[]): Fields {
  const [status = '', size = '', referer, user_agent, after, rest = after] = match;
  addShown(fields, 'status', exactNumber(status));
  addShown(fields, 'bytes', bytes(size));
  addShown(fields, 'referer', referer);
  addShown(fields, 'user_agent', user_agent);
  addShown(fields, 'rest', rest || undefined);
  return fields;
}

/** Debian's `vhost_combined`. Its size has the headers; it is `bytes` here as well. */
export const vhostCombinedParser = () =>
  apacheParser('%v:%p %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"');

/** What the ingress-nginx controller of Kubernetes writes by default. */
export const ingressNginxParser = () =>
  nginxParser(
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ' +
      '$request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr ' +
      '$upstream_response_length $upstream_response_time $upstream_status $req_id',
  );
