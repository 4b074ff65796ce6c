import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { combinedParser } from '../../plugins/parse/access-logs.ts';
import { ROOT } from '../support/build.ts';

const time = '[12/Mar/2026:06:00:02 +0100]';

/** Together they have all fields that an access log can have. */
const LINES = [
  `203.0.113.7 - ada ${time} "GET / HTTP/1.1" 200 512 "https://a.example/" "curl/8.5.0"`,
  `shop.example:443 203.0.113.7 - ada ${time} "GET / HTTP/1.1" 200 512 "-" "-" 0.007`,
  `203.0.113.7 ident ada ${time} "no request" 400 512`,
];

it('examples/clickhouse.sql has a column for each field of an access log', () => {
  const parse = combinedParser();
  const fields = new Set(LINES.flatMap((line) => Object.keys(parse(line) as object)));
  const sql = readFileSync(join(ROOT, 'examples/clickhouse.sql'), 'utf8');
  const columns = [...sql.matchAll(/^ {4}(\w+) \w+/gm)].map(([, name]) => name);
  // `time` becomes `timestamp`. A line that is no access log stays a `line`.
  const expected = [...[...fields].filter((name) => name !== 'time'), 'line', 'timestamp'];
  expect(columns.toSorted()).toEqual(expected.toSorted());
});
