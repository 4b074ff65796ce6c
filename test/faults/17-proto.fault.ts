import { describe, expect, it } from '@jest/globals';
import { fileToDisk, MASK, Trial } from './support/trial.ts';

const KEY = 'key_00000000-00000000_yek';

/** Fails if the prototype of all objects has been changed. */
const WATCHFUL = `
const ANY = { safeParse: (data) => ({ success: true, data }) };
export const get_config_schema = () => ANY;
export const ODD = JSON.parse(\`{
  "__proto__": { "polluted": "${KEY}" },
  "constructor": { "prototype": { "polluted": "${KEY}" } },
  "toString": "${KEY}",
  "hasOwnProperty": "${KEY}"
}\`);
const check = () => {
  const keys = [];
  for (const key in {}) keys.push(key);
  if (keys.length > 0 || {}.polluted !== undefined || [].polluted !== undefined) throw new Error('polluted');
};
export const process = ({ event }) => (check(), [event]);
export const collect = () => (check(), [{ timestamp: '2026-01-01T00:00:00.000Z', data: ODD }]);
export const odd = () => ODD;
`;

/** The same data, as they come out behind a mask. */
const ODD_MASKED =
  '{"__proto__":{"polluted":"<:KEY:>"},"constructor":{"prototype":{"polluted":"<:KEY:>"}},' +
  '"toString":"<:KEY:>","hasOwnProperty":"<:KEY:>"}';

const FILES = { 'watchful.mjs': WATCHFUL };
const RESERVED = /: the name `__proto__` is reserved by JavaScript; choose another/g;

const dataOf = (trial: Trial, name = 'out/out.jsonl') =>
  trial
    .text(name)
    .trimEnd()
    .split('\n')
    .map((document) => JSON.stringify(JSON.parse(document).data));

describe('`__proto__` in a configuration', () => {
  const GOOD = fileToDisk();
  const name = '__proto__';
  it.each([
    ['a collector', GOOD.replace('log:', `${name}:`).replace('collect: log', `collect: ${name}`)],
    ['a processor', GOOD.replace('  mask:', `  ${name}:`).replace('[mask]', `[${name}]`)],
    ['a forwarder', GOOD.replace('  out:', `  ${name}:`).replace('forward: out', `forward: ${name}`)],
    ['a pipeline', GOOD.replace('  main:', `  ${name}:`)],
    ['a rule', GOOD.replace('{ KEY:', `{ ${name}:`)],
    ['a setting of a collector', GOOD.replace('backfill: true', `${name}: { backfill: true }`)],
    ['a setting of a pipeline', GOOD.replace('collect: log', `collect: log, ${name}: { enabled: false }`)],
    [
      'a setting of deliveries',
      GOOD.replace('collect: log', `collect: log, delivery: { ${name}: { attempts: 1 } }`),
    ],
  ])('as the name of %s is refused at its place, and nothing is started', async (_, config) => {
    expect(config).toContain(name);
    const trial = new Trial(config, { 'in/a.log': `${KEY}\n` });
    for (const result of [await trial.runOnce(), await (await trial.start('validate', 'p.yaml')).ended()]) {
      expect(result.code).toBe(2);
      expect(result.stderr.match(RESERVED)).toHaveLength(1);
      expect(result.stderr).toMatch(/^p\.yaml:\d+:\d+: /);
    }
    expect(trial.text('out/out.jsonl')).toBe('');
  });

  it('as a key of the host and at the top level changes nothing, and names of Object.prototype are names', async () => {
    const config = GOOD.replace('  log:', '  constructor:')
      .replace('collect: log', 'collect: constructor')
      .replace('  mask:', '  toString:')
      .replace('[mask]', '[toString, valueOf]')
      .replace('forwarders:', '  valueOf: { plugin: ./watchful.mjs }\nforwarders:')
      .replace('  out:', '  hasOwnProperty:')
      .replace('forward: out', 'forward: hasOwnProperty')
      .replace('  main:', '  isPrototypeOf:')
      .replace('{ KEY:', '{ constructor:')
      .replace('host_config: {}', `host_config: { ${name}: { polluted: 1 }, constructor: { prototype: 1 } }`);
    const trial = new Trial(`${name}: { polluted: 1 }\n${config}`, { ...FILES, 'in/a.log': `a ${KEY}\n` });
    const { code, stderr } = await trial.runOnce();
    expect({ code, stderr }).toEqual({ code: 0, stderr });
    expect(stderr).toMatch(/^isPrototypeOf {2}completed/m);
    expect(stderr).toMatch(/^ {4}constructor {5}1$/m);
    expect(stderr).toMatch(/^ {4}hasOwnProperty {2}1$/m);
    expect(dataOf(trial)).toEqual(['{"line":"a <:constructor:>","source":"in/a.log"}']);
  });

  it.each(['beacons: [__proto__]', 'fn: __proto__', 'fn: constructor.constructor'])(
    'as the name of a beacon or a function is an unknown one: %s',
    async (setting) => {
      const plugin = setting.startsWith('fn') ? 'host_exec' : 'beacons';
      const config = GOOD.replace(/\{ plugin: file.*\}/, `{ plugin: ${plugin}, ${setting} }`);
      const { code, stderr } = await new Trial(config).runOnce();
      expect(code).toBe(2);
      expect(stderr).toMatch(/(no beacon|unknown host function) `(__proto__|constructor\.constructor)`/);
    },
  );
});

/** A pipeline whose collector is given, by a watchful processor and the mask to a file. */
const withCollector = (collector: string, host = '{}') => `
collectors: { odd: { ${collector} } }
processors:
  watchful: { plugin: ./watchful.mjs }
  ${MASK}
forwarders: { out: { plugin: disk, path: out, filename: out.jsonl } }
pipelines: { main: { collect: odd, process: [watchful, mask], forward: out, restart: false } }
host_config: ${host}
`;

describe('`__proto__` in data', () => {
  it('of an event is a field like any other, and masked', async () => {
    const trial = new Trial(withCollector('plugin: ./watchful.mjs'), FILES);
    expect((await trial.runOnce()).code).toBe(0);
    expect(dataOf(trial)).toEqual([ODD_MASKED]);
  });

  it('of the result of a function is the same', async () => {
    const config = withCollector(
      'plugin: host_exec, fn: mine.odd',
      '{ functions: { mine: ./watchful.mjs } }',
    );
    const trial = new Trial(config, FILES);
    expect((await trial.runOnce()).code).toBe(0);
    expect(dataOf(trial)).toEqual([`{"ret":${ODD_MASKED}}`]);
  });

  it('of lines stays text', async () => {
    const trial = new Trial(withCollector("plugin: file, paths: ['in/*'], backfill: true"), FILES);
    const line = `{"__proto__":{"polluted":"${KEY}"}}`;
    trial.append('in/__proto__', `${line}\n`);
    expect((await trial.runOnce()).code).toBe(0);
    const data = { line: line.replace(KEY, '<:KEY:>'), source: 'in/__proto__' };
    expect(dataOf(trial)).toEqual([JSON.stringify(data)]);
  });

  it('of dead letters is sent again as it is, masked', async () => {
    const trial = new Trial(withCollector('plugin: ./watchful.mjs'), FILES);
    const odd = `{"__proto__":{"polluted":"${KEY}"},"n":1}`;
    const entry = (more: string) => `{"data":{"pipeline":"main","plugin":"out",${more}}}\n`;
    trial.append('letters', entry(`"event":{"data":${odd},"__proto__":{"data":{}}}`));
    trial.append('letters', entry(`"__proto__":{"event":{"data":{}}}`));
    trial.append(
      'letters',
      `{"__proto__":{"data":{"pipeline":"main","plugin":"out","event":{"data":{}}}}}\n`,
    );
    const { code, stderr } = await (
      await trial.start('replay', 'letters', '--pipeline', 'main', 'p.yaml')
    ).ended();
    expect(code).toBe(1);
    expect(stderr).toContain('1 sent, 2 unreadable');
    expect(dataOf(trial)).toEqual(['{"__proto__":{"polluted":"<:KEY:>"},"n":1}']);
  });

  it('of values in tests is refused at its place; names of Object.prototype are names', async () => {
    const tests = `
tests:
  it is masked:
    collect: { odd: [{ constructor: ${KEY}, toString: { valueOf: ${KEY} } }] }
    expect:
      out: [{ constructor: '<:KEY:>', toString: { valueOf: '<:KEY:>' } }]
      contains_no: ${KEY}
`;
    const config = withCollector('plugin: ./watchful.mjs');
    const trial = new Trial(config + tests, FILES);
    const test = async () => (await trial.start('test', 'p.yaml')).ended();
    expect(await test()).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ it is masked') });
    trial.write('p.yaml', config + tests.replaceAll('toString', '__proto__'));
    const { code, stderr } = await test();
    expect(code).toBe(2);
    expect(stderr.match(RESERVED)).toHaveLength(2);
  });
});
