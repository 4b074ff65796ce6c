import { choices } from './log-generator.ts';

/*
 * Logs as services write them, for the part `redact`. They differ from the log of the main job: words such as `token`, `session` and `key`
 * are in many lines, and a secret is in one of 200.
 */

/** Every secret starts with it, so that the bench can tell whether one was left. */
export const SECRET_MARK = 'h7Q';
const ONE_SECRET_IN = 200;
const START = Date.UTC(2026, 0, 1);

const HEX = '0123456789abcdef';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const WORDS =
  'order invoice customer payment shipment basket catalogue price stock search profile address report queue worker cache index batch ' +
  'session token key refresh upload export mail template region cluster node replica lease';
const NOUNS = WORDS.split(' ');
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'kube-probe/1.29',
  'python-requests/2.32.3',
  'okhttp/4.12.0',
];
const LEVELS = ['INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'DEBUG', 'WARN', 'ERROR'];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const STATUS = [200, 200, 200, 200, 200, 201, 204, 301, 304, 400, 401, 404, 499, 500, 502];

function values() {
  const { below, of } = choices();
  const from = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[below(alphabet.length)]).join('');
  const hex = (length: number) => from(HEX, length);
  return {
    below,
    of,
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    address: () => `${1 + below(223)}.${below(256)}.${below(256)}.${1 + below(254)}`,
    secret: () => SECRET_MARK + from(LETTERS, 8) + from('0123456789', 3) + from(LETTERS, 8),
    /** Whether a line gets a secret. */
    hasSecret: () => below(ONE_SECRET_IN) === 0,
  };
}

type Values = ReturnType<typeof values>;

/** The access log of nginx in its combined format, with the time of the request and an id: some 250 bytes a line. */
export function* webLines(count: number): Generator<string> {
  const value = values();
  const { below, of, hex, address } = value;
  for (let i = 0; i < count; i++) {
    const time = new Date(START + i * 37).toISOString().slice(11, 19);
    const user = below(20) === 0 ? of(['ada', 'grace', 'alan']) : '-';
    const referer = below(3) === 0 ? '-' : `https://shop.example.com${pathOf(value)}`;
    const agent = of(AGENTS);
    yield `${address()} - ${user} [01/Jan/2026:${time} +0000] "${of(METHODS)} ${targetOf(value)} HTTP/${of(['1.1', '2.0'])}" ` +
      `${of(STATUS)} ${below(90_000)} "${referer}" "${agent}" rt=0.${String(below(1000)).padStart(3, '0')} id=${hex(32)}`;
  }
}

function pathOf({ below, of, hex }: Values): string {
  switch (below(5)) {
    case 0:
      return `/static/js/${of(NOUNS)}.${hex(8)}.chunk.js`;
    case 1:
      return `/images/${of(NOUNS)}/${below(10_000)}-${of(['small', 'large'])}.webp`;
    case 2:
      return `/api/v${1 + below(3)}/${of(NOUNS)}s/${below(1e6)}`;
    case 3:
      return `/${of(NOUNS)}/${of(NOUNS)}-${of(NOUNS)}-${of(NOUNS)}`;
    default:
      return `/${of(['', 'healthz', 'login', 'cart', 'favicon.ico', 'robots.txt'])}`;
  }
}

function targetOf(value: Values): string {
  const { below, of, hex, secret, hasSecret } = value;
  if (hasSecret()) return `/api/v1/files?access_token=${secret()}&page=${below(9)}`;
  switch (below(6)) {
    case 0:
      return `/search?q=${of(NOUNS)}%20${of(NOUNS)}&page=${below(20)}&sort=${of(['price', 'name'])}`;
    case 1:
      return `${pathOf(value)}?v=${hex(12)}`;
    case 2:
      return `/redirect?to=https%3A%2F%2Fshop.example.com%2F${of(NOUNS)}%2F${below(1e5)}&utm_source=mail`;
    default:
      return pathOf(value);
  }
}

/** The log of an application as JSON, with 12 to 15 fields, some of them nested: some 550 bytes a line. */
export function* applicationLines(count: number): Generator<string> {
  const value = values();
  const { below, of, hex, uuid, address } = value;
  for (let i = 0; i < count; i++) {
    const noun = of(NOUNS);
    const method = of(METHODS);
    const isFailed = below(12) === 0;
    yield JSON.stringify({
      timestamp: new Date(START + i * 13).toISOString(),
      level: of(LEVELS).toLowerCase(),
      logger: `com.example.${noun}.${capital(noun)}Service`,
      thread: `http-nio-8080-exec-${below(64)}`,
      message: messageOf(value),
      service: `${noun}-api`,
      version: `2.${below(30)}.${below(10)}`,
      environment: of(['production', 'staging']),
      trace_id: hex(32),
      span_id: hex(16),
      request_id: uuid(),
      ...(below(2) === 0 && { correlation_id: uuid(), user_id: below(1e7) }),
      ...(below(25) === 0 && { session_id: uuid() }),
      http: {
        method,
        path: pathOf(value),
        status: of(STATUS),
        duration_ms: below(2000),
        client_ip: address(),
      },
      context: {
        tenant: `tenant-${below(400)}`,
        feature_flags: [`new-${noun}`, 'fast-checkout'],
        cache: { hit: below(2) === 0, key: `${noun}:${below(1e6)}`, ttl: 300 },
      },
      ...(isFailed && {
        error: { type: 'java.lang.IllegalStateException', stack: stackOf(value).join('\n') },
      }),
      kubernetes: {
        pod: `${noun}-api-${hex(10)}-${hex(5)}`,
        namespace: 'shop',
        node: `ip-10-0-${below(256)}-${below(256)}`,
      },
    });
  }
}

/** The log of an application in sentences, some of them with a stack trace: some 110 bytes a line. */
export function* proseLines(count: number): Generator<string> {
  const value = values();
  const { below, of } = value;
  for (let i = 0, lines = 0; lines < count; i++) {
    const time = new Date(START + i * 17).toISOString().replace('T', ' ').replace('.', ',').slice(0, 23);
    const noun = of(NOUNS);
    yield `${time} ${of(LEVELS).padEnd(5)} [${noun}-worker-${below(32)}] c.e.${noun}.${capital(noun)}Manager - ${messageOf(value)}`;
    if (++lines === count || below(15) !== 0) continue;
    for (const line of stackOf(value)) {
      yield line;
      if (++lines === count) return;
    }
  }
}

function messageOf({ below, of, uuid, address, secret, hasSecret, hex }: Values): string {
  const noun = of(NOUNS);
  if (hasSecret())
    return `Could not reach the ${noun} service with password=${secret()} after ${below(9)} attempts`;
  switch (below(12)) {
    case 0:
      return `Processed ${below(900)} ${noun}s in ${below(5000)} ms, ${below(40)} of them were skipped because nothing had changed`;
    case 1:
      return `The session ${uuid()} has expired after 30 minutes without a request`;
    case 2:
      return `Connection to ${address()}:${1024 + below(60_000)} was closed by the other side; retrying in ${below(30)} s`;
    case 3:
      return `Token refresh for client ${noun}-web succeeded, the next one is due in ${below(3600)} seconds`;
    case 4:
      return `Loaded configuration from /etc/${noun}/application.yaml and ${below(9)} overrides from the environment`;
    case 5:
      return `User ${below(1e6)} has added ${below(9)} items to the ${noun}, total is ${below(900)}.${10 + below(90)} EUR`;
    case 6:
      return `Cache key ${noun}:${hex(12)} was not found, it is loaded from the database`;
    case 7:
      return `Request ${uuid()} took ${below(9000)} ms, which is longer than the limit of 1500 ms for ${noun}s`;
    case 8:
      return `Login of user ${below(1e6)} from ${address()} succeeded with a password and a second factor`;
    case 9:
      return `Rebalanced partitions of the topic ${noun}-events: assigned=[${below(9)}, ${9 + below(9)}], revoked=[], generation=${below(90)}`;
    case 10:
      return `Scheduled job ${noun}Cleanup finished; deleted ${below(5000)} rows that were older than ${below(90)} days`;
    default:
      return `Health check passed: database=UP, queue=UP, disk=${below(100)}% used, ${noun} lag ${below(1000)}`;
  }
}

function stackOf({ below, of }: Values): string[] {
  const noun = of(NOUNS);
  const at = (i: number) =>
    `\tat com.example.${noun}.${capital(of(NOUNS))}Service.${of(NOUNS)}${capital(of(NOUNS))}(${capital(of(NOUNS))}Service.java:${10 + below(900) + i})`;
  return [
    `java.lang.IllegalStateException: The ${noun} is in a state in which it can not be changed`,
    ...Array.from({ length: 6 + below(12) }, (_, i) => at(i)),
    `Caused by: java.util.concurrent.TimeoutException: no answer from ${noun}-db within ${below(5000)} ms`,
  ];
}

/** Random bytes in base64, in lines of so many characters. */
export function* base64Lines(count: number, length: number): Generator<string> {
  const { below } = choices();
  const bytes = Buffer.alloc(Math.ceil((length * 3) / 4));
  for (let line = 0; line < count; line++) {
    for (let i = 0; i < bytes.length; i++) bytes[i] = below(256);
    yield bytes.toString('base64').slice(0, length);
  }
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
