import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand } from '../support/cli.ts';

const config = (pipeline: string) => `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { PIN: '[0-9]{4}' } } }
forwarders:
  archive: { plugin: disk, path: out, filename: archive.jsonl }
  alerts: { plugin: disk, path: out, filename: alerts.jsonl }
pipelines:
  main:
    collect: log
    process: mask
    ${pipeline}
host_config: {}
`;
const ROUTES = `forward: [archive, { to: alerts, when: 'data.line.contains("ERROR")' }]`;
const LINES = Array.from({ length: 5000 }, (_, i) => `${i % 5 === 0 ? 'ERROR' : 'INFO'} ${i} pin 1234`);

function linesOf(cwd: string, name: string): string[] {
  const text = fs.readFileSync(join(cwd, 'out', name), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).data.line);
}

describe('routes on the command line', () => {
  it.each(['', 'workers: 2'])('send each line where its condition says: %s', async (workers) => {
    const cwd = folderWith({
      'p.yaml': config(`${ROUTES}\n    ${workers}`),
      'in.log': `${LINES.join('\n')}\n`,
    });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/alerts +1,000\n/) });
    const masked = LINES.map((line) => line.replace(/[0-9]{4}/g, '<:PIN:>'));
    expect(linesOf(cwd, 'archive.jsonl')).toEqual(masked);
    expect(linesOf(cwd, 'alerts.jsonl')).toEqual(masked.filter((line) => line.startsWith('ERROR')));
  });

  it('lose the events on which a condition fails, without a dead letter: exit code 1', async () => {
    const cwd = folderWith({
      'p.yaml': config(`forward: [archive, { to: alerts, when: 'data.level == "ERROR"' }]`),
      'in.log': `${LINES.join('\n')}\n`,
    });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('main: 5,000 events lost') });
    expect(linesOf(cwd, 'archive.jsonl')).toHaveLength(LINES.length);
  });

  it('work with exactly_once, and count what has no route', async () => {
    const cwd = folderWith({
      'p.yaml': config(
        `forward: [{ to: alerts, when: 'data.line.contains("ERROR")' }]\n    exactly_once: true`,
      ).replace(/ {2}archive:.*\n/, ''),
      'in.log': `${LINES.join('\n')}\n`,
    });
    const first = await runCommand(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
    expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(/no_route +4,000/) });
    fs.appendFileSync(join(cwd, 'in.log'), 'ERROR last\nINFO last\n');
    const second = await runCommand(['run', 'p.yaml', '--once', '--state-dir', 'state'], { cwd });
    expect(second).toMatchObject({ code: 0, stderr: expect.stringMatching(/no_route +1/) });
    expect(linesOf(cwd, 'alerts.jsonl')).toHaveLength(1001);
  });

  it('are checked with line and column, drawn, and tested in virtual time', async () => {
    const tests = `
tests:
  routed:
    collect: { log: ['ERROR pin 1234', 'INFO ok'] }
    expect:
      archive: { count: 2 }
      alerts: ['ERROR pin <:PIN:>']
`;
    const cwd = folderWith({
      'p.yaml': config(ROUTES) + tests,
      'bad.yaml': config(ROUTES.replace('data.line', 'dta.line')),
    });
    const bad = await runCommand(['validate', 'bad.yaml'], { cwd });
    expect(bad.stderr).toMatch(
      /bad\.yaml:11:\d+: pipelines\.main\.forward\[1\]\.when: .*Unknown variable: dta, at character 1/,
    );
    const graph = await runCommand(['graph', 'p.yaml'], { cwd });
    expect(graph.stdout).toMatch(/alerts +disk +when: data\.line\.contains\("ERROR"\)/);
    const test = await runCommand(['test', 'p.yaml'], { cwd });
    expect(test).toMatchObject({ code: 0 });
    const drawn = await runCommand(['test', 'p.yaml', '--text'], { cwd });
    expect(drawn.stdout).toMatch(/forward alerts: disk\s+when: data\.line\.contains\(\s*"ERROR"/);
  });
});
