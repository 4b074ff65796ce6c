import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Trial } from '../faults/support/trial.ts';
import { ROOT } from '../support/build.ts';
import { blocksOf } from '../support/docs/markdown.ts';
import { isRunnable, runBlock } from '../support/docs/run-block.ts';
import { Workspace } from '../support/docs/workspace.ts';
import { type ClickHouse, PASSWORD, startClickHouse } from './support/clickhouse.ts';
import { skipWithout } from './support/start-server.ts';

skipWithout('clickhouse-server', 'curl')('http to ClickHouse', () => {
  let folder = '';
  let clickhouse: ClickHouse;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-clickhouse-'));
    clickhouse = await startClickHouse(folder);
  });
  afterAll(async () => {
    await clickhouse.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('from a file', () => {
    const LINES = 5000;
    const table = (columns: string) =>
      clickhouse.query(`CREATE TABLE lines (${columns}) ENGINE = MergeTree ORDER BY timestamp`);
    beforeEach(() => clickhouse.query('DROP TABLE IF EXISTS lines'));

    const config = (more = '') => `
collectors:
  log: { plugin: file, paths: ['in/*.log'], backfill: true }
processors:
  mask: { plugin: regex_mask, rules: { KEY: 'key_[0-9a-f]{8}-[0-9a-f]{8}_yek' } }
forwarders:
  out:
    plugin: http
    url: ${clickhouse.url}/?query=INSERT%20INTO%20lines%20FORMAT%20JSONEachRow&date_time_input_format=best_effort&input_format_skip_unknown_fields=1
    payload: flat
    ${more}
  dead: { plugin: disk, path: dead, filename: dead.jsonl }
pipelines:
  main: { collect: log, process: mask, forward: out, delivery: { attempts: 3, dead_letter: dead } }
host_config: {}
`;

    it.each([
      ['plain', ''],
      ['compressed', 'compression: gzip'],
      ['by several requests at a time', 'concurrency: 4\n    batch: { events: 100 }'],
      ['with a password', `auth: { basic: { username: agent, password: { env: CLICKHOUSE_PASSWORD } } }`],
    ])('each line becomes one masked row: %s', async (_, more) => {
      await table('timestamp DateTime, line String, source String');
      const trial = new Trial(config(more));
      trial.env = { CLICKHOUSE_PASSWORD: PASSWORD };
      trial.appendLines('in/a.log', LINES);
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      const found = await clickhouse.query(
        "SELECT count(), uniq(line), countIf(line LIKE '%key\\_%') FROM lines",
      );
      expect(found.split('\t').map(Number)).toEqual([LINES, expect.closeTo(LINES, -2), 0]);
      expect(trial.verdict().leaks).toEqual([]);
    });

    it.each([
      ['delivery.attempts', (text: string) => text],
      [
        'split_refused',
        (text: string) =>
          text
            .replace('attempts: 3, ', '')
            .replace('payload: flat', 'payload: flat\n    split_refused: true'),
      ],
    ])('rows of the wrong type go to the dead letter, and all others to the table: %s', async (_, with_) => {
      await table('timestamp DateTime, n UInt8');
      const trial = new Trial(
        with_(config())
          .replace(/process: mask/, 'process: numbers')
          .replace('forwarders:', `  numbers: { plugin: parse, format: json }\nforwarders:`),
      );
      const lines = Array.from({ length: 200 }, (_, n) => (n === 77 ? '{"n":"many"}' : `{"n":${n}}`));
      trial.append('in/a.log', `${lines.join('\n')}\n`);
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      expect(await clickhouse.query('SELECT count(), sum(n) FROM lines')).toBe('199\t19823');
      const dead = trial
        .text('dead/dead.jsonl')
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
      expect(dead.map(({ data }) => data.error)).toEqual([
        expect.stringMatching(/ answered (?:400|500) \(.*; ClickHouse error \d+, CANNOT_PARSE_\w+\)/),
      ]);
    });

    it.each([
      [
        'no table',
        '',
        'answered 404 (Not Found; ClickHouse error 60, UNKNOWN_TABLE); create the table, or check `url`',
      ],
      [
        'a wrong password',
        'auth: { basic: { username: agent, password: { env: HOME } } }',
        'answered 401 (Unauthorized; ClickHouse error 193, WRONG_PASSWORD)',
      ],
    ])('%s fails a run with --once after a while, and no line is dropped', async (what, more, message) => {
      if (what !== 'no table') await table('timestamp DateTime, line String');
      const withoutLimit = (text: string) => text.replace('attempts: 3, ', '');
      const trial = new Trial(withoutLimit(config(more)));
      trial.appendLines('in/a.log', 100);
      const { code, stderr } = await trial.runOnce('--give-up-after', '2');
      expect(code).toBe(1);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain(PASSWORD);
      if (what === 'no table') await table('timestamp DateTime, line String');
      trial.write('p.yaml', config());
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      expect(await clickhouse.query('SELECT count() FROM lines')).toBe('100');
    });
  });

  describe('the commands of docs/recipes/nginx-to-clickhouse.md', () => {
    const workspace = new Workspace();
    beforeAll(() => clickhouse.query('DROP TABLE IF EXISTS access_log'));
    const blocks = blocksOf(readFileSync(join(ROOT, 'docs/recipes/nginx-to-clickhouse.md'), 'utf8')).filter(
      ({ attributes }) => attributes.get('server') === 'clickhouse',
    );

    it.each(blocks.map((block) => ({ title: `line ${block.line}`, block })))('$title', async ({ block }) => {
      expect(isRunnable(block)).toBe(false);
      const env = new Map(block.attributes).set('env', `CLICKHOUSE_URL=${clickhouse.url}`);
      const text = block.text.replaceAll('http://localhost:8123', clickhouse.url);
      await runBlock({ ...block, text, attributes: env }, workspace);
    });
  });
});
