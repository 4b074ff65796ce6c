import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { MAX_LINE_BYTES } from '../../operators/support/max-line-bytes.ts';
import stdin from '../../plugins/collect/stdin.ts';
import { folderWith, runCommand } from '../support/cli.ts';

/*
 * What collectors pass by default, masks take: a line of the greatest length is masked, and a longer one is cut by the
 * collector, or withheld by `millrace redact`.
 */

const SECRET = 'password=Zebra99lamp';
/** Starts of lines, what is repeated in them, and their ends. */
const KINDS: Readonly<Record<string, readonly [start: string, part: string, end: string]>> = {
  words: ['', 'GET /a 200 user login ok, ', ` ${SECRET}`],
  JSON: ['{"a":"', '{b c} ', '","password":"Zebra99lamp"}'],
  'one value': ['password=', 'Zeb9', ''],
  'one string of JSON': ['{"password":"', 'Zebra 9 ', 'x"}'],
};
const lineOf = ([start, part, end]: (typeof KINDS)[string], length: number) => {
  const room = length - start.length - end.length;
  return start + part.repeat(room / part.length + 1).slice(0, room) + end;
};
const LENGTHS = [MAX_LINE_BYTES - 1, MAX_LINE_BYTES, MAX_LINE_BYTES + 1];

describe.each(Object.entries(KINDS))('lines of the greatest length: %s', (_, kind) => {
  const lines = LENGTHS.map((length) => lineOf(kind, length));
  const text = `before ${SECRET}\n${lines.join('\n')}\nafter ${SECRET}\n`;

  it('are masked by millrace redact, and longer ones withheld', async () => {
    const cwd = folderWith({});
    writeFileSync(join(cwd, 'in.log'), text);
    const { code, stdout, stderr } = await runCommand(['redact', 'in.log'], { cwd });
    const masked = stdout.split('\n').slice(0, -1);
    expect(masked.map((line) => line.includes('Zeb'))).toEqual([false, false, false, false, false]);
    expect(masked.map((line) => line.includes('<:password:>'))).toEqual([true, true, true, false, true]);
    expect(masked[3]).toBe('<:withheld:>');
    expect(stderr).toBe(
      'millrace: in.log:4: the line was withheld: it is longer than 4 MiB, the most that is searched\n',
    );
    expect(code).toBe(1);
  });

  it.each(['redact', 'regex_mask', 'entropy_mask'])(
    'pass %s in a pipeline, and longer ones are cut',
    async (plugin) => {
      const rules = plugin === 'regex_mask' ? 'rules: { x: \'password"?[=:]"?[^"]+\' }' : '';
      const cwd = folderWith({
        'c.yaml': `
collectors: { in: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: ${plugin}, ${rules} } }
forwarders: { out: { plugin: disk, path: out, filename: o.jsonl } }
pipelines: { p: { collect: in, process: mask, forward: out } }
host_config: {}
`,
      });
      writeFileSync(join(cwd, 'in.log'), text);
      const { code, stderr } = await runCommand(['run', 'c.yaml', '--once'], { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('failed') });
      const events = readFileSync(join(cwd, 'out/o.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { data: { line: string }; truncated?: boolean });
      expect(events.map(({ truncated = false }) => truncated)).toEqual([false, false, false, true, false]);
      if (plugin === 'entropy_mask') return;
      expect(events.filter(({ data }) => data.line.includes('Zeb'))).toEqual([]);
    },
  );
});

it('stdin has the same limit', () => {
  const parsed = stdin.get_config_schema().safeParse({ plugin: 'stdin' });
  expect(parsed).toMatchObject({ data: { max_line_bytes: MAX_LINE_BYTES } });
});
