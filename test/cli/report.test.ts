import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { AuditReader } from '../../src/cli/audit-report.ts';
import { folderWith, runCommand } from '../support/cli.ts';

/* `millrace report`: what audits say, and what is new. */

const finding = (day: string, rule: string, field: string | undefined, file = 'app.log') =>
  JSON.stringify({ timestamp: `${day}T10:00:00.000Z`, rule, file, field, offset: 3, length: 12 });
const EARLY = [
  finding('2026-11-20', 'secrets/context:password', 'line'),
  finding('2026-11-20', 'secrets/context:password', 'line'),
  finding('2026-11-21', 'pii/contact:email', 'user.email', 'web.log'),
];
const LATE = [...EARLY, finding('2026-11-24', 'secrets/context:password', 'user.email', 'web.log')];
const audit = (lines: readonly string[]) => `${lines.join('\n')}\n`;

describe('millrace report', () => {
  it('adds up findings by rule, field, source and day', async () => {
    const cwd = folderWith({ 'audit.jsonl': audit(LATE) });
    const { code, stdout, stderr } = await runCommand(['report', 'audit.jsonl'], { cwd });
    expect(stderr).toBe('');
    expect(stdout).toBe(`4 findings, 2026-11-20 to 2026-11-24

RULE                      FINDINGS  FIRST       LAST
secrets/context:password  3         2026-11-20  2026-11-24
pii/contact:email         1         2026-11-21  2026-11-21

FIELD       FINDINGS  FIRST       LAST
line        2         2026-11-20  2026-11-20
user.email  2         2026-11-21  2026-11-24

SOURCE   FINDINGS  FIRST       LAST
app.log  2         2026-11-20  2026-11-20
web.log  2         2026-11-21  2026-11-24

DAY         FINDINGS
2026-11-24  1
2026-11-21  1
2026-11-20  2
`);
    expect(code).toBe(0);
  });

  it('says what is new since a report that was saved, and ends with 1', async () => {
    const cwd = folderWith({ 'early.jsonl': audit(EARLY), 'late.jsonl': audit(LATE) });
    const report = (...args: string[]) => runCommand(['report', ...args], { cwd });
    expect((await report('early.jsonl', '--json', 'saved.json')).code).toBe(0);
    const same = await report('early.jsonl', '--since', 'saved.json');
    expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing new since 2026-11-21') });
    const added = await report('late.jsonl', '--since', 'saved.json', '--json', 'saved.json');
    expect(added.stdout).toContain('4 findings, 2026-11-20 to 2026-11-24, 1 new since 2026-11-21\n');
    expect(added.stdout).toMatch(
      /NEW .*\nsecrets\/context:password +user\.email +web\.log +1 +2026-11-24\n\n/,
    );
    expect(added.code).toBe(1);
    expect((await report('late.jsonl', '--since', 'saved.json')).code).toBe(0);
  });

  it('saves a page that has no script and escapes what is in audits', async () => {
    const hostile = '</style><script>alert("x")</script>\u202e&\'';
    const lines = [
      ...LATE,
      finding('2026-11-25', hostile, hostile, hostile),
      '{"a":"a secret value"}',
      'no JSON',
    ];
    const cwd = folderWith({ 'audit.jsonl': audit(lines) });
    const { code, stdout, stderr } = await runCommand(['report', 'audit.jsonl', '--html', 'out.html'], {
      cwd,
    });
    expect(stderr).toBe('millrace: audit.jsonl: left out 2 lines that are not of an audit\n');
    expect(code).toBe(0);
    const page = readFileSync(join(cwd, 'out.html'), 'utf8');
    expect(page).toContain('<td>secrets/context:password</td><td class="number">3</td>');
    expect(page).toContain('&lt;/style&gt;&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
    expect(page.match(/<script|<\/style|https?:|src=|@import|url\(|secret value|\u202e/g)).toEqual([
      '</style',
    ]);
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page).toContain("default-src 'none'");
    expect(stdout).not.toContain('\u202e');
  });

  it('counts what has too many places without these', async () => {
    const places = [1, 2, 3, 1].map((n) => finding('2026-11-20', 'rule', 'line', `${n}.log`));
    const fields = [1, 2, 3].map((n) => finding('2026-11-20', 'rule', `field${n}`, '9.log'));
    const cwd = folderWith({ 'audit.jsonl': audit([...places, ...fields]) });
    const reader = new AuditReader(2);
    await reader.read(join(cwd, 'audit.jsonl'));
    const counts = reader.report().rows.map(({ field, source, count }) => [field, source, count]);
    expect(counts).toEqual([
      ['line', '1.log', 2],
      ['other fields', 'other sources', 2],
      ['field1', 'other sources', 1],
      ['line', '2.log', 1],
      ['line', 'other sources', 1],
    ]);
  });

  it('says what cannot be read, and what is no report', async () => {
    const cwd = folderWith({
      'audit.jsonl': audit(EARLY),
      'none.json': '{}',
      'broken.json': '{"format":"millrace-report-1","rows":[null],"days":{}}',
      'half.json': '{"format":"millrace-report-1","rows":[]}',
      'empty.jsonl': '',
    });
    const report = (...args: string[]) => runCommand(['report', ...args], { cwd });
    expect(await report()).toMatchObject({ code: 2, stderr: expect.stringContaining('at least one FILE') });
    expect(await report('missing.jsonl')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('missing.jsonl cannot be read'),
    });
    for (const saved of ['none.json', 'broken.json', 'half.json']) {
      expect(await report('audit.jsonl', '--since', saved)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${saved} is no report`),
      });
    }
    expect(await report('audit.jsonl', '--html', 'no-folder/out.html')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
    const empty = await report('empty.jsonl', '--html', 'out.html');
    expect(empty).toMatchObject({ code: 0, stdout: 'nothing was found\n' });
    expect(readFileSync(join(cwd, 'out.html'), 'utf8')).toContain('nothing was found');
  });
});
