import { describe, expect, it } from '@jest/globals';
import { runCommand } from '../support/cli.ts';

describe('millrace plugins', () => {
  it('lists every built-in plugin by kind, each with one sentence', async () => {
    const { code, stdout, stderr } = await runCommand(['plugins']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n').filter((line) => /^( {2})?\w/.test(line));
    expect(lines.map((line) => line.split(/\s{2,}|$/).filter(Boolean)[0])).toEqual([
      ...[
        'collect',
        'beacons',
        'file',
        'stdin',
        'test',
        'host_exec',
        'exec',
        'journald',
        'kafka',
        'nats',
        'http',
        'syslog',
        'otlp',
      ],
      ...['process', 'test', 'redact', 'regex_mask', 'entropy_mask', 'filter', 'multiline', 'map', 'parse'],
      ...['forward', 'datadog', 'disk', 'elasticsearch', 'http', 'loki', 'kafka', 'nats', 'noop'],
      ...['otlp', 's3', 'splunk_hec', 'stdout', 'syslog', 'test'],
      'Fields and an example of one: millrace plugins KIND NAME',
    ]);
    for (const line of lines.filter((line) => line.startsWith('  '))) expect(line).toMatch(/ {2}[A-Z].*\w/);
  });

  it('lists one kind', async () => {
    const { code, stdout } = await runCommand(['plugins', 'process']);
    expect(code).toBe(0);
    expect(stdout).toContain('regex_mask');
    expect(stdout).not.toContain('beacons');
  });

  it('describes the fields of a plugin: type, need, default and bounds', async () => {
    const { code, stdout, stderr } = await runCommand(['plugins', 'process', 'entropy_mask']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^process: entropy_mask\n\S/);
    expect(stdout).toMatch(/^ {2}plugin {2,}string {2,}at least 1 character {2,}required/m);
    expect(stdout).toMatch(/^ {2}h_threshold {2,}number {2,}≥ 0, ≤ 1 {2,}default 0\.9/m);
    expect(stdout).toMatch(/^ {2}mask_char {2,}string {2,}exactly 1 character {2,}optional/m);
    expect(stdout).toMatch(/^ {2}length_threshold {2,}integer {2,}> 1 {2,}default 16/m);
    expect(stdout).toMatch(/^Example\n {2}\S/m);
  });

  it('describes nested fields, and bounds beyond what a JavaScript number holds', async () => {
    const { stdout } = await runCommand(['plugins', 'process', 'test']);
    expect(stdout).toMatch(/^ {2}delay_range {2,}object/m);
    expect(stdout).toMatch(/^ {2}delay_range\.minimum {2,}number {2,}≥ 0 {2,}required/m);
    expect(stdout).toContain('> 0, < 9223372036854775807');
  });

  it.each([
    [['proces'], 'there is no kind of plugin called `proces`. Did you mean `process`?'],
    [['x'], 'Kinds are `collect`, `process`, `forward`.'],
    [['file'], '`file` is a plugin; name its kind before it:\n  millrace plugins collect file'],
    [['collect', 'flie'], 'there is not a collect plugin called `flie`. Did you mean `file`?'],
    [
      ['forward', 'zzzzzz'],
      'There are `datadog`, `disk`, `elasticsearch`, `http`, `loki`, `kafka`, `nats`, `noop`, `otlp`, `s3`, `splunk_hec`, `stdout`, `syslog`, `test`.',
    ],
    [['collect', 'disk'], '`disk` is a forward plugin: millrace plugins forward disk'],
  ])('%j is refused with a hint', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['plugins', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('millrace schema', () => {
  it('prints a JSON Schema', async () => {
    const { code, stdout, stderr } = await runCommand(['schema']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      $schema: expect.stringContaining('json-schema.org'),
      required: expect.arrayContaining(['collectors', 'pipelines']),
    });
  });
});
