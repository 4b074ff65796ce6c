import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { from, lastValueFrom, toArray } from 'rxjs';
import { createStandaloneHost } from '../../src/host/standalone-host.ts';

const MODULES = {
  'mine.mjs': `
    import { Observable } from 'rxjs';
    export const sum = (a, b) => a + b;
    export const seen = (...args) => args;
    export async function later(value) { return value; }
    export const many = () => new Observable((s) => { s.next(1); s.next(2); s.complete(); });
    export function fail() { throw new Error('out of order'); }
    export const nothing = () => {};
    export const version = '1';
  `,
  'common.cjs': 'module.exports = { hello: () => "hello", count: 3 };',
  'values.mjs': 'export const version = 1;',
  'broken.mjs': 'export const = 1;',
  'throws.mjs': 'throw new Error("not today");',
  'node_modules/pack/package.json': '{ "name": "pack", "type": "module", "exports": "./index.js" }',
  'node_modules/pack/index.js': 'export const packed = () => true;',
};

let baseDir: string;
beforeAll(() => {
  // Under the repository, so that the modules find rxjs.
  baseDir = mkdtempSync(join(import.meta.dirname, 'modules-'));
  for (const [name, text] of Object.entries(MODULES)) {
    mkdirSync(dirname(join(baseDir, name)), { recursive: true });
    writeFileSync(join(baseDir, name), text);
  }
});
afterAll(() => rmSync(baseDir, { recursive: true }));

async function results(fn: string, args: unknown[] = [], kwargs: Record<string, unknown> = {}) {
  const functions = { mine: './mine.mjs', common: './common.cjs', pack: 'pack' };
  const { host, problems } = await createStandaloneHost({ functions }, { baseDir });
  expect(problems).toEqual([]);
  return lastValueFrom(from(host.call(fn, args, kwargs)).pipe(toArray()));
}

describe("the user's own functions", () => {
  it('are known beside the built-in ones', async () => {
    const { host } = await createStandaloneHost({ functions: { mine: './mine.mjs' } }, { baseDir });
    const own = host.functions().filter((name) => name.startsWith('mine.'));
    expect(own.toSorted()).toEqual([
      'mine.fail',
      'mine.later',
      'mine.many',
      'mine.nothing',
      'mine.seen',
      'mine.sum',
    ]);
    expect(host.functions()).toContain('test.ping');
  });

  it('may be of a CommonJS module, or of a package', async () => {
    expect(await results('common.hello')).toEqual(['hello']);
    expect(await results('pack.packed')).toEqual([true]);
  });

  it('may return a value, a promise or an Observable', async () => {
    expect(await results('mine.sum', [1, 2])).toEqual([3]);
    expect(await results('mine.later', ['x'])).toEqual(['x']);
    expect(await results('mine.many')).toEqual([1, 2]);
    expect(await results('mine.seen', [1])).toEqual([[1]]);
    expect(await results('mine.nothing')).toEqual([undefined]);
  });

  it('get keyword arguments as a last one, if there are any', async () => {
    expect(await results('mine.seen', [1, 2], {})).toEqual([[1, 2]]);
    expect(await results('mine.seen', [1, 2], { a: 3 })).toEqual([[1, 2, { a: 3 }]]);
  });

  it('fail with what they throw', async () => {
    await expect(results('mine.fail')).rejects.toThrow('out of order');
  });
});

describe('createStandaloneHost', () => {
  const problemsOf = async (hostConfig: Record<string, unknown>) =>
    (await createStandaloneHost(hostConfig, { baseDir })).problems;

  it.each([
    [{}],
    [{ id: 'web-1', role: 'web', rack: { row: 3 }, anything: null }],
    [{ beacons: null, functions: null }],
    [{ beacons: { loadavg: null, memusage: {}, diskusage: { interval: 0.5, paths: ['/'] } } }],
    [{ beacons: { network: { interfaces: ['lo'] }, process: { names: ['node'] }, _later: 1 } }],
    [{ beacons: { file_watch: { paths: ['/etc/hosts'] } } }],
  ])('takes %j', async (hostConfig) => {
    expect(await problemsOf(hostConfig)).toEqual([]);
  });

  it('tells all problems at once, with paths inside host_config', async () => {
    const problems = await problemsOf({
      id: '',
      role: 3,
      beacons: {
        loadavgg: {},
        loadavg: { intervall: 3 },
        memusage: { interval: 0 },
        diskusage: [],
        network: { interfaces: [] },
        process: {},
        file_watch: { paths: [''] },
      },
      functions: {
        test: './mine.mjs',
        values: './values.mjs',
        broken: './broken.mjs',
        throws: './throws.mjs',
        missing: './missing.mjs',
        unknown: 'no-such-package',
        number: 3,
      },
    });
    const lines = problems.map(({ path, message, suggestion }) =>
      [path.join('.'), message.replaceAll(baseDir, '<dir>'), ...(suggestion ? [suggestion] : [])].join(' | '),
    );
    expect(lines).toEqual([
      'id | found the string ""; expected at least 1 character',
      "role | found 3; expected a string; write it in quotes: '3'",
      "functions.number | found 3; expected a string; write it in quotes: '3'",
      'beacons.loadavgg | unknown beacon `loadavgg`; there are `loadavg`, `memusage`, `diskusage`, `network`, `process`, `file_watch` | loadavg',
      'beacons.loadavg.intervall | unknown key `intervall` | interval',
      'beacons.memusage.interval | found 0; expected a number greater than 0',
      'beacons.diskusage | found an empty list; expected a mapping of its settings',
      'beacons.network.interfaces | found an empty list; expected at least 1 item',
      'beacons.process.names | missing; expected a list',
      'beacons.file_watch.paths.0 | found the string ""; expected at least 1 character',
      'functions.test | the namespace `test` belongs to the built-in functions; choose another name',
      'functions.values | the module `./values.mjs` exports no functions',
      expect.stringMatching(
        /^functions\.broken \| the module `\.\/broken\.mjs` does not load: SyntaxError: /,
      ),
      'functions.throws | the module `./throws.mjs` does not load: Error: not today',
      'functions.missing | the module `./missing.mjs` does not exist: no file <dir>/missing.mjs',
      'functions.unknown | there is no package `no-such-package` in <dir> or above; a path starts with ./',
    ]);
  });

  it.each([[[]], ['loadavg'], [3]])('refuses beacons that are %j', async (beacons) => {
    expect(await problemsOf({ beacons })).toMatchObject([
      { path: ['beacons'], message: expect.stringContaining('expected a mapping') },
    ]);
  });
});
