import { CHECKS, crc32Base62 } from '../../operators/internal-masks.ts';
import { ALPHABETS, type Alphabet, Random, run } from './random.ts';

export { Random };

/*
 * Templates for values and lines. `{hex:32}` stands for 32 random hexadecimal digits, `{alnum:20-40}` for 20 to 40
 * letters and digits, `{alnum:~40}` for 40 where other lengths are fine too, `{live|test}` for one of several strings.
 * `<<` and `>>` enclose what a mask has to replace; without them that is everything. Other braces are what they are.
 */

/** A line or value that was made of a template: the string, and the places in it that a mask has to replace. */
export interface Sample {
  readonly text: string;
  readonly spans: readonly (readonly [start: number, end: number])[];
}

const WORDS =
  'account agent archive audit backup basket billing broker cache catalog checkout cluster config consumer customer ' +
  'dashboard data deploy device email event export feed file gateway graph image import index ingest inventory ' +
  'invoice job ledger library mail media message metric monitor network node order payment pipeline policy portal ' +
  'product profile proxy queue record region report request router sales schedule search server service session ' +
  'shipping site snapshot storage stream support system table task ticket tracker user vendor video volume web worker';
const USERS =
  'alice bob carol dave erin frank grace heidi ivan judy mallory niaj olivia peggy rupert sybil trent'.split(
    ' ',
  );
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const DAYS = 'Mon Tue Wed Thu Fri Sat Sun'.split(' ');

const two = (n: number) => String(n).padStart(2, '0');
const word = (r: Random) => r.pick(WORDS.split(' '));
const clock = (r: Random) => `${two(r.below(24))}:${two(r.below(60))}:${two(r.below(60))}`;
const day = (r: Random) => two(1 + r.below(28));
const month = (r: Random) => two(1 + r.below(12));
const year = (r: Random) => 2015 + r.below(12);
const hex = (r: Random, length: number) => run(r, ALPHABETS.hex, length);
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Numbers that pass a check: drawn until one does. */
const passing = (check: string, alphabet: string, length: number) => (r: Random) => {
  for (;;) {
    const value = run(r, alphabet, length);
    if (CHECKS[check]?.(value, value, 0)) return value;
  }
};

const cardNumber = passing('card', ALPHABETS.digit, 16);

/** What else a template can name. */
const VALUES: Readonly<Record<string, (r: Random) => string>> = {
  word,
  Word: (r) => word(r).replace(/^./, (first) => first.toUpperCase()),
  user: (r) => r.pick(USERS),
  host: (r) => `${word(r)}-${1 + r.below(40)}`,
  HOST: (r) => `${word(r).toUpperCase()}${1 + r.below(40)}`,
  domain: (r) => `${word(r)}.${word(r)}.${r.pick(['com', 'net', 'org', 'io', 'internal'])}`,
  ip: (r) => [10 + r.below(200), r.below(256), r.below(256), 1 + r.below(254)].join('.'),
  ipv6: (r) => `2001:db8:${Array.from({ length: 6 }, () => hex(r, 4)).join(':')}`,
  mac: (r) => Array.from({ length: 6 }, () => hex(r, 2)).join(':'),
  port: (r) => String(1024 + r.below(64000)),
  pid: (r) => String(100 + r.below(40000)),
  sign: (r) => r.pick(['', '-']),
  alnum5: (r) => hex(r, 5),
  uuid: (r) => [8, 4, 4, 4, 12].map((length) => hex(r, length)).join('-'),
  UUID: (r) =>
    [8, 4, 4, 4, 12]
      .map((length) => hex(r, length))
      .join('-')
      .toUpperCase(),
  iso_date: (r) => `${year(r)}-${month(r)}-${day(r)}`,
  iso: (r) => `${year(r)}-${month(r)}-${day(r)}T${clock(r)}`,
  iso_space: (r) => `${year(r)}-${month(r)}-${day(r)} ${clock(r)}`,
  iso_slash: (r) => `${year(r)}/${month(r)}/${day(r)} ${clock(r)}`,
  date_slash: (r) => `${year(r)}/${month(r)}/${day(r)} ${clock(r)}`,
  date_short: (r) => `${two(r.below(27))}/${month(r)}/${day(r)} ${clock(r)}`,
  time_dots: (r) => clock(r).replaceAll(':', '.'),
  syslog: (r) => `${r.pick(MONTHS)} ${String(1 + r.below(28)).padStart(2)} ${clock(r)}`,
  ctime: (r) => `${r.pick(DAYS)} ${r.pick(MONTHS)} ${day(r)} ${clock(r)} ${year(r)}`,
  clf: (r) => `${day(r)}/${r.pick(MONTHS)}/${year(r)}:${clock(r)} +0000`,
  redis: (r) => `${day(r)} ${r.pick(MONTHS)} ${year(r)} ${clock(r)}.${run(r, ALPHABETS.digit, 3)}`,
  android: (r) => `${month(r)}-${day(r)} ${clock(r)}.${run(r, ALPHABETS.digit, 3)}`,
  klog: (r) => `${r.pick(['I', 'W', 'E'])}${month(r)}${day(r)} ${clock(r)}.${run(r, ALPHABETS.digit, 6)}`,
  br_cpf: passing('br_cpf', ALPHABETS.digit, 11),
  de_tax_id: passing('de_tax_id', ALPHABETS.digit, 11),
  in_aadhaar: passing('in_aadhaar', ALPHABETS.digit, 12),
  nl_bsn: passing('nl_bsn', ALPHABETS.digit, 9),
  pl_pesel: passing('pl_pesel', ALPHABETS.digit, 11),
  card: (r) => cardNumber(r).replace(/(?<=\d)(?=(?:\d{4})+$)/g, ' '),
  card_dashes: (r) => cardNumber(r).replace(/(?<=\d)(?=(?:\d{4})+$)/g, '-'),
  epoch: (r) => String(1420070400 + r.below(400000000)),
  epochms: (r) => `${1420070400 + r.below(400000000)}${run(r, ALPHABETS.digit, 3)}`,
  HEXPAIRS: (r) => Array.from({ length: 32 }, () => hex(r, 2).toUpperCase()).join(':'),
  /** A password that someone chose. */
  password: (r) =>
    `${VALUES.Word?.(r)}${r.pick(['!', '#', '@', '_', '*', ''])}${word(r).slice(0, 4)}${10 + r.below(9000)}`,
  basic: (r) => Buffer.from(`${r.pick(USERS)}:${run(r, ALPHABETS.alnum, 12)}`).toString('base64'),
  jwe: (r) =>
    [
      base64url({ alg: 'RSA-OAEP', enc: 'A256GCM' }),
      ...[86, 16, 64, 22].map((n) => run(r, ALPHABETS.b64url, n)),
    ].join('.'),
  jwt: (r) =>
    [
      base64url({ alg: r.pick(['HS256', 'RS256', 'ES256']), typ: 'JWT' }),
      base64url({ sub: hex(r, 12), iat: 1500000000 + r.below(300000000), name: r.pick(USERS) }),
      run(r, ALPHABETS.b64url, 43),
    ].join('.'),
};

const PLACEHOLDER = /<<|>>|\{(\w+)(?::(~?)(\d+)(?:-(\d+))?)?\}|\{([^{}"\s,]*(?:\|[^{}"\s,]*)+)\}/g;

/** Longer runs are no placeholders. */
const LONGEST_RUN = 10_000;

/** What a template gives with the next random numbers. `adjust` changes the length of runs, by their place. */
export function fill(template: string, r: Random, adjust: (place: number) => number = () => 0): Sample {
  let text = '';
  let end = 0;
  let open: number | undefined;
  const spans: [number, number][] = [];
  for (const match of template.matchAll(PLACEHOLDER)) {
    text += template.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[0] === '<<') open = text.length;
    else if (match[0] === '>>' && open !== undefined) {
      spans.push([open, text.length]);
      open = undefined;
    } else text += generate(match, text, r, adjust(match.index)) ?? match[0];
  }
  text += template.slice(end);
  return { text, spans: spans.length > 0 ? spans : [[0, text.length]] };
}

/**
 * A value for a placeholder, of which `parts` are the groups of {@link PLACEHOLDER}.
 *
 * @param before the string that stands before it
 * @param change what is added to the length of a run
 * @returns undefined if no value has this name
 */
export function generate(
  parts: readonly (string | undefined)[],
  before: string,
  r: Random,
  change = 0,
): string | undefined {
  const [, name = '', , from, to, choices] = parts;
  if (Math.max(Number(from ?? 1), Number(to ?? 1)) > LONGEST_RUN && name !== 'int') return undefined;
  if (choices !== undefined) return r.pick(choices.split('|'));
  if (name === 'int') return String(Number(from) + r.below(Number(to) - Number(from) + 1));
  // The checksum of what stands after the last underscore.
  if (name === 'crc32') return crc32Base62(before.slice(before.lastIndexOf('_') + 1));
  if (!Object.hasOwn(ALPHABETS, name)) return Object.hasOwn(VALUES, name) ? VALUES[name]?.(r) : undefined;
  const least = Number(from ?? 1);
  const length = least + (to === undefined ? 0 : r.below(Number(to) - least + 1)) + change;
  return run(r, ALPHABETS[name as Alphabet], length);
}

/** The longest run of a template whose length matters. */
export function longestRun(
  template: string,
): { place: number; isExact: boolean; least: number; most: number } | undefined {
  const runs = [...template.matchAll(PLACEHOLDER)]
    .filter(([, name = '', about]) => Object.hasOwn(ALPHABETS, name) && about !== '~')
    .map((match) => ({
      place: match.index,
      isExact: match[4] === undefined,
      least: Number(match[3] ?? 1),
      most: Number(match[4] ?? match[3] ?? 1),
    }));
  return runs.sort((a, b) => b.least - a.least)[0];
}
