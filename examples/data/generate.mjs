/**
 * Writes access.log and planted.json: `node examples/data/generate.mjs [folder]`.
 *
 * Every choice comes from one seeded generator, so a second run writes the same bytes. Nothing belongs to
 * anybody: keys and tokens are drawn here, addresses and domains are of the ranges that RFC 5737, RFC 2544,
 * RFC 6598, RFC 1918 and RFC 2606 reserve.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LINES = 2400;
const START = Date.UTC(2026, 2, 12, 6, 0, 0);
const HOURS = 6;

const DIGITS = '0123456789';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ALPHANUMERIC = UPPER + UPPER.toLowerCase() + DIGITS;
const BASE64 = `${ALPHANUMERIC}+/`;
const HEX = '0123456789abcdef';

// --- chance ---------------------------------------------------------------------------------------------

let state = 0x6d696c6c;
/** mulberry32: a number in [0, 1). */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const between = (low, high) => low + Math.floor(random() * (high - low + 1));
const chance = (probability) => random() < probability;
const pick = (list) => list[between(0, list.length - 1)];
const times = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const characters = (alphabet, length) => times(length, () => pick(alphabet)).join('');

// --- secrets --------------------------------------------------------------------------------------------

/** Every secret by its value; none is part of another, so that each can be counted by searching for it. */
const planted = new Map();

function plant(kind, draw) {
  for (;;) {
    const value = draw();
    if ([...planted.keys()].some((other) => other.includes(value) || value.includes(other))) continue;
    planted.set(value, kind);
    return value;
  }
}

/** DESIGN's entropy index of a token shorter than the alphabet and made of its characters only. */
function entropyIndex(token) {
  let entropy = 0;
  for (const character of new Set(token)) {
    const p = (token.split(character).length - 1) / token.length;
    entropy -= p * Math.log(p);
  }
  return entropy / Math.log(token.length);
}

const NAMES =
  'ada.byron grace.h alan linus.t barbara edsger margaret.h dennis ken.t radia.p hedy john.b tim'.split(' ');
const MAIL_DOMAINS = ['example.com', 'example.org', 'mail.example.net', 'shop.example'];
/** An e-mail address, its @ and + written as URLs have them if `encoded`. */
const email = (encoded = false) =>
  plant('EMAIL', () => {
    const text = `${pick(NAMES)}${pick(['', '_', '+'])}${between(1, 999)}@${pick(MAIL_DOMAINS)}`;
    return encoded ? text.replace('@', '%40').replace('+', '%2B') : text;
  });

const address = () =>
  plant('IPV4', () => {
    const network = pick([
      '192.0.2',
      '198.51.100',
      '203.0.113',
      '198.18',
      '198.19',
      '100.64',
      '100.99',
      '10.20',
    ]);
    return [...network.split('.'), ...times(4 - network.split('.').length, () => between(1, 254))].join('.');
  });

const awsKey = () => plant('AWS_KEY', () => `AKIA${characters(UPPER + DIGITS, 16)}`);
const stripeKey = () => plant('STRIPE_KEY', () => `sk_live_${characters(ALPHANUMERIC, 24)}`);
const githubToken = () => plant('GITHUB_TOKEN', () => `ghp_${characters(ALPHANUMERIC, 36)}`);
const deviceKey = () => plant('DEVICE_KEY', () => `KEY::${characters(DIGITS, 10)}`);
const urlToken = () => plant('URL_TOKEN', () => characters(`${ALPHANUMERIC}-_`, 43));
const signature = () => plant('URL_TOKEN', () => characters(HEX, 64));

/** 24 bytes in base64. One in three repeats itself too much for entropy_mask's default threshold: drawn again. */
const sessionToken = () =>
  plant('HIGH-ENTROPY', () => {
    for (;;) {
      const token = characters(BASE64, 32);
      if (entropyIndex(token) >= 0.9) return token;
    }
  });

// --- the site -------------------------------------------------------------------------------------------

const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
];
const CRAWLERS = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)',
];
const SITE = 'https://shop.example';
const PRODUCTS = 'kettle teapot mug saucer tea-tin tea-set sieve spoon tray jug caddy filter'.split(' ');
const PAGES = [
  '/',
  '/',
  '/',
  '/tea',
  '/tea/green',
  '/tea/black',
  '/offers',
  '/about',
  '/help/delivery',
  '/basket',
];
const ASSETS = [
  '/css/app.css',
  '/js/app.js',
  '/js/vendor.js',
  '/img/logo.svg',
  '/img/hero.webp',
  '/favicon.ico',
];
const SEARCHES = ['green+tea', 'teapot', 'blue+mug', 'gift+set', 'oolong', 'caf%C3%A9+cup', 'iron+kettle'];
const REFERRERS = [
  '-',
  '-',
  '-',
  'https://www.google.com/',
  'https://www.bing.com/',
  'https://news.example/tea',
];
const PROBES = [
  '/.env',
  '/.git/config',
  '/wp-login.php',
  '/xmlrpc.php',
  '/phpinfo.php',
  '/admin/',
  '/old/backup.zip',
  '/cgi-bin/test.cgi',
  '/server-status',
  '/actuator/env',
  '/config.json',
  '/?a=../../../etc/passwd',
];

const entries = [];

/** One request, `at` seconds after the start. */
function log(at, client, method, target, status, bytes, { referrer = '-', user = '-', session = '-' } = {}) {
  const time = new Date(START + Math.floor(at) * 1000);
  const day = `${time.getUTCDate()}/Mar/${time.getUTCFullYear()}`;
  const text =
    `${client.ip} - ${user} [${day}:${time.toISOString().slice(11, 19)} +0000] "${method} ${target} HTTP/1.1" ` +
    `${status} ${bytes} "${referrer}" "${client.agent}" ${characters(HEX, 32)} ${session}`;
  entries.push({ at, text });
}

/** Somebody looks around: pages, their assets, a search, sometimes a login, an order, a forgotten password. */
function visit(client, start) {
  let at = start;
  let referrer = pick(REFERRERS);
  const session = client.session === undefined ? {} : { session: client.session };
  const user = client.user === undefined ? {} : { user: client.user };
  const go = (method, target, status, bytes) => {
    log(at, client, method, target, status, bytes, { referrer, ...session, ...user });
    referrer = SITE + target;
    at += between(2, 70);
  };
  for (let page = between(1, 5); page > 0; page--) {
    const target = chance(0.5)
      ? pick(PAGES)
      : `/tea/${pick(PRODUCTS)}${chance(0.3) ? `?page=${between(2, 9)}` : ''}`;
    const cached = chance(0.5);
    log(at, client, 'GET', target, chance(0.03) ? 404 : 200, between(4_000, 31_000), {
      referrer,
      ...session,
      ...user,
    });
    referrer = SITE + target;
    for (const asset of ASSETS.slice(0, between(0, 4))) {
      log(at + random() * 2, client, 'GET', asset, cached ? 304 : 200, cached ? 0 : between(900, 88_000), {
        referrer,
        ...session,
      });
    }
    at += between(4, 90);
  }
  if (chance(0.3)) go('GET', `/search?q=${pick(SEARCHES)}`, 200, between(5_000, 19_000));
  if (chance(0.15)) go('POST', '/login', chance(0.8) ? 302 : 401, between(0, 400));
  if (chance(0.12)) go('GET', `/account?email=${client.encodedEmail()}`, 200, between(2_000, 5_000));
  if (chance(0.08)) go('GET', `/newsletter/confirm?to=${email()}`, 200, between(1_000, 2_000));
  if (chance(0.12)) go('POST', '/api/v1/orders', pick([201, 201, 201, 422]), between(150, 700));
  if (chance(0.06))
    go(
      'GET',
      `/password/reset?email=${client.encodedEmail()}&token=${urlToken()}`,
      200,
      between(1_500, 2_500),
    );
}

function visitor() {
  let encoded;
  return {
    ip: address(),
    agent: pick(BROWSERS),
    session: chance(0.6) ? sessionToken() : undefined,
    user: chance(0.12) ? email() : undefined,
    encodedEmail() {
      encoded ??= email(true);
      return encoded;
    },
  };
}

/** A moment of the log; the later, the busier: it is morning. */
const moment = () => Math.max(random(), random()) * HOURS * 3600;

function people() {
  const visitors = times(122, visitor);
  for (const client of visitors) times(between(1, 2), () => visit(client, moment()));
}

function crawlers() {
  for (const agent of CRAWLERS) {
    const client = { ip: address(), agent };
    let at = between(0, 900);
    log(at, client, 'GET', '/robots.txt', 200, 126);
    for (let n = between(25, 45); n > 0; n--) {
      at += between(60, 700);
      log(
        at,
        client,
        'GET',
        chance(0.1) ? '/sitemap.xml' : `/tea/${pick(PRODUCTS)}`,
        chance(0.1) ? 404 : 200,
        between(4_000, 31_000),
      );
    }
  }
}

/** Machines that call the interface, each with a key where such keys are found in real logs. */
function machines() {
  const every = (seconds, request) => {
    for (let at = between(0, seconds); at < HOURS * 3600; at += seconds + between(-9, 9)) request(at);
  };
  const monitor = { ip: address(), agent: 'Uptime-Kuma/1.23.13' };
  every(300, (at) => log(at, monitor, 'HEAD', '/healthz', 200, 0));

  for (const key of times(6, stripeKey)) {
    const client = { ip: address(), agent: 'python-requests/2.32.3' };
    every(2400, (at) =>
      log(
        at,
        client,
        'GET',
        `/api/v1/charges?limit=100&api_key=${key}`,
        chance(0.9) ? 200 : 429,
        between(900, 9_000),
      ),
    );
  }
  for (const key of times(12, deviceKey)) {
    const client = { ip: address(), agent: `TeaSensor/2.1 ${key}` };
    every(3600, (at) => log(at, client, 'POST', `/api/v1/devices/${key}/data`, 204, 0));
  }
  for (const token of times(9, githubToken)) {
    const client = { ip: address(), agent: 'git/2.45.1' };
    every(5400, (at) => {
      log(at, client, 'GET', '/git/shop/info/refs?service=git-upload-pack', 401, 179);
      log(at + 1, client, 'POST', '/git/shop/git-upload-pack', 200, between(300, 90_000), { user: token });
    });
  }
  for (const key of times(7, awsKey)) {
    const client = { ip: address(), agent: 'aws-cli/2.16.1 Python/3.11.8 Linux/5.15.0' };
    every(4800, (at) =>
      log(
        at,
        client,
        'GET',
        `/media/export.csv?X-Amz-Credential=${key}%2F20260312%2Feu-west-1%2Fs3&X-Amz-Signature=${signature()}`,
        200,
        between(9_000, 90_000),
      ),
    );
  }
}

/** Bursts: somebody tries passwords, somebody looks for holes, the shop's backend is away for a minute. */
function trouble() {
  const guesser = { ip: address(), agent: 'Mozilla/5.0 (X11; Linux x86_64)' };
  times(70, (n) => log(9_400 + n * 0.7, guesser, 'POST', '/login', n < 25 ? 401 : 429, n < 25 ? 312 : 169));

  const scanner = { ip: address(), agent: 'Mozilla/5.0 zgrab/0.x' };
  times(PROBES.length, (n) => log(13_100 + n * 0.3, scanner, 'GET', PROBES[n], chance(0.8) ? 404 : 403, 153));
  log(13_110, scanner, 'GET', `/login?next=http://${address()}/x.sh`, 400, 157);
  log(13_111, scanner, 'GET', `/admin/block/${address()}`, 404, 153);
  log(13_112, scanner, 'GET', `/login?next=%2Fstatus%3Fhost%3D${address()}`, 302, 0);

  const impatient = visitor();
  times(45, (n) =>
    log(17_000 + n * 1.3, impatient, 'POST', '/api/v1/orders', pick([502, 502, 504, 499]), 157, {
      session: impatient.session ?? '-',
    }),
  );
}

people();
crawlers();
machines();
trouble();

// --- lines that a collector has to get right ------------------------------------------------------------

const lines = entries
  .filter((entry) => entry.at < HOURS * 3600)
  .sort((a, b) => a.at - b.at)
  .map((entry) => `${entry.text}\n`)
  .slice(0, LINES - 1);
if (lines.length !== LINES - 1) throw new Error(`${lines.length} requests are too few`);

/** Edits the first line from `n` on that has the text. */
const edit = (n, search, replacement) => {
  const found = lines.findIndex((line, i) => i >= n && line.includes(search));
  lines[found] = lines[found].replace(search, () => replacement);
};
const pad = (n) => times(n, () => `${pick(SEARCHES)}+`).join('');

edit(300, '"GET /', `"GET /x?to=\xff\xfe${email()}\xe9&r=/`); // an e-mail between bytes that are not UTF-8
edit(600, '"GET /', '"GET /\0'); // a NUL
edit(900, '"GET /', `"GET /search?q=${pad(1030)}&api_key=${stripeKey()}&also=${pad(1030)}&r=/`); // 20 kB
edit(1200, '\n', '\r\n'); // a line that ends as on Windows
lines.splice(1500, 0, '\n'); // an empty line

// --- the two files --------------------------------------------------------------------------------------

const text = lines.join('');
const secrets = [...planted]
  .map(([value, kind]) => ({ kind, value, count: text.split(value).length - 1 }))
  .filter(({ count }) => count > 0);
const rows = secrets.map((secret) => `    ${JSON.stringify(secret)}`).join(',\n');

const folder = process.argv[2] ?? import.meta.dirname;
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'access.log'), text, 'latin1');
writeFileSync(join(folder, 'planted.json'), `{\n  "lines": ${LINES},\n  "secrets": [\n${rows}\n  ]\n}\n`);
