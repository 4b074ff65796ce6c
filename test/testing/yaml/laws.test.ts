import { describe, expect, it } from '@jest/globals';
import { load, run, runOne } from './helpers.ts';

/** A processor of its own, as a module that a test writes. */
const plugin = (process: string) => `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const process = ({ ctx, event }) => ${process};
`;

const config = (processors: string, pipeline = '') => `collectors:
  log: { plugin: file, paths: [/nowhere/web.log] }
processors:
  ${processors}
forwarders:
  archive: { plugin: disk, path: /nowhere }
  letters: { plugin: noop }
pipelines:
  web: { collect: log, process: [PROCESS], forward: archive, ${pipeline} }
host_config: {}
`;

/** What a test finds with a law, in the messages alone; `process` names the processors. */
async function found(
  law: string,
  {
    processors = 'broken: { plugin: ./broken.mjs }',
    process = processors.split(':')[0] as string,
    broken = '[event]',
    pipeline = 'restart: true',
    collect = "log: { marbles: 'a 1s b 1s c|', values: { a: one, b: two, c: three } }",
    forward = '{}',
  },
): Promise<string[]> {
  const test = `tests:\n  t: { collect: { ${collect} }, forward: ${forward}, expect: { laws: [${law}] } }\n`;
  const [result] = await run(
    await load({
      'c.yaml': config(processors, pipeline).replace('PROCESS', process) + test,
      'broken.mjs': plugin(broken),
    }),
  );
  return (result?.findings ?? []).map(({ path, message, details }) =>
    [`${path}: ${message}`, ...(details === undefined || details === '' ? [] : [details])].join('\n'),
  );
}

const LAWS = 'nothing_lost, nothing_twice, order, bounded_in_flight';

describe('laws', () => {
  it('hold for a pipeline that does what it should, also when forwarders fail and it restarts', async () => {
    expect(await found(LAWS, {})).toEqual([]);
    const { findings } = await runOne(
      `collect: { log: { marbles: ['a 1s b#', 'c|'], values: { a: one, b: 'key k-1', c: three } } },
       forward: { archive: { takes: 1s, fails: 1 } }, expect: { laws: [${LAWS}, no_secret_out], state: completed }`,
    );
    expect(findings).toEqual([]);
  });

  describe('nothing_lost', () => {
    it('finds a processor that swallows events', async () => {
      expect(await found('nothing_lost', { broken: "event.data.line === 'two' ? [] : [event]" })).toEqual([
        'expect.laws[0]: no event is lost: 1 event was lost; if broken may drop events on purpose, its plugin has to declare the trait `filters: true`\n  1.001s  by broken, filtered: {"line":"two","source":"/nowhere/web.log"}',
      ]);
    });

    it('finds one that fails, unless there is a dead letter', async () => {
      const broken = "{ if (event.data.line === 'two') throw new Error('no'); return [event]; }";
      const [first] = await found('nothing_lost', { broken });
      expect(first).toContain('by broken, processor_failed: {"line":"two","source":"/nowhere/web.log"}');
      const pipeline = 'delivery: { dead_letter: letters }';
      expect(await found('nothing_lost', { broken, pipeline })).toEqual([]);
    });

    it('finds events that a forwarder gives up, and those that are not delivered when the test ends', async () => {
      const [given] = await found('nothing_lost', {
        pipeline: 'delivery: { attempts: 1 }',
        forward: '{ archive: { fails: 1 } }',
      });
      expect(given).toContain('by archive, forwarder_failed: {"line":"one","source":"/nowhere/web.log"}');
      const [open] = await found('nothing_lost', { forward: '{ archive: { fails: always } }' });
      expect(open).toBe(
        'expect.laws[0]: no event is lost: 3 events had not been delivered when the test gave up',
      );
    });

    it('does not count what a filter drops, and what no route is for', async () => {
      const processors = 'errors: { plugin: filter, keep: \'data.line == "one"\' }';
      expect(await found('nothing_lost', { processors })).toEqual([]);
    });
  });

  describe('nothing_twice', () => {
    it('finds a processor that copies events', async () => {
      expect(await found('nothing_twice', { broken: '[event, { ...event }]' })).toEqual([
        `expect.laws[0]: no forwarder delivers an event twice: archive delivered 3 events again
  0 and 0  {"line":"one","source":"/nowhere/web.log"}
  1.001s and 1.001s  {"line":"two","source":"/nowhere/web.log"}
  2.002s and 2.002s  {"line":"three","source":"/nowhere/web.log"}`,
      ]);
    });

    it('lets a processor make several events of one, and a collector emit the same line again', async () => {
      const broken = '[event, { ...event, data: { part: 2 } }]';
      expect(await found('nothing_twice', { broken, collect: 'log: [one, one]' })).toEqual([]);
    });
  });

  describe('order', () => {
    const held = `{
      const held = (ctx.cache.held ??= []);
      if (event.data.line === 'one') { held.push(event); return []; }
      return [event, ...held.splice(0)];
    }`;

    it('finds a processor that holds events back', async () => {
      const [first] = await found('order', { broken: held });
      expect(first).toBe(
        `expect.laws[0]: forwarders deliver the events of a collector in their order: archive delivered 1 event behind later ones
  1.001s  {"line":"one","source":"/nowhere/web.log"} behind {"line":"two","source":"/nowhere/web.log"}`,
      );
    });

    it('finds a pipeline without `ordered` whose processor takes longer for some', async () => {
      const processors = 'wait: { plugin: test, delay_range: { minimum: 0, maximum: 60 } }';
      const collect = 'log: [a, b, c, d, e, f]';
      const [first] = await found('order', { processors, collect, pipeline: 'ordered: false' });
      expect(first).toContain('behind later ones');
      expect(await found('order', { processors, collect })).toEqual([]);
    });
  });

  describe('no_secret_out', () => {
    const mask = "secrets: { plugin: regex_mask, rules: { KEY: 'k-[0-9]+' } }";
    const collect = "log: ['key k-1', two]";

    it('finds a processor behind the mask that makes a secret of what was none', async () => {
      const processors = `${mask}\n  broken: { plugin: ./broken.mjs }`;
      const broken = '[{ ...event, data: { line: `${event.data.line} k-${2}` } }]';
      const found1 = await found('no_secret_out', {
        processors,
        process: 'secrets, broken',
        broken,
        collect,
      });
      expect(found1).toEqual([
        `expect.laws[0]: no rule of a mask matches in any output: rules match in 2 events that archive got; masked once more:
  0  archive  {"line":"key <:KEY:> k-2"} → {"line":"key <:KEY:> <:KEY:>"}
  0  archive  {"line":"two k-2"} → {"line":"two <:KEY:>"}`,
      ]);
      const before = { processors, process: 'broken, secrets', broken, collect };
      expect(await found('no_secret_out', before)).toEqual([]);
    });

    it('finds a forwarder that got a secret and did not deliver it', async () => {
      const processors = `${mask}\n  broken: { plugin: ./broken.mjs }`;
      const broken = "[{ ...event, data: { line: 'k-1' } }]";
      const [first] = await found('no_secret_out', {
        ...{ processors, process: 'secrets, broken', broken, collect },
        ...{
          forward: '{ archive: { fails: always, permanent: true } }',
          pipeline: 'delivery: { attempts: 1 }',
        },
      });
      expect(first).toContain('rules match in 2 events that archive got');
    });

    it('does not pass without masks', async () => {
      const [first] = await found('no_secret_out', {});
      expect(first).toContain('the pipeline web has no processor that masks');
    });
  });

  describe('bounded_in_flight', () => {
    it('finds a processor that makes more events than may be in flight', async () => {
      const broken = 'Array.from({ length: 5 }, (_, n) => ({ ...event, data: { n } }))';
      const pipeline = 'max_in_flight: 4';
      const [first] = await found('bounded_in_flight', { broken, pipeline });
      expect(first).toContain(
        'at most `max_in_flight` events are in flight: more than 4 were in flight\n  0  5 events that processors made of fewer',
      );
      expect(await found('bounded_in_flight', { broken, pipeline: 'max_in_flight: 5' })).toEqual([]);
    });

    it('holds while a slow forwarder fills the window', async () => {
      const collect = `log: [${Array.from({ length: 50 }, (_, n) => n).join(', ')}]`;
      const forward = '{ archive: { takes: 1s } }';
      expect(await found('bounded_in_flight', { pipeline: 'max_in_flight: 2', collect, forward })).toEqual(
        [],
      );
    });
  });

  it('refuses a law that there is not', async () => {
    await expect(runOne('collect: { log: [x] }, expect: { laws: [nothing_lots] }')).rejects.toThrow(
      'did you mean `nothing_lost`?',
    );
  });
});
