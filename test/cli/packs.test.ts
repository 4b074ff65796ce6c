import { describe, expect, it } from '@jest/globals';
import { ACME } from '../redaction/acme-pack.ts';
import { folderWith, runCommand } from '../support/cli.ts';

/* `millrace packs --test`: the examples of a pack of one's own, and what it does to ordinary lines. */

/** A rule that alters ordinary lines. */
const userRule = (...fields: readonly string[]) =>
  [
    'rules:',
    '  user:',
    ...['description: A user', "match: 'for user ([a-z]+)'", 'mask: 1', ...fields].map(
      (field) => `    ${field}`,
    ),
  ].join('\n');

const tested = (files: Readonly<Record<string, string>>, args: readonly string[] = []) =>
  runCommand(['packs', '--test', './acme.yaml', ...args], { cwd: folderWith(files) });
const withoutFigures = (text: string) => text.replace(/[\d.]+ (?=MB|µs)/g, 'N ').replace(/ {2,}/g, ' ');

describe('millrace packs --test', () => {
  it('runs the examples of all that a pack has, and tells what ordinary lines cost', async () => {
    const { code, stdout, stderr } = await tested({ 'acme.yaml': ACME });
    expect(stderr).toBe('');
    expect(withoutFigures(stdout)).toBe(
      `acme
 ✓ ticket 36 examples alters nothing N µs a line
 ✓ name tresorwort 3 examples
 ✓ notation arrow 18 examples
 ✓ guard a colour 2 examples
 ✓ words 2 examples

none of 10,000 ordinary lines altered
N MB/s by one processor with the default packs; N MB/s without this pack
all 5 passed
`,
    );
    expect(code).toBe(0);
  });

  it('shows each example that fails, with what became of it', async () => {
    const wrong = ACME.replace("['ACM-{digit:7}']", "['ACM-12345678']")
      .replace('[tresorwort_laenge]', '[mein_tresorwort]')
      .replace("miss: 'KEY ~~ VALUE'", "miss: 'KEY ~~> VALUE'")
      .replace('farben7', 'farbe-rot7')
      .replace('[zebrafink]', "['x7Kd9-Qa']");
    const { code, stdout } = await tested({ 'acme.yaml': wrong });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ ticket +1 example failed/);
    expect(stdout).toContain(
      'example  ACM-12345678\n      expected ACM-12345678\n      became   <:ticket:>\n',
    );
    expect(stdout).toContain('example  mein_tresorwort\n      expected no name\n      became   a name\n');
    expect(stdout).toMatch(/✗ notation arrow/);
    expect(stdout).toMatch(/✗ guard a colour/);
    // The word is what the pack says that it is.
    expect(stdout).toMatch(/✓ words/);
    expect(stdout).toMatch(/4 of 5 failed\n$/);
  });

  it('tells which ordinary lines a rule alters, by their kinds', async () => {
    const { code, stdout } = await tested({
      'acme.yaml': userRule("tests: { matches: ['for user <<{lower:6}>>'] }"),
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ user +8 examples +alters [\d.]+ per 10,000/);
    expect(stdout).toMatch(
      /of 10,000 ordinary lines altered, [\d.]+ per 10,000\n {4}by acme:user: \d+ lines\n {6}linux-syslog, \d+ lines: \{syslog\}/,
    );
  });

  it('counts what names alter that rules of secrets/context find', async () => {
    const { stdout } = await tested({
      'acme.yaml': 'names: [{ name: level, kind: password, keys: [level], not: [levels_x] }]',
    });
    expect(stdout).toMatch(/by secrets\/context:password: \d+ lines?\n/);
  });

  it('measures rules of low confidence, and leaves templates that are none', async () => {
    const low = userRule(
      'confidence: low',
      "tests: { matches: ['for user <<{lower:6}>>'], misses: ['>> {constructor} {digit:1000000000}'] }",
    );
    const { code, stdout } = await tested({ 'acme.yaml': low });
    expect(code).toBe(0);
    expect(stdout).toMatch(/of 10,000 ordinary lines altered, [\d.]+ per 10,000, with `confidence: low`\n/);
  });

  it('takes ordinary lines of a file, of which it shows no content', async () => {
    const files = {
      'acme.yaml': ACME,
      'app.log': 'all well\nsee ACM-12345678\n\ndb_tresorwort=geheim4711x\n',
    };
    const { code, stdout } = await tested(files, ['--ordinary', 'app.log']);
    expect(code).toBe(0);
    expect(stdout).toContain('2 of 3 lines of app.log altered');
    expect(stdout).toMatch(/by acme:ticket: 1 line\n {6}app.log:2\n/);
    expect(stdout).toMatch(/by secrets\/context:password: 1 line\n {6}app.log:4\n/);
    expect(stdout).not.toMatch(/12345678|geheim4711x/);
  });

  it('prints JSON', async () => {
    const { code, stdout } = await tested({ 'acme.yaml': ACME }, ['--json']);
    expect(code).toBe(0);
    const [pack] = JSON.parse(stdout).packs;
    expect(pack).toMatchObject({
      pack: 'acme',
      passed: true,
      lines: 10_000,
      altered: 0,
      altered_per_10000: 0,
    });
    expect(pack.examples[0]).toEqual({ kind: 'rule', name: 'acme:ticket', passed: 36, failed: [] });
    expect(pack.rules).toEqual([
      { rule: 'acme:ticket', altered: 0, kinds: [], microseconds: expect.any(Number) },
    ]);
    expect(pack.megabytes_per_second).toEqual({ with: expect.any(Number), without: expect.any(Number) });
  });

  it('tests packs that come with millrace', async () => {
    const { code, stdout } = await runCommand(['packs', '--test', 'secrets/keys']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^secrets\/keys\n {2}✓ private-key/);
  });

  it.each([
    [['--test', './none.yaml'], /there is no file .*none.yaml; expected a pack/],
    [['--test', './acme.yaml', '--ordinary', 'none.log'], /cannot read none.log: ENOENT/],
    [['--json'], /--json requires --test PACK/],
    [['--ordinary', 'x'], /--ordinary requires --test PACK/],
    [['secrets/keys', '--test', './acme.yaml'], /either NAME or --test PACK/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await runCommand(['packs', ...args], { cwd: folderWith({ 'acme.yaml': ACME }) });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
