import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/build.ts';
import { folderWith, startProcess } from '../support/cli.ts';
import * as programs from './programs.ts';
import { newFolder, type Packed, Project, pack, packWorkspace } from './stranger.ts';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** What a program may import: `millrace`, `millrace/operators`, … */
const ENTRIES = Object.keys(manifest.exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => `millrace${path.slice(1)}`);

const folder = newFolder();
let packed: Packed;
let project: Project;

beforeAll(async () => {
  packed = await pack(folder);
  project = await Project.install(join(folder, 'project'), [packed.tarball, 'rxjs@7', '@types/node@20']);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The bytes of all files in a folder, without its own `node_modules`. */
const sizeOf = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('node_modules'))
    .reduce((bytes, name) => bytes + statSync(join(path, name)).size, 0);

describe('the package', () => {
  it('has the files that its manifest names', () => {
    const { bin, exports, main, types } = manifest;
    const named = [...Object.values(bin), main, types, ...Object.values(exports)].flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry as object),
    );
    for (const path of named) expect(packed.files).toContain(path.replace(/^\.\//, ''));
  });

  it('has documentation, and examples with their data', () => {
    const wanted = ['LICENSE', 'README.md', 'CHANGELOG.md'].filter((file) => existsSync(join(ROOT, file)));
    for (const file of [...wanted, 'examples/quickstart.yaml', 'examples/embed/app.mjs', 'docs/cli.md']) {
      expect(packed.files).toContain(file);
    }
    expect(packed.size).toBeLessThan(3_500_000);
  });

  it('has nothing else', () => {
    const others = packed.files
      .filter((file) => !/^(?:dist\/(?:src|operators|plugins|redact)|deploy|docs|examples)\//.test(file))
      .filter((file) => !/^(?:LICENSE|NOTICE|README\.md|CHANGELOG\.md|package\.json)$/.test(file));
    expect(others).toEqual([]);
    expect(packed.files.filter((file) => file.startsWith('examples/data/'))).toEqual([
      'examples/data/access.log',
      'examples/data/app.log',
    ]);
  });

  it('has no file twice, compiled and as its source', () => {
    expect(packed.files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });
});

describe('in a fresh project', () => {
  it('is installed with one copy of rxjs, and nothing amiss', async () => {
    const copies = project.packages().filter((path) => path.endsWith('/rxjs'));
    expect(copies).toEqual(['node_modules/rxjs']);
    const { code, stdout } = await project.run('npm', 'ls', '--all', '--json');
    expect({ code, problems: JSON.parse(stdout).problems }).toEqual({ code: 0, problems: undefined });
  });

  it.each(ENTRIES)('%s is imported, and is required, without a warning', async (entry) => {
    const keys = 'console.log(Object.keys(m).length > 0)';
    const ok = { code: 0, stdout: 'true\n', stderr: '' };
    expect(await project.node('--input-type=module', '-e', `import * as m from '${entry}'; ${keys}`)).toEqual(
      ok,
    );
    expect(
      await project.node('--input-type=commonjs', '-e', `const m = require('${entry}'); ${keys}`),
    ).toEqual(ok);
  });

  it.each([
    ['esm.mjs', programs.ESM],
    ['commonjs.cjs', programs.COMMONJS],
  ])('works in %s', async (file, text) => {
    project.write({ [file]: text });
    const { code, stdout, stderr } = await project.node(file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(programs.PRINTED);
  });

  // These two have types of the packages whose objects they wrap, which are optional peers.
  const ofPeers = ['millrace/ai', 'millrace/otel'];
  const entries = ENTRIES.filter((entry) => !ofPeers.includes(entry));
  const TYPED = { 'typed.ts': programs.TYPED, 'entries.ts': programs.imports(entries) };

  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ])('has types for $moduleResolution', async (options) => {
    // CommonJS has them where the compiler knows that Node can require a module.
    const files = options.module === 'nodenext' ? { ...TYPED, 'typed.cts': programs.TYPED } : TYPED;
    project.write(files);
    expect(await project.typeErrors(Object.keys(files), options)).toBe('');
  });

  it('has types for node16, except in CommonJS: the compiler takes Node for one that cannot require a module', async () => {
    // node16 means what Node 16 could do: there, write `await import('millrace')`.
    const files = { ...TYPED, 'typed.cts': programs.TYPED };
    project.write(files);
    const errors = await project.typeErrors(Object.keys(files), {
      module: 'node16',
      moduleResolution: 'node16',
    });
    expect(errors).toContain('error TS1479');
    expect(errors.match(/^[^\s(]+(?=\()/gm)).toEqual(expect.arrayContaining(['typed.cts']));
    expect(errors).not.toMatch(/^(?!typed\.cts|\s)./m);
  });

  it('has types of the operators for browsers, without those of Node', async () => {
    project.write({ 'page.ts': programs.PAGE });
    const options = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] };
    expect(await project.typeErrors(['page.ts'], options)).toBe('');
  });

  it('has a command that runs a configuration', async () => {
    project.write({ 'pipelines.yaml': programs.PIPELINES });
    const { code, stdout, stderr } = await project.run(
      'node_modules/.bin/millrace',
      ...['run', 'pipelines.yaml', '--once', '--log-level', 'warn'],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const events = stdout.trim().split('\n');
    expect(events.map((event) => JSON.parse(event).data)).toEqual([
      { name: '<:NAME:>', count: 1 },
      { name: '<:NAME:>', count: 2 },
    ]);
  });

  it('runs the quickstart as the README says', async () => {
    cpSync(join(project.folder, 'node_modules/millrace/examples'), join(project.folder, 'examples'), {
      recursive: true,
    });
    const { code, stderr } = await project.run(
      'node_modules/.bin/millrace',
      ...['run', 'examples/quickstart.yaml', '--once', '--no-state'],
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/^ {4}masked_log +2,400$/m);
  });

  it('has examples that are right', async () => {
    const examples = packed.files.filter((file) => /^examples\/[^/]+\.yaml$/.test(file));
    const files = examples.map((file) => join('node_modules/millrace', file));
    project.write({ 'load.mjs': programs.LOAD });
    const loaded = files.map((file) => `${file}: 0 warnings\n`).join('');
    expect(await project.node('load.mjs', ...files)).toEqual({ code: 0, stdout: loaded, stderr: '' });
  });

  it('runs examples/embed, which is typed', async () => {
    for (const file of ['app.mjs', 'engine.mjs']) {
      const example = `node_modules/millrace/examples/embed/${file}`;
      expect({ file, ...(await project.node(example)) }).toMatchObject({ file, code: 0 });
    }
    // The compiler does not look at programs in node_modules.
    const files = ['masked.mjs', 'app.mjs', 'engine.mjs'].map((name) => join('embed', name));
    for (const file of files) project.write({ [file]: readFileSync(join(ROOT, 'examples', file), 'utf8') });
    const options = { module: 'nodenext', moduleResolution: 'nodenext', allowJs: true, checkJs: true };
    expect(await project.typeErrors(files, options)).toBe('');
  });
});

describe('@millrace/operators, installed alone', () => {
  let operators: Packed;
  let alone: Project;

  beforeAll(async () => {
    operators = await packWorkspace(folder, '@millrace/operators');
    alone = await Project.install(join(folder, 'alone'), [operators.tarball, 'rxjs@7']);
  });

  it('is of the version and licence of millrace', () => {
    const { version, license, engines } = manifest;
    const { rxjs } = manifest.peerDependencies;
    const own = JSON.parse(readFileSync(join(ROOT, 'operators/package.json'), 'utf8'));
    expect(own).toMatchObject({ version, license, engines });
    expect(own.peerDependencies).toEqual({ rxjs });
    for (const [name, range] of Object.entries(own.dependencies))
      expect(manifest.dependencies[name]).toBe(range);
  });

  it('has compiled files and types only', () => {
    const others = operators.files.filter((file) => !/^dist\/.+(?:\.js|\.js\.map|\.d\.ts)$/.test(file));
    expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
  });

  it('brings what follows files and parses expressions, in less than 3.3 MB beside rxjs', () => {
    const packages = alone.packages().map((path) => path.replace(/^node_modules\//, ''));
    expect(packages.toSorted()).toEqual([
      '@eslint-community/regexpp',
      '@millrace/operators',
      'fdir',
      'picomatch',
      'rxjs',
      'tail',
      'tinyglobby',
      'tslib',
    ]);
    const ours = packages.filter((name) => name !== 'rxjs' && name !== 'tslib');
    const sizes = ours.map((name) => sizeOf(join(alone.folder, 'node_modules', name)));
    expect(sizes.reduce((bytes, size) => bytes + size, 0)).toBeLessThan(3.3e6);
  });

  it.each([
    ['imported', '--input-type=module', (entry: string) => `import * as m from '${entry}';`],
    ['required', '--input-type=commonjs', (entry: string) => `const m = require('${entry}');`],
  ])('is %s, with all that millrace exports', async (_, type, statement) => {
    for (const entry of ['operators', 'operators/node']) {
      const print = 'console.log(Object.keys(m).filter((key) => key !== "module.exports").sort().join())';
      const own = await alone.node(type, '-e', statement(`@millrace/${entry}`) + print);
      expect(own).toEqual({ code: 0, stdout: expect.stringMatching(/\w,/), stderr: '' });
      expect(own).toEqual(await project.node(type, '-e', statement(`millrace/${entry}`) + print));
    }
  });

  it('uses the RxJS of the application', async () => {
    alone.write({
      'app.mjs': `
        import { regexMask } from '@millrace/operators';
        import { Observable, of } from 'rxjs';
        const masked$ = of('PIN 1234').pipe(regexMask({ rules: { PIN: '[0-9]{4}' } }));
        masked$.subscribe((line) => console.log(line, masked$ instanceof Observable));`,
    });
    expect(await alone.node('app.mjs')).toEqual({ code: 0, stdout: 'PIN <:PIN:> true\n', stderr: '' });
  });

  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ])('has types for $moduleResolution, without those of Node', async (options) => {
    alone.write({ 'page.ts': programs.PAGE.replaceAll('millrace/', '@millrace/') });
    expect(await alone.typeErrors(['page.ts'], { ...options, lib: ['es2022', 'dom'], types: [] })).toBe('');
  });
});

describe('@millrace/redact, installed alone', () => {
  let redact: Packed;
  let alone: Project;

  beforeAll(async () => {
    redact = await packWorkspace(folder, '@millrace/redact');
    alone = await Project.install(join(folder, 'redact-alone'), [redact.tarball]);
  });

  it('is of the version and licence of millrace', () => {
    const { version, license, engines } = manifest;
    const own = JSON.parse(readFileSync(join(ROOT, 'redact/package.json'), 'utf8'));
    expect(own).toMatchObject({ version, license, engines });
    for (const [name, range] of Object.entries(own.dependencies))
      expect(manifest.dependencies[name]).toBe(range);
  });

  it('has compiled files and types only', () => {
    const others = redact.files.filter((file) => !/^dist\/.+(?:\.js|\.js\.map|\.d\.ts)$/.test(file));
    expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json']);
  });

  it('needs no RxJS, no schemas and no engine', () => {
    const packages = alone.packages().map((path) => path.replace(/^node_modules\//, ''));
    expect(packages.toSorted()).toEqual(['@eslint-community/regexpp', '@millrace/redact', '@noble/hashes']);
  });

  it('masks strings, values and streams', async () => {
    alone.write({
      'app.mjs': `
        import { createRedactor, iterateRedacted } from '@millrace/redact';
        import { redactedNodeTransform } from '@millrace/redact/node';
        const redactor = createRedactor();
        console.log(redactor.redact('password=Tr0ub4dor&3'), redactor.redact({ password: 'Tr0ub4dor&3' }));
        for await (const text of iterateRedacted(redactor, ['password=Tr0', 'ub4dor&3'])) console.log(text);
        const transform = redactedNodeTransform(redactor);
        transform.end('password=Tr0ub4dor&3');
        console.log((await transform.toArray()).join(''));`,
    });
    const masked = 'password=<:password:>\n';
    const stdout = `password=<:password:> { password: '<:password:>' }\n${masked}${masked}`;
    expect(await alone.node('app.mjs')).toEqual({ code: 0, stdout, stderr: '' });
  });

  it.each([
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ])('has types for $moduleResolution, without those of Node', async (options) => {
    alone.write({
      'page.ts': `
        import { createRedactor, redactedTransform, type Redactor } from '@millrace/redact';
        const redactor: Redactor = createRedactor({ packs: ['secrets/keys'], action: { default: { keep_last: 4 } } });
        export const text: string = redactor.redact('a');
        export const value: { n: number; s: string } = redactor.redact({ n: 1, s: 'a' as const });
        export const transform: TransformStream<Uint8Array, Uint8Array> = redactedTransform(redactor);`,
    });
    expect(await alone.typeErrors(['page.ts'], { ...options, lib: ['es2022', 'dom'], types: [] })).toBe('');
  });
});

describe('Jest in CommonJS', () => {
  it('loads the package, with one copy of rxjs, as docs/testing.md says', async () => {
    const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
    const [, config = ''] = /^```js file=\S+\/jest\.config\.cjs\n(.+?)^```$/ms.exec(page) ?? [];
    project.write({ 'jest.config.cjs': config, 'package.test.cjs': programs.JEST_TEST });
    symlinkSync(join(ROOT, 'node_modules/@swc'), join(project.folder, 'node_modules/@swc'));
    const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
    const { code, stderr } = await project.node(jest, '--config', 'jest.config.cjs', 'package.test');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1 passed, 1 total') });
  });
});

describe('installed globally', () => {
  let millrace: string;

  beforeAll(async () => {
    const prefix = join(folder, 'prefix');
    const options = ['--prefer-offline', '--no-audit', '--no-fund'];
    const { code, stderr } = await project.run(
      'npm',
      'install',
      '-g',
      '--prefix',
      prefix,
      ...options,
      packed.tarball,
    );
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    millrace = join(prefix, 'bin/millrace');
  });

  /** Runs a plugin that stands where no packages are. */
  async function runPlugin(files: Readonly<Record<string, string>>, plugin: string) {
    const cwd = folderWith({ ...files, 'pipelines.yaml': programs.pluginPipelines(plugin) });
    const args = [millrace, 'run', 'pipelines.yaml', '--once', '--no-state', '--log-level', 'warn'];
    const { code, stdout, stderr } = await startProcess(process.execPath, args, { cwd }).ended();
    return { code, stderr, lines: stdout.trim().split('\n') };
  }

  it('runs a plugin from elsewhere, with the packages that the command has', async () => {
    const { code, stderr, lines } = await runPlugin({ 'plugin.mjs': programs.PLUGIN }, './plugin.mjs');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines.map((line) => JSON.parse(line).data)).toEqual([programs.SAID_BY_PLUGIN]);
  });

  // Node before 22.15 has no hook for it.
  const itWithHooks = 'registerHooks' in module ? it : it.skip;
  itWithHooks('runs a CommonJS plugin from elsewhere', async () => {
    const { code, stderr, lines } = await runPlugin(
      { 'plugin.cjs': programs.COMMONJS_PLUGIN },
      './plugin.cjs',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines.map((line) => JSON.parse(line).data)).toEqual([programs.SAID_BY_PLUGIN]);
  });

  it('says which package a plugin from elsewhere misses', async () => {
    const files = { 'missing.mjs': "import 'no-such-package';" };
    const { code, stderr } = await runPlugin(files, './missing.mjs');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("Cannot find package 'no-such-package'"),
    });
  });
});
