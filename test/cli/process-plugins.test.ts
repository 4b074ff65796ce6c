import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand } from '../support/cli.ts';

const config = (processors: string, pipeline: string) => `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors:
${processors}
forwarders:
  out: { plugin: disk, path: out, filename: out.jsonl }
  dead: { plugin: disk, path: out, filename: dead.jsonl }
pipelines:
  main: { collect: log, forward: out, ${pipeline} }
host_config: {}
`;

function documents(cwd: string, name: string): Record<string, unknown>[] {
  return readFileSync(join(cwd, 'out', name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('filter, map and parse on the command line', () => {
  it('are refused with all mistakes at once, each with its line and column', async () => {
    const processors = `  both: { plugin: filter, keep: 'data.a ==', drop: 'data.b +' }
  none: { plugin: filter, kep: 'true' }
  fields:
    plugin: map
    set: { a: 'data.', b: 'nope(1)' }
  text: { plugin: parse, format: regex, pattern: '(', columns: [a] }`;
    const cwd = folderWith({
      'p.yaml': config(
        processors,
        `delivery: { attempts: 0 }, process: [both, none, fields, text, more]`,
      ).replace('forward: out', "forward: [{ to: out, when: 'data.level ==' }, { to: dead, when: '1 + 1' }]"),
    });
    const { code, stderr } = await runCommand(['validate', 'p.yaml'], { cwd });
    expect(code).toBe(2);
    const places = stderr
      .split('\n')
      .flatMap((line) => /^p\.yaml:(\d+:\d+: [\w.[\]]+): /.exec(line)?.[1] ?? []);
    expect(places).toEqual([
      '4:9: processors.both',
      '4:33: processors.both.keep',
      '4:52: processors.both.drop',
      '5:9: processors.none',
      '5:27: processors.none.kep',
      '8:15: processors.fields.set.a',
      '8:27: processors.fields.set.b',
      '9:50: processors.text.pattern',
      '9:64: processors.text.columns',
      '14:52: pipelines.main.forward[0].when',
      '14:89: pipelines.main.forward[1].when',
      '14:123: pipelines.main.delivery.attempts',
      '14:164: pipelines.main.process[4]',
    ]);
    expect(stderr).toContain('found both `keep` and `drop`; expected exactly one of them');
    expect(stderr).toContain('expected a valid condition (Unexpected token: EOF, at character 14)');
  });

  it.each([
    ['in one thread', ''],
    ['in workers', 'workers: 2, '],
  ])('a filter that reads the line alone passes the same lines %s', async (_, workers) => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `${n % 3 === 0 ? 'DEBUG' : 'INFO'} ${n} pin 1234`);
    const processors = `  quiet: { plugin: filter, drop: 'data.line.startsWith("DEBUG")' }
  mask: { plugin: regex_mask, rules: { PIN: '[0-9]{4}$' } }`;
    const cwd = folderWith({
      'p.yaml': config(processors, `${workers}process: [quiet, mask]`),
      'in.log': `${lines.join('\n')}\n`,
    });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect(code).toBe(0);
    expect(stderr).toMatch(/dropped +6,667/);
    const expected = lines
      .filter((line) => !line.startsWith('DEBUG'))
      .map((line) => line.replace(/[0-9]{4}$/, '<:PIN:>'));
    expect(documents(cwd, 'out.jsonl').map(({ data }) => (data as { line: string }).line)).toEqual(expected);
  });

  it('lines that they fail on go to the dead letter, without their secrets', async () => {
    const lines = Array.from({ length: 300 }, (_, n) =>
      n % 100 === 50
        ? `no json, pin 1234`
        : JSON.stringify({ n, level: n % 2 === 0 ? 'info' : 'debug', pin: '1234' }),
    );
    const processors = `  fields: { plugin: parse, format: json, on_error: fail }
  loud: { plugin: filter, keep: 'data.level == "info"' }
  half: { plugin: map, set: { half: 'int(data.n) / 2' }, remove: [source] }
  mask: { plugin: regex_mask, rules: { PIN: '[0-9]{4}' } }`;
    const cwd = folderWith({
      'p.yaml': config(processors, 'process: [fields, loud, half, mask], delivery: { dead_letter: dead }'),
      'in.log': `${lines.join('\n')}\n`,
    });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const out = documents(cwd, 'out.jsonl').map(({ data }) => data as Record<string, unknown>);
    expect(out.length).toBe(147);
    expect(out[1]).toEqual({ n: 2, level: 'info', pin: '<:PIN:>', half: 1 });
    const dead = documents(cwd, 'dead.jsonl').map(({ data }) => data);
    expect(dead).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({
          plugin: 'fields',
          kind: 'process',
          withheld: 'the event had not passed the mask mask',
        }),
      ),
    );
    expect(readFileSync(join(cwd, 'out/dead.jsonl'), 'utf8') + stderr).not.toContain('1234');
  });

  it('a filter in workers that fails on a line gives it to the dead letter, without its secrets', async () => {
    const processors = `  odd: { plugin: filter, keep: 'int(data.line.substring(0, 1)) > 4' }
  mask: { plugin: regex_mask, rules: { PIN: '[0-9]{4}' } }`;
    const cwd = folderWith({
      'p.yaml': config(processors, 'process: [odd, mask], workers: 2, delivery: { dead_letter: dead }'),
      'in.log': Array.from({ length: 3000 }, (_, n) => `${n % 100 === 0 ? 'x' : n % 10} pin 1234\n`).join(''),
    });
    const { code, stderr } = await runCommand(['run', 'p.yaml', '--once'], { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(documents(cwd, 'out.jsonl').length).toBe(1500);
    const dead = documents(cwd, 'dead.jsonl').map(({ data }) => data);
    expect(dead.length).toBe(30);
    expect(dead[0]).toMatchObject({ plugin: 'odd', withheld: 'the event had not passed the mask mask' });
    expect(readFileSync(join(cwd, 'out/dead.jsonl'), 'utf8') + stderr).not.toContain('1234');
  });
});
