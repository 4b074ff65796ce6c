/** The rules of the main job: what every peer is measured with. */
export const THREE_RULES: Readonly<Record<string, string>> = {
  SECRET: 'KEY::[0-9]{10}',
  IP: String.raw`\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b`,
  EMAIL: String.raw`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`,
};

const LEVELS = ['INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR'];
const NAMES = ['ada', 'grace.hopper', 'alan', 'edsger_w', 'barbara', 'donald.k', 'margaret-h', 'ken'];
const HOSTS = ['example.org', 'mail.example.com', 'corp.example.net', 'example.io'];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const PATHS = ['/api/v1/orders', '/api/v2/users', '/search', '/static/app.js', '/login', '/cart/items'];
const STATUS = [200, 200, 200, 201, 204, 301, 404, 500];
const START = Date.UTC(2026, 0, 1);

/**
 * Lines of a web service's log, the same ones each time: about 160 bytes with a timestamp, a level, an e-mail
 * address, an IPv4 address, a UUID and a request; one in five with a key.
 *
 * @example
 * [...logLines(1)][0].slice(0, 29); // '2026-01-01T00:00:00.000Z INFO'
 */
export function* logLines(count: number): Generator<string> {
  const { below, of } = choices();
  const hex = (digits: number) =>
    below(16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  for (let i = 0; i < count; i++) {
    const timestamp = new Date(START + i * 7).toISOString();
    const address = `${of(NAMES)}${below(1000)}@${of(HOSTS)}`;
    const ip = `${1 + below(223)}.${below(256)}.${below(256)}.${below(256)}`;
    const uuid = `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(6)}${hex(6)}`;
    const request = `"${of(METHODS)} ${of(PATHS)}/${below(100_000)}?page=${below(50)} HTTP/1.1" ${of(STATUS)}`;
    const key = i % 5 === 0 ? ` KEY::${String(below(1e10)).padStart(10, '0')}` : '';
    yield `${timestamp} ${of(LEVELS)} user=${address} ip=${ip} id=${uuid} ${request} ${below(90_000)}${key}`;
  }
}

/** The same log as JSON, a document a line, in which some strings are nested; one in six has the level DEBUG. */
export function* structuredLines(count: number): Generator<string> {
  for (const line of logLines(count)) {
    const [time, level, user = '', ip = '', id, ...request] = line.split(' ');
    const client = { user: user.slice('user='.length), addresses: [ip.slice('ip='.length)] };
    const http = { id, request: request.join(' '), bytes: line.length, cached: false };
    yield JSON.stringify({ time, level, message: 'request served', client, http });
  }
}

/**
 * An access log in the combined format of Apache and nginx: about 250 bytes with an IPv4 address and an e-mail address,
 * one in five with a key; one in eight has the status 304.
 */
export function* accessLines(count: number): Generator<string> {
  const { below, of } = choices();
  for (let i = 0; i < count; i++) {
    const ip = `${1 + below(223)}.${below(256)}.${below(256)}.${below(256)}`;
    const address = `${of(NAMES)}${below(1000)}@${of(HOSTS)}`;
    const time = new Date(START + i * 7).toISOString();
    const date = `01/Jan/2026:${time.slice(11, 19)} +0000`;
    const key = i % 5 === 0 ? `&key=KEY::${String(below(1e10)).padStart(10, '0')}` : '';
    const request = `${of(METHODS)} ${of(PATHS)}/${below(100_000)}?user=${address}${key} HTTP/1.1`;
    const status = i % 8 === 0 ? 304 : of([200, 200, 201, 404, 500]);
    const referer = `https://${of(HOSTS)}${of(PATHS)}`;
    yield `${ip} - ${of(NAMES)} [${date}] "${request}" ${status} ${below(90_000)} "${referer}" "Mozilla/5.0 (X11; Linux x86_64)"`;
  }
}

/**
 * A log as JSON in which four lines of five have a secret: a password in the message, a token in a URL, a password in
 * a connection string, or the id of a cloud key. Each is of the same length and looks random.
 */
export function* secretLines(count: number): Generator<string> {
  const { below, of } = choices();
  const secret = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[below(alphabet.length)]).join('');
  for (let i = 0; i < count; i++) {
    const kind = i % 5;
    const password = kind === 0 ? `password=h7${secret(LETTERS, 10)}` : 'mode=sso';
    const token = kind === 1 ? `&access_token=q8${secret(LETTERS, 22)}` : '';
    const login = kind === 2 ? `app:n4${secret(LETTERS, 10)}@` : '';
    const key = kind === 3 ? `AKIA${secret(BASE_32, 16)}` : 'none';
    yield JSON.stringify({
      time: new Date(START + i * 7).toISOString(),
      level: of(LEVELS),
      message: `login user=${of(NAMES)} ${password} ok`,
      request: { url: `https://api.example.com${of(PATHS)}?page=${below(50)}${token}`, bytes: below(90_000) },
      database: { url: `postgres://${login}db.example.com/orders`, cached: false },
      storage: { regions: ['north', 'south'], client: `client ${key}` },
    });
  }
}

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const LETTERS = `${BASE_32}abcdefghijklmnopqrstuvwxyz`;

/** Choices that look random and are the same each time. */
export function choices() {
  const next = numbers(0x9e3779b9);
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, of: <T>(values: readonly T[]): T => values[below(values.length)] as T };
}

/** Numbers in [0, 1) that look random and are the same each time (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
