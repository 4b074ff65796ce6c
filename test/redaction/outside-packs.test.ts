import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../plugins/masks/redact-masking.ts';
import { loadPacks, type OutsidePack } from '../../plugins/packs/load-packs.ts';
import { packRules } from '../../plugins/packs/pack-rules.ts';
import type { RedactProcessConfig } from '../../plugins/process/redact.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderWith } from '../support/cli.ts';
import { ACME } from './acme-pack.ts';

/* Packs that do not come with millrace: files, and npm packages. */

const config = (packs: string) => `
collectors: { in: { plugin: test, count: 1 } }
processors: { mask: { plugin: redact, packs: ${packs} } }
forwarders: { out: { plugin: noop } }
pipelines: { main: { collect: in, process: mask, forward: out } }
host_config: {}
`;

/** What a configuration in a folder with these files masks of lines. */
async function masked(files: Readonly<Record<string, string>>, packs: string, lines: readonly string[]) {
  const folder = folderWith({ ...files, 'etc/c.yaml': config(packs) });
  const loaded = await loadConfig([join(folder, 'etc/c.yaml')]);
  const settings = loaded.config.processors.mask as unknown as RedactProcessConfig;
  // Workers get the configuration in a message.
  const inWorker = structuredClone({ ...settings });
  const redactor = createRedactor(inWorker, { now: () => 0, onMask: () => {} });
  return lines.map((line) => redactor.maskText(line));
}

async function problemsOf(pack: string, packs = '[secrets/context, ./acme.yaml]', more = {}) {
  const folder = folderWith({ 'acme.yaml': pack, 'c.yaml': config(packs), ...more });
  const error = await loadConfig([join(folder, 'c.yaml')]).then(
    () => ({ problems: [] }),
    (caught) => caught,
  );
  return error.problems.map(({ message }: { message: string }) => message.replaceAll(`${folder}/`, ''));
}

const LINES = [
  'db_tresorwort: sommer24',
  'password ~~> Kx82jsnd72',
  'password=farbe-blau7 token=zebrafink',
  'see ACM-12345678',
];
const MASKED = [
  'db_tresorwort: <:password:>',
  'password ~~> <:password:>',
  'password=farbe-blau7 token=zebrafink',
  'see <:ticket:>',
];

describe('a pack of your own', () => {
  it('is a file beside the configuration: it has rules, and adds to what secrets/context knows', async () => {
    expect(await masked({ 'etc/packs/acme.yaml': ACME }, '[default, ./packs/acme.yaml]', LINES)).toEqual(
      MASKED,
    );
    expect(await masked({ 'acme.yaml': ACME }, '[default, ../acme.yaml]', LINES)).toEqual(MASKED);
    // Without it nothing changes.
    expect(await masked({}, 'default', LINES)).toEqual([LINES[0], LINES[1], expect.any(String), LINES[3]]);
  });

  it('is an npm package, as seen from the configuration', async () => {
    const manifest = (packs: unknown) => JSON.stringify({ name: 'x', millrace: { packs } });
    const files = {
      'node_modules/millrace-pack-acme/package.json': manifest(['pack.yaml']),
      'node_modules/millrace-pack-acme/pack.yaml': ACME,
      'node_modules/@acme/packs/package.json': manifest(['a/keys.yaml', 'tickets.yaml']),
      'node_modules/@acme/packs/a/keys.yaml': ACME.slice(0, ACME.indexOf('rules:')),
      'node_modules/@acme/packs/tickets.yaml': ACME.slice(ACME.indexOf('rules:')),
    };
    for (const pack of ['millrace-pack-acme', "'@acme/packs'", 'millrace-pack-acme/pack.yaml']) {
      expect(await masked(files, `[default, ${pack}]`, LINES)).toEqual(MASKED);
    }
    expect(await masked(files, "[default, '@acme/packs/tickets.yaml']", LINES.slice(3))).toEqual([MASKED[3]]);
  });

  it('gives its rules ids by its name, which `disable` and `action` take', async () => {
    const folder = folderWith({ 'acme.yaml': ACME });
    const path = join(folder, 'acme.yaml');
    expect(Object.keys(packRules([path, 'secrets/context']))[0]).toBe('acme:ticket');
    expect(Object.keys(packRules([path, 'secrets/context'], ['acme:*']))).not.toContain('acme:ticket');
    const text = config("[default, ./acme.yaml], disable: ['acme:*'], action: { 'acme:ticket': name }");
    const withFiles = folderWith({ 'acme.yaml': ACME, 'c.yaml': text });
    await expect(loadConfig([join(withFiles, 'c.yaml')])).resolves.toBeDefined();
  });

  it('may have kinds of names of its own, further files, parts, and commands', async () => {
    const files = {
      'etc/acme.yaml': `
description: Vouchers
files: [names, more]
parts: { number: '[0-9]{6}' }
rules:
  voucher:
    description: A voucher after its name
    kinds: [voucher]
    notations: all
    tests: { matches: ['gutschein=<<x{digit:6}>>'] }
`,
      'etc/acme/names.yaml': `
kinds: { voucher: { clear: token, typed: token } }
names:
  - { name: gutschein, kind: voucher, start: word, keys: [gutschein, mein_gutschein], not: [gutscheine] }
`,
      'etc/acme/more.yaml': `
commands:
  - { command: acmectl login, form: '… --code VALUE', example: 'acmectl login --code VALUE', miss: acmectl login }
rules:
  order:
    description: An order
    match: 'order/({{number}})'
    mask: 1
    tests: { matches: ['order/<<{digit:6}>>'] }
`,
    };
    const lines = ['gutschein: Kx82jsnd72', 'acmectl login --code Kx82jsnd72', 'GET /order/123456'];
    expect(await masked(files, '[secrets/context, ./acme.yaml]', lines)).toEqual([
      'gutschein: <:voucher:>',
      'acmectl login --code <:command:>',
      'GET /order/<:order:>',
    ]);
  });
});

describe('what a pack cannot switch off', () => {
  it('is a pack of millrace: no other pack has a name of those', async () => {
    for (const name of ['secrets', 'pii']) {
      const files = {
        [`node_modules/${name}/package.json`]: '{"millrace":{"packs":["context.yaml","a.yaml"]}}',
        [`node_modules/${name}/a.yaml`]: ACME,
        [`node_modules/${name}/context.yaml`]: ACME,
      };
      for (const written of [name, `${name}/a.yaml`, `${name}/context.yaml`]) {
        expect(await problemsOf(ACME, `[default, ${written}]`, files)).toEqual([
          expect.stringContaining(
            'names that start with secrets/ or pii/ are those of the packs of millrace',
          ),
        ]);
      }
    }
    const pack: OutsidePack = { name: 'secrets/context', description: 'x', rules: {}, additions: {} };
    expect(() => loadPacks(['secrets/context', pack])).toThrow('two packs are called secrets/context');
  });

  it('is a check of a kind of names, or a notation, that exists', async () => {
    expect(await problemsOf(`kinds: { password: { clear: card } }\n${ACME}`)).toEqual([
      expect.stringMatching(/^acme.yaml:1:\d+: kinds.password: there is another kind of names of this name/),
    ]);
    expect(await problemsOf(ACME.replace('notation: arrow', 'notation: assignment'))).toEqual([
      expect.stringMatching(/^acme.yaml:5:\d+: notations.0.notation: there is another notation of this name/),
    ]);
    const kind = (check: string) => `
kinds: { voucher: { clear: ${check} } }
names: [{ name: gutschein, kind: voucher, keys: [gutschein], not: [gut] }]
rules:
  voucher: { description: x, kinds: [voucher], notations: all, tests: { matches: ['gutschein=<<x{digit:6}>>'] } }
`;
    const packs = '[default, ./acme.yaml, ./other.yaml]';
    expect(await problemsOf(kind('token'), packs, { 'other.yaml': kind('card') })).toEqual([
      'the packs acme and other both add the kind of names voucher; rename one of them',
    ]);
    expect(await problemsOf(ACME, packs, { 'other.yaml': ACME })).toEqual([
      'the packs acme and other both add the notation arrow; rename one of them',
    ]);
  });

  it.each([
    "value: '[^\\n]{1,400}'",
    "value: '\\S*'",
    "value: '[A-Za-z0-9]{1,60}'",
    "form: 'VALUE'",
    "form: '[=:\"'' ]VALUE'",
    "form: 'password=VALUE'",
    "form: 'VALUE', notations: [assignment]",
    "form: '(?<=[= ])VALUE', value: '[^x]+'",
  ])('is masking as a whole, by a guard with %s', async (guard) => {
    const pack = `guards: [{ guard: all, ${guard}, example: 'password=a', miss: x }]`;
    expect(await problemsOf(pack)).toEqual([
      expect.stringMatching(/^acme.yaml:1:\d+: guards.0.(?:form|value): this accepts many random values/),
    ]);
  });

  it.each([
    "value: 'farbe-[a-z]+'",
    "form: 'colour of the password=VALUE'",
    "form: 'VALUE', notations: [arrow]",
    "form: 'VALUE(?=\\(\\))', value: '[a-zA-Z.]+'",
  ])('is nothing of what a guard with %s leaves', async (guard) => {
    const start = ACME.indexOf('guards:');
    const pack = `guards: [{ guard: all, ${guard}, example: 'x', miss: x }]${ACME.slice(ACME.indexOf('\nwords:'))}`;
    expect(await problemsOf(ACME.slice(0, start) + pack)).toEqual([]);
  });

  it('is a rule, by `allow`', async () => {
    expect(await problemsOf(ACME.replace('match:', "allow: ['.']\n    match:"))).toEqual([
      expect.stringMatching(/^acme.yaml:12:\d+: rules.ticket.allow.0: this accepts most random values/),
    ]);
  });
});

describe('what is wrong with a pack', () => {
  it.each([
    ['rules: {', /^acme.yaml:1:\d+: the file is not valid YAML/],
    [
      'rules: &a\n  x: *a',
      'acme.yaml: the file has more than 40 levels; an alias must not stand in what it names',
    ],
    ['description: x', 'acme.yaml: the pack has no rules, names, notations, guards or words'],
    [
      `parts: { number: '[0-9]{8}' }\n${ACME.replace('[0-9]{8}', '{{numbr}}')}`,
      'acme.yaml:13:12: rules.ticket.match: there is no part `numbr`; did you mean `number`?',
    ],
    [
      `kinds: { voucher: { clear: token } }\n${ACME}`,
      /^acme.yaml:1:\d+: kinds.voucher: no rule looks for names of this kind/,
    ],
    [
      ACME.replace('farbe-', '[a-z]+x[a-z]+'),
      /^acme.yaml:7:\d+: guards.0.value: expected an expression that takes at most time in proportion/,
    ],
    [
      `parts: { a: '${'x'.repeat(15_000)}' }\n${ACME}${Array.from({ length: 150 }, (_, i) => `  r${i}: { description: x, match: '{{a}}', tests: { matches: [r${i}] } }`).join('\n')}`,
      'acme.yaml: parts: the pack has more than 2000000 characters in all with its parts; expected less',
    ],
    ['root:x:0:0', /^acme.yaml: this is not a pack: .*content of the file is not shown here$/],
    ['rules: []', 'acme.yaml:1:8: rules: expected a mapping of names to rules'],
    ['nmaes: []\nrules: {}', 'acme.yaml:1:8: nmaes: unknown key; did you mean `names`?'],
    [
      ACME.replace('kind: password', 'kind: passwort'),
      'acme.yaml:3:31: names.0.kind: there is no `passwort`; did you mean `password`?',
    ],
    [ACME.replace(', not: [tresorwort_laenge]', ''), 'acme.yaml:3:5: names.0.not: missing; expected a list'],
    [
      ACME.replace('form: ', 'ends: qouted, form: '),
      'acme.yaml:5:30: notations.0.ends: there is no `qouted`; did you mean `quoted`?',
    ],
    [
      ACME.replace("match: 'ACM", "match: '(a+)+(?=ACM"),
      /^acme.yaml:12:12: rules.ticket.match: expected a valid regular expression/,
    ],
    [
      ACME.replace('[0-9]{8}', '.*a.*b.*c'),
      /^acme.yaml:12:12: rules.ticket.match: expected an expression that takes at most the square/,
    ],
    [ACME.replace("'ACM", "'(?:A|A?)+ACM"), /^acme.yaml:12:12: rules.ticket.match: /],
    [
      ACME.replace('KEY ~~> VALUE', 'KEY(?:a*a*)*bVALUE'),
      /^acme.yaml:5:30: notations.0.form: expected an expression/,
    ],
    [
      ACME.replace('match:', 'mask: 2\n    match:'),
      'acme.yaml:12:11: rules.ticket.mask: expected a group of the expression, which has 0',
    ],
    [
      ACME.replace('match:', 'check: luhn\n    match:'),
      /^acme.yaml:12:12: rules.ticket.check: expected one of \d+ names, such as/,
    ],
    [ACME.replace('ticket:', 'a b:'), /^acme.yaml:10:3: rules.a b: expected a name of letters/],
    [`files: [other]\n${ACME}`, 'acme/other.yaml: cannot be read (ENOENT)'],
    [`files: [../other]\n${ACME}`, /^acme.yaml:1:9: files.0: expected the name of a file in/],
    [
      `${ACME}#${'x'.repeat(300_000)}`,
      /^acme.yaml: the file has \d+ bytes; a file of a pack may have 262144$/,
    ],
    [
      `parts:\n  a: xxxxxxxxxx\n${Array.from({ length: 20 }, (_, i) => `  ${String.fromCharCode(98 + i)}: '{{${String.fromCharCode(97 + i)}}}{{${String.fromCharCode(97 + i)}}}'`).join('\n')}\n${ACME}`,
      'acme.yaml: parts: an expression has more than 20000 characters with its parts; expected less',
    ],
    [
      `a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nrules: *e\nwords: [*e, *e, *e]`,
      'acme.yaml: the file has more than 50000 values',
    ],
    [
      `${ACME}${Array.from({ length: 501 }, (_, i) => `  r${i}: { description: x, match: r${i}, tests: { matches: [r${i}] } }`).join('\n')}`,
      'acme.yaml: 502 rules; a pack may have 500',
    ],
  ])('%#', async (pack, message) => {
    const problems = await problemsOf(pack);
    expect(problems).toContainEqual(
      expect.stringMatching(typeof message === 'string' ? `^${escaped(message)}$` : message),
    );
  });

  it('is told at the name of the pack in the configuration', async () => {
    expect(await problemsOf(ACME, './acme.yaml')).toEqual([
      'the pack acme adds to `secrets/context`, which is not among the packs; add it, or `default`',
    ]);
    expect(await problemsOf(ACME, '[default, ./acmee.yaml]')).toEqual([
      'there is no file acmee.yaml; expected a pack',
    ]);
    expect(await problemsOf(ACME, "[default, '@acme/pack']")).toEqual([
      expect.stringMatching(/^there is no pack "@acme\/pack", and no package of that name in /),
    ]);
    expect(
      await problemsOf(ACME, '[default, ./acme.yaml, ./other/acme.yaml]', { 'other/acme.yaml': ACME }),
    ).toEqual(['two packs are called acme: acme.yaml and other/acme.yaml; rename one of the files']);
    const manifest = { 'node_modules/acme/package.json': '{}' };
    expect(await problemsOf(ACME, '[default, acme]', manifest)).toEqual([
      expect.stringMatching(/^the package acme names no packs; its package.json has to/),
    ]);
    const outside = { 'node_modules/acme/package.json': '{"millrace":{"packs":["../x.yaml"]}}' };
    expect(await problemsOf(ACME, '[default, acme]', outside)).toEqual([
      'the package acme names a pack that is not in its folder: ../x.yaml',
    ]);
  });

  it('never shows content of the file', async () => {
    const secret = 'Kx82jsnd72';
    for (const pack of [
      `rules: ${secret}`,
      `names: [${secret}]`,
      `rules: { a: { description: 1, match: [${secret}], tests: ${secret} } }`,
      `words: { ${secret}: 1 }`,
      `description: x\n${secret}: 1`,
      `description: x\nkinds: { ${secret}: 1 }`,
      `rules: *${secret}`,
    ]) {
      expect((await problemsOf(pack)).join()).not.toContain(secret);
    }
  });

  it('is listed up to 20 problems', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `  - { name: name${i} }`).join('\n');
    const problems = await problemsOf(`names:\n${names}`);
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatch(/^acme.yaml: and \d+ more problems$/);
  });

  it('is a part in two files', async () => {
    const pack = `files: [more]\nparts: { number: '[0-9]' }\n${ACME}`;
    expect(await problemsOf(pack, undefined, { 'acme/more.yaml': "parts: { number: '[a-f]' }" })).toEqual([
      expect.stringMatching(
        /^acme\/more.yaml:1:\d+: parts.number: another file of the pack has a part of this/,
      ),
    ]);
  });

  it('is a file that cannot be read', async () => {
    expect(await problemsOf(ACME, `./${'x'.repeat(300)}.yaml`)).toEqual([
      expect.stringMatching(/cannot be read \(ENAMETOOLONG\)$/),
    ]);
    expect(await problemsOf(`files: [more]\n${ACME}`, undefined, { 'acme/more.yaml/x': '' })).toEqual([
      'acme/more.yaml: is not a file',
    ]);
  });

  it('does not depend on a byte order mark and quotes of keys', async () => {
    expect(await problemsOf(`\uFEFF${ACME.trim()}`)).toEqual([]);
    expect(
      await problemsOf(
        '{ "rules": { "a": { "description": "x", "match": "AC[0-9]", "tests": { "matches": ["AC1"] } } } }',
      ),
    ).toEqual([]);
  });

  it('is a guard without rules for names', async () => {
    expect(await problemsOf('words: [zebrafink]', './acme.yaml')).toEqual([
      'the pack acme adds to `secrets/context`, which is not among the packs; add it, or `default`',
    ]);
  });

  it('is thrown by packRules', () => {
    expect(() => packRules(['./no-such-pack.yaml'])).toThrow('no-such-pack.yaml; expected a pack');
  });
});

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
