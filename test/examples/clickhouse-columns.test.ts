import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parseCombined } from '../../plugins/parse/formats.ts';
import { ROOT } from '../support/build.ts';

it('examples/clickhouse.sql has a column for each field of an access log', () => {
  const fields = parseCombined(
    '203.0.113.7 - ada [12/Mar/2026:06:00:02 +0100] "GET / HTTP/1.1" 200 512 "https://a.example/" "curl/8.5.0"',
  );
  const sql = readFileSync(join(ROOT, 'examples/clickhouse.sql'), 'utf8');
  const columns = [...sql.matchAll(/^ {4}(\w+) \w+/gm)].map(([, name]) => name);
  // `time` becomes `timestamp`. A line that is no access log stays a `line`.
  const expected = [...Object.keys(fields ?? {}).filter((name) => name !== 'time'), 'line', 'timestamp'];
  expect(columns.toSorted()).toEqual(expected.toSorted());
});
