import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { loadConfig, Manager, parseConfig, registerPlugin } from '../src/index.ts';
import { marbles, testPipeline } from '../src/testing/index.ts';

const raw = {
  collectors: { web: { plugin: 'test' } },
  forwarders: { out: { plugin: 'noop' } },
  pipelines: { main: { collect: 'web', forward: 'out' } },
  host_config: {},
};
const collect = { web: { marbles: 'a|' } };

const valid = await parseConfig(raw);

const CALLS: readonly [call: string, run: (wrong: never) => unknown, wrong: unknown, message: string][] = [
  [
    'loadConfig',
    (files) => loadConfig(files),
    'p.yaml',
    'loadConfig: found the string "p.yaml"; expected a list of paths',
  ],
  [
    'loadConfig',
    (files) => loadConfig(files),
    undefined,
    'loadConfig: found nothing; expected a list of paths',
  ],
  ['loadConfig', (files) => loadConfig(files), [7], 'loadConfig: found a list; expected a list of paths'],
  [
    'loadConfig',
    (options) => loadConfig([], options),
    { onse: true },
    'loadConfig: unknown option `onse`; did you mean `once`?',
  ],
  ['parseConfig', (options) => parseConfig(raw, options), 'name', 'parseConfig: found the string "name"'],
  [
    'Manager',
    (config) => new Manager(config),
    undefined,
    'new Manager: found nothing; expected a configuration',
  ],
  [
    'Manager',
    (config) => new Manager(config),
    raw,
    'new Manager: found an object; expected a configuration, as',
  ],
  ['Manager', (config) => new Manager(config), 'p.yaml', 'new Manager: found the string "p.yaml"'],
  [
    'Manager',
    (config) => new Manager(config),
    { config: valid, host: {} },
    'new Manager: found an object; expected its part `config`',
  ],
  [
    'Manager',
    (config) => new Manager(config),
    Promise.resolve(valid),
    'new Manager: found a promise (await it); expected a configuration',
  ],
  [
    'Manager',
    (options) => new Manager(valid, options),
    { drainTimeout: '10' },
    'option `drainTimeout`: found the string "10"; expected a number of seconds, 0 or more',
  ],
  [
    'Manager',
    (options) => new Manager(valid, options),
    { host: { id: 'a' } },
    'option `host`: found an object; expected an object with the functions `events`, `functions`, `call`',
  ],
  [
    'Manager',
    (options) => new Manager(valid, options),
    { logger: console.log },
    'option `logger`: found a function; expected an object with the functions `error`, `warn`, `info`, `debug`',
  ],
  [
    'Manager',
    (options) => new Manager(valid, options),
    { state: Promise.resolve({}) },
    'option `state`, from `await openState(folder)`: found a promise (await it); expected an object with the functions',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { colect: collect },
    'testPipeline: unknown option `colect`; did you mean `collect`?',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect: 'a|' },
    'testPipeline, collect: found the string "a|"; expected an object of names',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect: { web: 'a|' } },
    'testPipeline, collect.web: found the string "a|"; expected \'keep\', or an object such as { marbles:',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect: { web: { value: 1 } } },
    'testPipeline, collect.web: unknown option `value`; did you mean `values`?',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect: { web: {} } },
    'testPipeline, collect.web, marbles: found nothing; expected a marble string',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect, forward: { out: 'always' } },
    'testPipeline, forward.out: found the string "always"; expected \'keep\', or an object such as { takes:',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect, forward: { out: { fail: 2 } } },
    'testPipeline, forward.out: unknown option `fail`; did you mean `fails`?',
  ],
  [
    'testPipeline',
    (options) => testPipeline(raw, options),
    { collect, forward: { out: { fails: 'twice' } } },
    'testPipeline, forward.out, fails: found the string "twice"; expected a number of calls',
  ],
  [
    'registerPlugin',
    (kind) => registerPlugin(kind, 'x', {} as never),
    'collectors',
    "registerPlugin: found the string \"collectors\"; expected a kind of plugin: 'collect', 'process' or 'forward'",
  ],
  [
    'registerPlugin',
    (name) => registerPlugin('collect', name, {} as never),
    undefined,
    'registerPlugin: found nothing; expected the name of the plugin',
  ],
];

describe('a wrong argument', () => {
  it.each(CALLS)('of %s is told in a sentence: %#', async (_, run, wrong, message) => {
    await expect(async () => run(wrong as never)).rejects.toThrow(
      expect.objectContaining({ code: 'MILLRACE_ARGUMENT', message: expect.stringContaining(message) }),
    );
  });

  it('of testPipeline may be a configuration that is none: that has a message of its own', async () => {
    for (const config of [undefined, null, 'p.yaml', 7]) {
      await expect(testPipeline(config as never, { collect })).rejects.toThrow(
        'expected an object with collectors',
      );
    }
    expect(() => marbles(undefined as never)).toThrow('marbles are a string; found');
  });
});

describe('marbles with a time that is none', () => {
  it.each([
    ['a 1w b', '1w is not a time; units are ms, s, m, h and d'],
    ['a 5sec b', '5sec is not a time'],
    ['a 2min b', '2min is not a time'],
    ['a 1S b', '1S is not a time'],
    ['a 10 b', '10 is a time without a unit'],
    ['a 1.5 b', '1.5 is a time without a unit'],
    ['a 3 s b', '3 s is written without a space: 3s'],
  ])('%s is refused', (text, message) => {
    expect(() => marbles(text)).toThrow(`the marbles '${text}' cannot be read: ${message}`);
  });

  it.each(['1w', '12', 'a 1 b', '(12) 3s w', ' 1-2 ', 'a 1ms b 2s c 3m d 4h e 5d f'])(
    '%s is read',
    (text) => {
      expect(marbles(text).length).toBeGreaterThan(0);
    },
  );
});

it('docs/embedding.md lists all options of the Manager, and no others', () => {
  const options = { xyzzyxyzzy: 1 } as never;
  const known = (() => {
    try {
      new Manager(valid, options);
      return '';
    } catch (error) {
      return (error as Error).message.split('there are')[1] ?? '';
    }
  })();
  const [, section = ''] = readFileSync('docs/embedding.md', 'utf8').split('## Options of the Manager');
  const [table = ''] = section.split('\n## ');
  const listed = [...table.matchAll(/^\| `([\w$]+)`/gm)].map(([, name]) => name as string);
  expect(listed.sort()).toEqual([...known.matchAll(/`([\w$]+)`/g)].map(([, name]) => name as string).sort());
});
