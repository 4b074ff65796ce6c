import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../src/config/load-config.ts';
import { folderOf, load, REST, refusal, testHost } from './helpers.ts';

const COLLECTOR = `export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const collect = () => [];
`;

describe('several files', () => {
  it('merge by section, host_config one level deeper', async () => {
    const { config, files } = await load({
      'a.yaml': `collectors: {a: {plugin: test}}
forwarders: {out: {plugin: noop}}
host_config: {id: one, beacons: {loadavg: {interval: 1}}}
`,
      'b.yaml': `collectors: {b: {plugin: test}}
pipelines: {main: {collect: [a, b], forward: out}}
host_config: {role: web, beacons: {memusage: {}}}
`,
    });
    expect(files).toHaveLength(2);
    expect(config).toEqual({
      collectors: { a: expect.anything(), b: expect.anything() },
      processors: {},
      forwarders: { out: { plugin: 'noop' } },
      pipelines: { main: expect.objectContaining({ collect: ['a', 'b'], forward: ['out'] }) },
      host_config: { id: 'one', role: 'web', beacons: { loadavg: { interval: 1 }, memusage: {} } },
    });
  });

  it('may not define a name twice', async () => {
    const message = await refusal({
      'a.yaml': `collectors: {a: {plugin: test}}\nhost_config: {id: one, beacons: {x: 1}}\n`,
      'b.yaml': `collectors: {a: {plugin: tset}}\nhost_config: {id: two, beacons: {x: 2}}\nforwarders: {}\npipelines: {}\n`,
    });
    expect(
      message,
    ).toBe(`<dir>/b.yaml:1:14: collectors.a: \`a\` is defined twice; the first definition is at <dir>/a.yaml:1:14
    1 | collectors: {a: {plugin: tset}}
      |              ^
<dir>/b.yaml:2:15: host_config.id: \`id\` is defined twice; the first definition is at <dir>/a.yaml:2:15
    2 | host_config: {id: two, beacons: {x: 2}}
      |               ^
<dir>/b.yaml:2:34: host_config.beacons.x: \`x\` is defined twice; the first definition is at <dir>/a.yaml:2:34
    2 | host_config: {id: two, beacons: {x: 2}}
      |                                  ^`);
  });

  it('tell the problems of each, in the order given', async () => {
    const message = await refusal({
      'b.yaml': `collectors: {b: {plugin: test, count: 0}}\n${REST}`,
      'a.yaml': 'collectors: {a: {plugin: test, interval: 0}}\n',
    });
    expect(message.match(/^<dir>.*$/gm)).toEqual([
      '<dir>/b.yaml:1:39: collectors.b.count: found 0; expected a number greater than 0',
      '<dir>/a.yaml:1:42: collectors.a.interval: found 0; expected a number greater than 0',
    ]);
  });

  it('miss nothing that an unreadable one may hold', async () => {
    const message = await refusal({
      'a.yaml': 'pipelines: {main: {collect: elsewhere, forward: elsewhere, restart: 1}}\n',
      'b.yaml': 'collectors: {\n',
    });
    expect(message.match(/^<dir>.*$/gm)).toEqual([
      '<dir>/a.yaml:1:69: pipelines.main.restart: found 1; expected true or false',
      expect.stringMatching(/^<dir>\/b\.yaml:2:1: the file is not valid YAML: /),
    ]);
  });
});

describe('plugin modules', () => {
  it('are found from the file in which the entry stands', async () => {
    const { config } = await load({
      'main.yaml': `collectors: {a: {plugin: ./plugins/own.mjs, anything: 1}}\n${REST}`,
      'plugins/own.mjs': COLLECTOR,
    });
    expect(config.collectors.a).toEqual({ plugin: './plugins/own.mjs', anything: 1 });
    expect(config.collectors.a?.loaded_plugin.collect).toBeInstanceOf(Function);

    const folder = folderOf({
      'one/c.yaml': `collectors: {a: {plugin: ./p.mjs}}\n${REST}`,
      'one/p.mjs': COLLECTOR,
      'two/c.yaml': 'collectors: {b: {plugin: ./q.mjs}}\n',
      'two/q.mjs': COLLECTOR,
    });
    const files = [join(folder, 'one/c.yaml'), join(folder, 'two/c.yaml')];
    await expect(loadConfig(files, { host: testHost, env: {} })).resolves.toBeDefined();
  });

  it('may be packages, those for import only as well, with a default export', async () => {
    const { config } = await load({
      'c.yaml': `collectors: {a: {plugin: mr-plain}, b: {plugin: "@own/modern"}, c: {plugin: "@own/modern/sub"}}\n${REST}`,
      'node_modules/mr-plain/package.json': '{"name": "mr-plain", "type": "module", "main": "main.js"}',
      'node_modules/mr-plain/main.js': COLLECTOR.replaceAll('export const', 'const').concat(
        'export default { get_config_schema, collect };',
      ),
      'node_modules/@own/modern/package.json': JSON.stringify({
        name: '@own/modern',
        type: 'module',
        exports: { '.': { types: './x.d.ts', import: { default: './index.js' } }, './sub': './sub.js' },
      }),
      'node_modules/@own/modern/index.js': COLLECTOR,
      'node_modules/@own/modern/sub.js': COLLECTOR,
    });
    expect(Object.keys(config.collectors)).toEqual(['a', 'b', 'c']);
  });

  it('do not load, or are none', async () => {
    const message = await refusal({
      'c.yaml': `collectors:
  missing: {plugin: ./missing.mjs}
  broken: {plugin: ./broken.mjs}
  throws: {plugin: ./throws.mjs}
  noSchema: {plugin: ./no-schema.mjs}
  noEntry: {plugin: ./no-entry.mjs}
  other: {plugin: ./other.mjs}
  standard: {plugin: ./default.mjs}
${REST}`,
      'broken.mjs': 'export const = 1;',
      'throws.mjs': 'throw new Error("first line\\nsecond line");',
      'no-schema.mjs': 'export const collect = () => [];',
      'no-entry.mjs': 'export const get_config_schema = () => 1;',
      'other.mjs': 'export const get_config_schema = () => 1; export const forward = () => {};',
      'default.mjs': 'export default { collect: 1 };',
    });
    expect(message.match(/^<dir>.*$/gm)).toEqual([
      '<dir>/c.yaml:2:21: collectors.missing.plugin: the module `./missing.mjs` does not exist: no file <dir>/missing.mjs',
      expect.stringMatching(
        /^<dir>\/c\.yaml:3:20: collectors\.broken\.plugin: the module `\.\/broken\.mjs` does not load: SyntaxError: .* \(line 1\)$/,
      ),
      '<dir>/c.yaml:4:20: collectors.throws.plugin: the module `./throws.mjs` does not load: Error: first line',
      '<dir>/c.yaml:5:22: collectors.noSchema.plugin: the module `./no-schema.mjs` is not a collect plugin: it lacks the function get_config_schema',
      '<dir>/c.yaml:6:21: collectors.noEntry.plugin: the module `./no-entry.mjs` is not a collect plugin: it lacks the function collect',
      '<dir>/c.yaml:7:19: collectors.other.plugin: the module `./other.mjs` is not a collect plugin: it is a forward plugin; expected a collect plugin',
      '<dir>/c.yaml:8:22: collectors.standard.plugin: the module `./default.mjs` is not a collect plugin: it lacks the functions get_config_schema and collect',
    ]);
  });

  it('may have schemas that are not zod, throw, or use names of the engine', async () => {
    const schema = (result: string) =>
      `export const get_config_schema = () => ({ safeParse: (data) => (${result}) }); export const collect = () => [];`;
    const message = await refusal({
      'c.yaml': `collectors:
  a: {plugin: ./a.mjs, x: 1}
  b: {plugin: ./b.mjs}
  c: {plugin: ./c.mjs, name: n}
  d: {plugin: ./d.mjs}
  e: {plugin: ./e.mjs}
${REST}`,
      'a.mjs': schema("{ success: false, error: { issues: [{ message: 'x must be even', path: ['x'] }] } }"),
      'b.mjs':
        'export const get_config_schema = () => { throw new Error("no"); }; export const collect = () => [];',
      'c.mjs': schema('{ success: true, data }'),
      'd.mjs': `${schema('{ success: true, data }')} export const checkConfig = () => { throw new Error('oh'); };`,
      'e.mjs': `${schema('{ success: true, data }')} export const checkConfig = () => [{ message: 'no path' }];`,
    });
    expect(message.match(/^<dir>.*$/gm)).toEqual([
      '<dir>/c.yaml:2:27: collectors.a.x: x must be even',
      '<dir>/c.yaml:3:6: collectors.b: the schema of the plugin failed: no',
      '<dir>/c.yaml:4:24: collectors.c.name: the plugin has a field `name`, which is a property of every entry; rename it in the plugin',
      '<dir>/c.yaml:5:6: collectors.d: checkConfig of the plugin failed: oh',
      '<dir>/c.yaml:6:6: collectors.e: checkConfig of the plugin returned something else than a list of problems, each with `message`, a string, and `path`, a list',
    ]);
  });
});

describe('without a host of the program', () => {
  const load = (text: string) => loadConfig([join(folderOf({ 'c.yaml': text }), 'c.yaml')], { env: {} });
  const rest = 'collectors: {}\nforwarders: {}\npipelines: {}\n';

  it('the standalone host is made of host_config', async () => {
    const { host } = await load(`${rest}host_config: {id: box, role: web}\n`);
    expect(host).toMatchObject({ id: 'box', role: 'web' });
  });

  it('its problems have their places', async () => {
    await expect(load(`${rest}host_config: {beacons: {loadavg: {intervall: 2}}}\n`)).rejects.toMatchObject({
      problems: [
        { line: 4, column: 35, path: 'host_config.beacons.loadavg.intervall', suggestion: 'interval' },
      ],
    });
  });
});

describe('keys that begin with an underscore', () => {
  it('are private in models and names elsewhere', async () => {
    const { config } = await load(`_top: 1
collectors: {_c: {plugin: test, _n: 1}, e: {plugin: host_exec, kwargs: {_k: 1}}}
processors:
  d: {plugin: test, delay_range: {minimum: 1, maximum: 2, _n: 1}}
  r: {plugin: regex_mask, rules: {_R: a}, _n: 1}
forwarders: {_f: {plugin: noop, _n: {deep: 1}}}
pipelines: {_p: {collect: _c, forward: _f, _n: 1, delivery: {_n: 1}, buffer: {_n: 1}}}
host_config: {_h: 1}
`);
    expect(JSON.stringify(config)).not.toContain('_n');
    expect(config).not.toHaveProperty('_top');
    expect(config.collectors).toHaveProperty('_c');
    expect(config.collectors).toHaveProperty('e.kwargs._k', 1);
    expect(config.processors).toHaveProperty('r.rules._R', 'a');
    expect(config.processors).toHaveProperty('d.delay_range', { minimum: 1, maximum: 2 });
    expect(config.forwarders).toHaveProperty('_f', { plugin: 'noop' });
    expect(config.pipelines).toHaveProperty('_p.delivery', {});
    expect(config.host_config).toEqual({ _h: 1 });
  });
});
