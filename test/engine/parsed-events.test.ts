import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { propertyRuns } from '../support/property-runs.ts';
import { runBatches } from '../support/run-batches.ts';

const TIMESTAMP = '2026-01-01T00:00:00.000Z';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-parsed-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Job {
  readonly processors: Readonly<Record<string, object>>;
  readonly source?: string;
}

/** Runs batches of lines through processors to a file, as rows or as the events of these lines. */
async function run(
  { processors, source = 'a.log' }: Job,
  batches: readonly (readonly string[])[],
  how: 'rows' | 'events',
) {
  const envelope = { timestamp: TIMESTAMP, source, backfill: true, isTruncated: false };
  const result = await runBatches({ folder, processors, envelope }, batches, how === 'rows' ? 'lines' : how);
  // Under load, the events of one batch that fail may do so after those of the next one.
  return { ...result, deadLetters: result.deadLetters.map((entry) => JSON.stringify(entry)).sort() };
}

const MASK = {
  plugin: 'regex_mask',
  rules: {
    KEY: 'k[0-9]+',
    MAIL: String.raw`[\w.]+@[\w.]+\w`,
    IP: String.raw`\b\d+(\.\d+){3}\b`,
    NOTHING: 'z*$',
  },
};

/** Strings that a mask, JSON, or the rows may stumble over. */
const text = fc
  .array(
    fc.constantFrom(
      ...[
        'k123',
        'ada@b.de',
        '10.0.0.1',
        'zz',
        ' ',
        '-',
        'ä',
        '😀',
        '\ud83d',
        '\0',
        '\n',
        '\r',
        '\t',
        '\\',
        '"',
      ],
      ...[
        '\x1b[31m',
        '\\u0000',
        '\\u0077',
        '{"password":"hunter2-Xk9"}',
        '[',
        ':',
        '%40',
        '\0 the next event \0',
      ],
      ...['AKIAIOSFODNN7EXAMPLE', 'Bearer q8Zk2mVx7LpR4tYw9BnC3dFg', 'DB_PASSWORD', '4111111111111111'],
      ...[
        '-----BEGIN RSA PRIVATE KEY-----',
        'MIIEowIBAAKCAQEAvXcT9Zk2mVx7LpR4tYw9BnC3dFgq8Zk2mVx7LpR4tYw9BnC3dF',
      ],
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));
const key = fc.constantFrom(
  ...[
    'a',
    'b',
    'msg',
    'level',
    'time',
    'source',
    'status',
    'password',
    'apiKey',
    'name',
    'value',
    'k12',
    '7',
    'data',
    'token',
    'pin',
  ],
  ...['__proto__', 'toJSON', 'constructor', 'from', 'kty', 'd', 'args', 'x.y', '', 'line', 'ada@b.de'],
);
const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.50',
    '1e5',
    '1E-400',
    '9007199254740993',
    '4111111111111111',
    '1767225600000',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const time = fc.constantFrom(...['2026-01-01T10:00:00Z', '01/Jan/2026:10:00:00 +0100', '1767225600', 'soon']);
/** JSON as somebody else writes it, with keys twice and white space. */
const { json } = fc.letrec<{ json: string; object: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(text, time, fc.constantFrom('WARNING', 'info', '7')).map((value) => JSON.stringify(value)),
    number,
    fc.constantFrom('true', 'false', 'null', '[]', '{}', '[[1,"k1"],["--password","hunter2-Xk9"]]'),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('json')), { maxLength: 6 }), fc.constantFrom('', ' '))
    .map(
      ([fields, space]) =>
        `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${space}${value}`).join(',')}}`,
    ),
}));
const jsonLine = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .array(fc.tuple(key, json), { minLength: 1, maxLength: 6 })
      .map((fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  },
  { weight: 2, arbitrary: json },
  {
    weight: 1,
    arbitrary: fc.tuple(json, fc.constantFrom(' ', 'x', '}', ',{"a":1}')).map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"a":[', '{"b":1},{"c":2}', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`),
  },
);
const accessLine = fc
  .record({
    front: fc.oneof(
      fc.constantFrom(
        '10.0.0.1 - -',
        '10.0.0.1 - ada',
        'h:80 10.0.0.1 - -',
        '::1 x ada',
        'a b',
        '10.0.0.1 - ""',
      ),
      text,
    ),
    time: fc.constantFrom(
      '01/Jan/2026:10:00:00 +0100',
      '02/Jan/2026:10:00:00 +0000',
      '-',
      '31/Feb/2026:10:00:00 +0000',
    ),
    request: fc.oneof(
      fc.constantFrom('GET /k12?m=ada@b.de HTTP/1.1', 'GET /', '-', '', '- - HTTP/1.0', String.raw`\x16\"`),
      text,
    ),
    status: fc.constantFrom('200', '404', '500', '-'),
    size: fc.constantFrom('12', '-', '99999999999999999999'),
    rest: fc.constantFrom('', ' "-" "curl/8 k9"', ' "http://x/" "a', ' "x" "y" more', ' more'),
  })
  .map(
    ({ front, time, request, status, size, rest }) =>
      `${front} [${time}] "${request}" ${status} ${size}${rest}`,
  );

const batchesOf = (line: fc.Arbitrary<string>) =>
  fc.array(fc.array(line, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 4 });

const JOBS: readonly (readonly [string, fc.Arbitrary<string>, fc.Arbitrary<Job['processors']>])[] = [
  [
    'JSON',
    jsonLine,
    fc
      .record({
        on_error: fc.constantFrom('keep', 'drop', 'fail'),
        timestamp: fc.constantFrom(undefined, 'time', 'source'),
        level: fc.constantFrom(undefined, 'level', 'source', 'a'),
        into: fc.constantFrom(undefined, undefined, 'parsed', 'source', 'a.b'),
      })
      .map((settings) => ({
        parsed: { plugin: 'parse', format: 'json', ...withoutUndefined(settings) },
      })),
  ],
  [
    'access logs',
    fc.oneof({ weight: 5, arbitrary: accessLine }, { weight: 1, arbitrary: text }),
    fc
      .record({
        on_error: fc.constantFrom('keep', 'drop', 'fail'),
        timestamp: fc.constantFrom(undefined, 'time'),
        format: fc.constantFrom('combined', 'vhost_combined', 'logfmt', 'apache_error'),
      })
      .map((settings) => ({ parsed: { plugin: 'parse', ...withoutUndefined(settings) } })),
  ],
  [
    'lines that an expression parses',
    fc.oneof(accessLine, text),
    fc
      .constantFrom(
        String.raw`(?P<source>\S+) (?:x|(?<status>\S+)) ([^(]) ?(?<__proto__>.*)`,
        String.raw`^(?<a>[(\]]?[^ ])(\S*).* "(?<level>\S*)(?: (?<b>.)(?=\k<b>|/))?`,
        String.raw`(?i)(?<a>K)(?<b>[0-9])?\(?`,
      )
      .map((pattern) => ({ parsed: { plugin: 'parse', format: 'regex', pattern, level: 'level' } })),
  ],
];
const withoutUndefined = (settings: object) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

const others: fc.Arbitrary<Job['processors']> = fc.constantFrom<Job['processors'][]>(
  {},
  { mask: MASK },
  { mask: { ...MASK, mask_char: '*' }, random: { plugin: 'entropy_mask' } },
  { relevant: { plugin: 'filter', keep: 'data.status >= 400' }, mask: MASK },
  {
    relevant: { plugin: 'filter', drop: 'has(data.level) && data.level == "warn"' },
    mask: { plugin: 'redact' },
  },
  { mask: { plugin: 'redact', packs: 'all', confidence: 'low', allow: { keys: ['apiKey'] } } },
  { mask: { plugin: 'redact', blocks: false, action: { default: { keep_last: 4 } } }, mask2: MASK },
  { mask: { plugin: 'redact', decode: false, rules: { EMPTY: 'q*$', A: '^a' } } },
);

/** Fields of which each by its name, its place or its value may be masked in another way. */
const FIELDS: readonly ((line: string) => object)[] = [
  ...['msg', 'data', 'token', 'password', 'pin', 'a', 'from'].map((key) => (line: string) => ({
    [key]: line,
  })),
  (line) => ({ msg: line, stream: 'stdout' }),
  (line) => ({ a: { data: line }, b: 'k1' }),
  (line) => ({ list: ['x', line] }),
  (line) => ({ name: 'password', value: line }),
];
const KEY_LINES = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
  'AbCdEf',
  '37423432747594704',
  'x/z+MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SR2dVMvDuictGeurT8jNbvJZHtCSu',
  '-----END PRIVATE KEY-----',
];

describe('a private key whose lines come in a field of parsed lines', () => {
  it.each(FIELDS.map((field) => [JSON.stringify(field('line')), field] as const))(
    'is masked as the same events are, also if only its start or nothing else came: %s',
    async (_, field) => {
      const lines = KEY_LINES.map((line) => JSON.stringify(field(line)));
      const other = JSON.stringify({ msg: 'ready' });
      const job = {
        processors: { parsed: { plugin: 'parse', format: 'json' }, mask: { plugin: 'redact' } },
      };
      for (const batches of [
        [lines],
        [[other, ...lines, other]],
        [[other, lines[0] as string], lines.slice(1)],
        lines.flatMap((line) => [[line], [other]]),
        [lines.slice(1), [other]],
      ]) {
        const masked = await run(job, batches, 'rows');
        expect(masked).toEqual(await run(job, batches, 'events'));
        if (batches.flat().includes(lines[0] as string))
          expect(masked.output).not.toMatch(/MIIEvQ|AbCdEf|GB4t7/);
      }
    },
  );
});

describe('events of parsed lines', () => {
  it.each(JOBS)(
    'are written, counted, dead-lettered and acknowledged as the same events are: %s',
    async (_, line, parsers) => {
      const source = fc.constantFrom('a.log', 'a.log', '/var/log/k12.log');
      await fc.assert(
        fc.asyncProperty(batchesOf(line), parsers, others, source, async (lines, parser, rest, source) => {
          const job = { processors: { ...parser, ...rest }, source };
          expect(await run(job, lines, 'rows')).toEqual(await run(job, lines, 'events'));
        }),
        { numRuns: propertyRuns(10) },
      );
    },
    120_000,
  );
});
