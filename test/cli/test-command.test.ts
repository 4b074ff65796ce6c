import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, runCli, runCommand, startCli } from '../support/cli.ts';

const CONFIG = `collectors:
  log: { plugin: file, paths: [/nowhere/web.log] }
processors:
  secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }
forwarders:
  archive: { plugin: disk, path: /nowhere }
pipelines:
  web: { collect: log, process: secrets, forward: archive }
host_config: {}
`;
const PACKAGE = join(ROOT, 'dist/src/index.js');
const GOOD = `tests:
  keys are masked:
    collect: { log: ['GET /?key=k-1'] }
    expect: { archive: ['GET /?key=<:KEY:>'] }
  it runs for days:
    collect: { log: { marbles: 'a 30d b|' } }
    expect: { archive: { count: 2 }, state: completed }
`;
const BAD = `${GOOD}  a slow forwarder:
    collect: { log: { marbles: 'a 1s b|', values: { a: one, b: two } } }
    forward: { archive: { takes: 3s } }
    expect:
      archive: { marbles: 'a 1s b' }
`;
/** Real time differs from run to run. */
const timeless = (text: string) => text.replace(/ in [\d.]+ m?s\)/g, ' in … ms)');

describe('millrace test', () => {
  it('says of each test whether it passed, and which time it covered', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD });
    const { code, stdout, stderr } = await runCommand(['test', 'web.yaml'], { cwd });
    expect({ code, stdout: timeless(stdout), stderr }).toEqual({
      code: 0,
      stdout: [
        'web.yaml',
        '  ✓ keys are masked (0 in … ms)',
        '  ✓ it runs for days (30d2ms in … ms)',
        '',
        '2 passed',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('says why a processor failed, with message and place: the values are those of the test', async () => {
    const cwd = folderWith({
      'parse.mjs': `import { ProcessConfigBase } from '${PACKAGE}';
export const get_config_schema = () => ProcessConfigBase;
export const process = ({ event }) => {
  const fields = JSON.parse(event.data.line);
  return { ...event, data: { user: fields.user.name } };
};
`,
      'p.yaml': `${CONFIG.replace("secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }", 'parse: { plugin: ./parse.mjs }').replace('process: secrets', 'process: parse')}tests:
  it parses:
    collect: { log: ['{}', '{}', 'k-1'] }
    expect: { archive: { count: 3 } }
  it fails as it should:
    collect: { log: ['{}'] }
    expect: { archive: { count: 0 }, dropped: [{ by: parse, reason: processor_failed }] }
`,
    });
    const { code, stdout } = await runCommand(['test', 'p.yaml'], { cwd });
    expect(code).toBe(1);
    const told = stdout.split('\n').filter((line) => line.includes('processor parse failed'));
    expect(told).toEqual([
      "    p.yaml:11:3: processor parse failed: TypeError: Cannot read properties of undefined (reading 'name'), at parse.mjs:5 (2 times)",
      expect.stringMatching(
        /processor parse failed: SyntaxError: Unexpected token .*k-1.*, at parse\.mjs:4$/,
      ),
    ]);
  });

  it('shows no value of an environment variable that the error of a processor quotes', async () => {
    const cwd = folderWith({
      'refuse.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ ctx }) => { throw new Error('refused by ' + ctx.config.token); };
`,
      'p.yaml': `${CONFIG.replace(/secrets: .*/, "secrets: { plugin: ./refuse.mjs, token: '${TOKEN}' }")}tests:
  it passes: { collect: { log: [a] }, expect: { archive: [a] } }
`,
    });
    const { stdout } = await runCommand(['test', 'p.yaml'], { cwd, env: { TOKEN: 'hunter2' } });
    expect(stdout).toContain('processor secrets failed: Error: refused by ${TOKEN}, at refuse.mjs:2');
    expect(stdout).not.toContain('hunter2');
  });

  it('shows what failed: the line, what came, the rows, and the run', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    const { code, stdout, stderr } = await runCommand(['test', 'web.yaml'], { cwd });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const [head, drawing = ''] = timeless(stdout).split('\n\n    a slow forwarder\n');
    expect(head).toBe(
      [
        'web.yaml',
        '  ✓ keys are masked (0 in … ms)',
        '  ✓ it runs for days (30d2ms in … ms)',
        '  ✗ a slow forwarder (6s in … ms)',
        '',
        '    web.yaml:21:18: expect.archive.marbles: the events are right, their times are not',
        "       21 |       archive: { marbles: 'a 1s b' }",
        '          |                  ^',
        '    Expected: a 1s b 1998ms - 2999ms -',
        '    Received: - 1s - 1998ms a 2999ms b',
        '',
        '    a was expected at 0ms, but came at 3s.',
        "    If that is right, write: marbles: '3s a 2999ms b'",
      ].join('\n'),
    );
    expect(drawing).toContain('forward archive: disk');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 passed, 1 failed');
  });

  it('takes several files, with those of tests beside them, each as a configuration of its own', async () => {
    const cwd = folderWith({
      'a.yaml': CONFIG + GOOD,
      'b.yaml': CONFIG,
      'b.test.yaml': GOOD,
      'part.yaml': 'host_config: {}\n',
    });
    const { code, stdout } = await runCommand(['test', 'a.yaml', 'b.yaml', 'part.yaml'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^a\.yaml\n[\s\S]*\n\nb\.test\.yaml\n[\s\S]*\n\n4 passed\n$/);
  });

  it('fails if a plugin ends the process', async () => {
    const cwd = folderWith({
      'web.yaml': CONFIG.replace(/plugin: regex_mask.*/, 'plugin: ./exit.mjs }') + GOOD,
      'exit.mjs':
        'export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });\n' +
        'export const process = () => globalThis.process.exit(0);\n',
    });
    expect(await runCli(['test', 'web.yaml'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('by a plugin that calls process.exit'),
    });
  });

  it('gives up a run that takes too long', async () => {
    const endless = `  endless:
    collect: { log: [a] }
    forward: { archive: { fails: always } }
    until: 3000d
    expect: { archive: { count: 0 } }
`;
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD + endless });
    const { code, stdout } = await runCommand(['test', 'web.yaml', '--timeout', '0.2'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('a longer --timeout');
    expect(stdout).toContain('2 passed, 1 failed');
  });

  it('draws every run if asked to', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD });
    const { stdout } = await runCommand(['test', 'web.yaml', '--text'], { cwd });
    expect(stdout.match(/forward archive: disk/g)).toHaveLength(2);
  });

  it('runs only those that a filter names', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    const passed = async (filter: string) =>
      (await runCommand(['test', 'web.yaml', '--filter', filter], { cwd })).stdout.match(
        /^ {2}[✓✗] .*(?= \()/gm,
      );
    expect(await passed('keys')).toEqual(['  ✓ keys are masked']);
    expect(await passed('/^IT|mask/i')).toEqual(['  ✓ keys are masked', '  ✓ it runs for days']);
  });

  it('saves a picture of each test', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    const { code } = await runCommand(['test', 'web.yaml', '--svg', 'out/pictures'], { cwd });
    expect(code).toBe(1);
    const folder = join(cwd, 'out/pictures');
    expect(readdirSync(folder).sort()).toEqual([
      'web-a-slow-forwarder.svg',
      'web-it-runs-for-days.svg',
      'web-keys-are-masked.svg',
    ]);
    expect(readFileSync(join(folder, 'web-keys-are-masked.svg'), 'utf8')).toMatch(/^<svg[\s\S]*<\/svg>\s*$/);
  });

  it('saves the results as JUnit XML', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    await runCommand(['test', 'web.yaml', '--junit', 'out/junit.xml'], { cwd });
    const xml = readFileSync(join(cwd, 'out/junit.xml'), 'utf8');
    expect(xml).toContain('<testsuite tests="3" failures="1" errors="0"');
    expect(xml).toContain('file="web.yaml" line="17"');
    expect(xml).toContain(
      '<failure message="the events are right, their times are not" type="marbles">web.yaml:21:18: expect',
    );
  });

  it.each([
    [['test'], 'test needs at least one configuration file'],
    [
      ['test', 'plain.yaml'],
      'millrace: no tests found: plain.yaml has no section `tests`, and no *.test.yaml',
    ],
    [['test', 'empty.yaml'], 'millrace: no tests found: empty.yaml has no section `tests`'],
    [
      ['test', 'web.yaml', '--filter', 'keys are maskd'],
      '--filter keys are maskd: no test has such a name. Did you mean `keys are masked`?',
    ],
    [['test', 'web.yaml', '--filter', 'x'], 'There are `keys are masked`, `it runs for days`.'],
    [['test', 'web.yaml', '--filter', '/(/'], '--filter /(/: not a regular expression: '],
    [['test', 'web.yaml', '--junit', 'web.yaml/x'], '--junit: web.yaml/x cannot be written: '],
    [['test', 'nowhere.yaml'], 'nowhere.yaml: there is no such file'],
    [
      ['test', 'wrong.yaml'],
      'wrong.yaml:13:15: tests.keys are masked.expect.archve: the pipeline `web` has no entry `archve`; did you mean `archive`?',
    ],
  ])('ends with 2 and says why: %j', async (args, message) => {
    const cwd = folderWith({
      'web.yaml': CONFIG + GOOD,
      'plain.yaml': CONFIG,
      'empty.yaml': `${CONFIG}tests: {}\n`,
      'wrong.yaml': CONFIG + GOOD.replace('archive:', 'archve:'),
    });
    const { code, stderr } = await runCommand(args, { cwd });
    expect({ code, stderr: stderr.replace('["keys are masked"]', '.keys are masked') }).toEqual({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });

  it('needs neither the environment of production nor its files', async () => {
    const config = CONFIG.replace('/nowhere }', '"$' + '{ARCHIVE_FOLDER}" }');
    const cwd = folderWith({
      'web.yaml': config + GOOD.replace(/expect:/g, 'env: { ARCHIVE_FOLDER: /x }\n    expect:'),
    });
    expect(await runCommand(['test', 'web.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(cwd)).toEqual(['web.yaml']);
  });
});

describe('millrace test --watch', () => {
  it('runs again when a file changes, and ends on Ctrl-C with the last result', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD });
    const cli = await startCli(['test', 'web.yaml', '--watch'], { cwd });
    await cli.shows('stderr', /watching 1 folder; Ctrl-C ends/);
    expect(cli.stdout).toContain('\n2 passed\n');
    writeFileSync(join(cwd, 'web.yaml'), CONFIG + BAD);
    await cli.shows('stdout', /\n2 passed, 1 failed\n/);
    await cli.shows('stderr', /watching[\s\S]*watching/);
    cli.kill('SIGINT');
    expect((await cli.ended()).code).toBe(1);
  });

  it('goes on after a problem', async () => {
    const cwd = folderWith({ 'web.yaml': `${CONFIG}tests: 3\n` });
    const cli = await startCli(['test', 'web.yaml', '--watch'], { cwd });
    await cli.shows('stderr', /1 error\.[\s\S]*watching/);
    writeFileSync(join(cwd, 'web.yaml'), CONFIG + GOOD);
    await cli.shows('stdout', /\n2 passed\n/);
    await cli.shows('stderr', /watching[\s\S]*watching/);
    cli.kill('SIGINT');
    expect((await cli.ended()).code).toBe(0);
  });

  it('watches the configuration and the modules that tests depend on', async () => {
    const cwd = folderWith({
      'tests/web.test.yaml': `config: ../config/web.yaml\n${GOOD}`,
      'config/web.yaml': CONFIG.replace(
        "plugin: regex_mask, rules: { KEY: 'k-[0-9]+' }",
        'plugin: ../plugins/mask.mjs',
      ),
      'plugins/mask.mjs': `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ event }) => [event];\n`,
    });
    const cli = await startCli(['test', 'tests/web.test.yaml', '--watch'], { cwd });
    await cli.shows('stdout', /\n1 passed, 1 failed\n/);
    await cli.shows('stderr', /watching/);
    const path = join(cwd, 'plugins/mask.mjs');
    const masking = `data: JSON.parse(JSON.stringify(event.data).replace(/k-[0-9]+/g, '<:KEY:>'))`;
    writeFileSync(path, readFileSync(path, 'utf8').replace('[event]', `[{ ...event, ${masking} }]`));
    await cli.shows('stdout', /\n2 passed\n/);
    cli.kill('SIGINT');
    await cli.ended();
  });

  it('does not run again because of what it writes itself', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD });
    const cli = await startCli(['test', 'web.yaml', '--watch', '--junit', 'junit.xml', '--svg', '.'], {
      cwd,
    });
    await cli.shows('stderr', /watching/);
    utimesSync(join(cwd, 'junit.xml'), 1, 1);
    await cli.isIdle();
    expect(cli.stdout.match(/2 passed/g)).toHaveLength(1);
    cli.kill('SIGINT');
    await cli.ended();
  });
});

describe('millrace validate', () => {
  it('checks tests as well, and counts them', async () => {
    const cwd = folderWith({
      'web.yaml': CONFIG + GOOD,
      'web.test.yaml': "tests: { t: { collect: { log: { marbles: 'a 5s|' } }, expect: { archive: [] } } }\n",
    });
    expect((await runCommand(['validate', 'web.yaml'], { cwd })).stdout).toBe(
      'web.yaml: valid: 1 pipeline, 1 collector, 1 processor, 1 forwarder, 2 tests\n',
    );
    const { code, stderr } = await runCommand(['validate', 'web.test.yaml'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('web.test.yaml:1:42: tests.t.collect.log.marbles: the time `5s`');
  });
});

describe('millrace test --mutate --coverage', () => {
  it('lists what the tests leave out, and ends with 1', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD });
    const { code, stdout, stderr } = await runCommand(['test', 'web.yaml', '--mutate', '--coverage'], {
      cwd,
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.replace(/in [\d.]+ m?s$/m, 'in … ms')).toContain(
      [
        'coverage: the tests reach 4 of 6',
        '  web.yaml:8:3: pipelines.web: no test has a collector that fails, so that the pipeline is restarted',
        '  web.yaml:8:42: pipelines.web.forward: no test has a forwarder that fails and is tried again',
        '',
        'mutants: the tests notice 2 of 3 changes, in … ms',
        '  web.yaml:4:43: processors.secrets.rules.KEY: no test notices this change: `[0-9]+` is `[0-9]`',
        '',
        '2 passed',
      ].join('\n'),
    );
  });

  it('tries no mutant when a test fails', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    const { code, stdout } = await runCommand(['test', 'web.yaml', '--mutate'], { cwd });
    expect(code).toBe(1);
    expect(stdout).not.toContain('mutants');
  });

  it('marks what no test reaches in the graph', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + GOOD });
    const { code, stdout } = await runCommand(['graph', 'web.yaml', '--coverage'], { cwd });
    expect({ code, head: stdout.split('\n')[0] }).toEqual({
      code: 0,
      head: expect.stringMatching(/not tested: restarts, retries$/),
    });
    const svg = await runCommand(['graph', 'web.yaml', '--coverage', '--format', 'svg'], { cwd });
    expect(svg.stdout).toMatch(/fill="#c62828"[^>]*>not tested</);
  });
});

describe('millrace test --reporter', () => {
  it('prints JSON', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    const { code, stdout } = await runCommand(['test', 'web.yaml', '--reporter', 'json'], { cwd });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      passed: 2,
      failed: 1,
      tests: [
        { file: 'web.yaml', line: 11, name: 'keys are masked', passed: true, failures: [] },
        { name: 'it runs for days', state: 'completed' },
        {
          name: 'a slow forwarder',
          passed: false,
          failures: [{ file: 'web.yaml', line: 21, path: 'expect.archive.marbles' }],
        },
      ],
    });
  });

  it('prints nothing but JSON to standard output, also if a plugin prints', async () => {
    const cwd = folderWith({
      'web.yaml': CONFIG.replace('regex_mask,', './noisy.mjs,') + GOOD,
      'noisy.mjs': `console.log('loaded');
        export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
        export const process = ({ event }) => { console.log('an event'); globalThis.process.stdout.write('!'); return [event]; };`,
    });
    const { stdout, stderr } = await runCli(['test', 'web.yaml', '--reporter', 'json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ tests: expect.any(Array) });
    expect(stderr).toContain('loaded\nan event\n!');
  });

  it('adds annotations in GitHub Actions', async () => {
    const cwd = folderWith({ 'web.yaml': CONFIG + BAD });
    const { stdout } = await runCommand(['test', 'web.yaml'], { cwd, env: { GITHUB_ACTIONS: 'true' } });
    expect(stdout).toMatch(/^1 failed|2 passed, 1 failed$/m);
    expect(stdout).toMatch(
      /^::error file=web\.yaml,line=21,col=18,title=a slow forwarder::expect\.archive\.marbles: [^\n]*%0A[^\n]*$/m,
    );
  });
});

describe('millrace test --explore', () => {
  const TWO = `collectors:
  web: { plugin: file, paths: [/nowhere/web.log] }
  app: { plugin: file, paths: [/nowhere/app.log] }
forwarders:
  archive: { plugin: noop }
pipelines:
  logs: { collect: [web, app], forward: archive }
host_config: {}
tests:
  the web comes first:
    collect: { web: { marbles: 'a|' }, app: { marbles: 'b|' } }
    expect: { archive: { marbles: '(ab)' } }
`;

  it('draws both runs of a test that depends on an order beside each other, and repeats the run', async () => {
    const cwd = folderWith({ 'two.yaml': TWO });
    const explored = await runCommand(['test', 'two.yaml', '--explore', '20'], { cwd });
    expect(explored.code).toBe(1);
    expect(explored.stdout).toMatch(/usual order: passes +│ other order: fails\n/);
    expect(explored.stdout).toMatch(/\(ab\).* │ .*\(ba\)/);
    const [, seed = ''] = /--explore-seed (\d+)/.exec(explored.stdout) ?? [];
    const again = await runCommand(['test', 'two.yaml', '--explore-seed', seed, '--reporter', 'json'], {
      cwd,
    });
    expect({ code: again.code, ...JSON.parse(again.stdout) }).toMatchObject({
      code: 1,
      orders: [{ name: 'the web comes first', seed: Number(seed) }],
    });
  });

  it.each([
    ['--explore', '0'],
    ['--jitter', '5'],
  ])('refuses %s %s', async (...option) => {
    const { code, stderr } = await runCommand(['test', 'two.yaml', ...option]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Expected a (?:whole number|time)/i);
  });
});
