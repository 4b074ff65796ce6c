import { AsyncResource } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import { defineProcessor } from '../../src/sdk/define-plugin.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import { marbles, testPipeline } from '../../src/testing/index.ts';
import { tempFolder } from '../support/temp-folder.ts';

const inFolder = tempFolder();

const config = (pipeline: object = {}, more: object = {}) => ({
  collectors: {
    web: { plugin: 'file', paths: ['/var/log/web.log'] },
    api: { plugin: 'beacons', beacons: ['*'] },
  },
  processors: {
    secrets: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } },
    slow: { plugin: 'test', delay: 2 },
    jitter: { plugin: 'test', delay_range: { minimum: 0, maximum: 10 } },
    children: { plugin: 'test', delay: 1, child_events_count: 2 },
  },
  forwarders: {
    archive: { plugin: 'disk', path: '/nowhere', filename: 'a.jsonl' },
    live: { plugin: 'stdout' },
    letters: { plugin: 'noop' },
  },
  pipelines: { main: { collect: ['web'], process: ['secrets'], forward: ['archive'], ...pipeline } },
  host_config: {},
  ...more,
});

describe('testPipeline', () => {
  it('writes no audit of what masks have found', async () => {
    const path = inFolder('audit.jsonl');
    const secrets = { plugin: 'redact', rules: { KEY: 'k-[0-9]+' }, audit: { path } };
    const run = await testPipeline(config({}, { processors: { secrets } }), {
      collect: { web: { marbles: 'a|', values: { a: 'user k-123' } } },
    });
    const source = '/var/log/web.log';
    expect(run.forwarded('archive')).toEqual(marbles('a', { a: { line: 'user <:KEY:>', source } }));
    expect(existsSync(path)).toBe(false);
  });

  it('says what every forwarder got, and when', async () => {
    const run = await testPipeline(config({ forward: ['archive', 'live'] }), {
      collect: {
        web: { marbles: 'a-b 5s c|', values: { a: 'one', b: 'user k-123', c: { n: 3, key: 'k-9' } } },
      },
    });
    const source = '/var/log/web.log';
    const expected = {
      a: { line: 'one', source },
      b: { line: 'user <:KEY:>', source },
      c: { n: 3, key: '<:KEY:>' },
    };
    expect(run.forwarded('archive')).toEqual(marbles('a-b 5s c', expected));
    expect(run.forwarded('live')).toEqual(run.forwarded('archive'));
    expect(run.state).toBe('completed');
    expect(run.endedAt).toBe(5004);
  });

  it('leaves nothing behind that slows down the runs after it', async () => {
    // Up to Node 22, each storage of asynchronous context is a symbol of every resource, also of every promise.
    const storages = () => Object.getOwnPropertySymbols(new AsyncResource('test')).length;
    const before = storages();
    await testPipeline(config(), { collect: { web: { marbles: 'a|' } } });
    expect(storages()).toBe(before);
  });

  it('lets processors work in virtual time', async () => {
    const run = await testPipeline(config({ process: ['slow'] }), {
      collect: { web: { marbles: 'a 1h b|' } },
    });
    expect(run.forwarded('archive')).toEqual(marbles('2s a 1h b'));
  });

  it('shows children', async () => {
    const run = await testPipeline(config({ process: ['children'] }), {
      collect: { web: { marbles: 'a|', values: { a: { n: 1 } } } },
    });
    expect(run.forwarded('archive')).toEqual(
      marbles('1s a 1999ms b 999ms c', {
        a: { n: 1 },
        b: { n: 1, 'children-child-count': 1 },
        c: { n: 1, 'children-child-count': 2 },
      }),
    );
  });

  it('repeats random delays for the same seed, and differs for another', async () => {
    const times = async (seed: number) => {
      const collect = { web: { marbles: 'a-b-c|' } };
      const run = await testPipeline(config({ process: ['jitter'] }), { collect, seed });
      return run.forwarded('archive').map(({ at }) => at);
    };
    expect(await times(1)).toEqual(await times(1));
    expect(await times(1)).not.toEqual(await times(2));
  });

  it('shows a collector that fails, the restarts and the end', async () => {
    const run = await testPipeline(config(), { collect: { web: { marbles: ['a#', 'b#', 'c|'] } }, seed: 3 });
    expect(run.forwarded('archive').map(({ data }) => data.value)).toEqual(['a', 'b', 'c']);
    expect(run.states.map(({ state }) => state)).toEqual([
      'idle',
      'running',
      'backing_off',
      'running',
      'backing_off',
      'running',
      'completed',
    ]);
  });

  it('gives up a collector that always fails', async () => {
    const run = await testPipeline(config(), { collect: { web: { marbles: '-#' } } });
    expect(run.state).toBe('failed');
    expect(run.states.filter(({ state }) => state === 'running')).toHaveLength(5);
  });

  it('shows a forwarder that takes its time and the window that it fills', async () => {
    const run = await testPipeline(config({ max_in_flight: 1 }), {
      collect: { web: { marbles: '(abc|)' } },
      forward: { archive: { takes: '3s' } },
    });
    expect(run.forwarded('archive')).toEqual(marbles('3s a 2999ms b 2999ms c'));
    expect(run.left('web')).toEqual(marbles('a 2999ms b 2999ms c'));
  });

  it('shows a forwarder that fails twice', async () => {
    const run = await testPipeline(config(), {
      collect: { web: { marbles: '(ab|)' } },
      forward: { archive: { fails: 2 } },
    });
    expect(run.stats.retries).toBe(2);
    expect(run.forwarded('archive').map(({ data }) => data.value)).toEqual(['a', 'b']);
    const retries = run.trace.rows.flatMap(({ marks }) => marks).filter(({ kind }) => kind === 'retry');
    expect(retries).toMatchObject([{ at: 0, attempt: 1 }, { attempt: 2 }]);
  });

  it('shows what is dropped, and why', async () => {
    const run = await testPipeline(config({ delivery: { attempts: 1 } }), {
      collect: { web: { marbles: 'ab|', values: { a: { at: new Uint8Array(1) } } } },
      forward: { archive: { fails: 'always' } },
    });
    expect(run.dropped).toMatchObject([
      { at: 0, by: 'secrets', reason: 'processor_failed' },
      { at: 1, by: 'archive', reason: 'forwarder_failed', data: { value: 'b' } },
    ]);
  });

  it('shows the dead letter', async () => {
    const run = await testPipeline(config({ delivery: { attempts: 1, dead_letter: 'letters' } }), {
      collect: { web: { marbles: 'a|' } },
      forward: { archive: { fails: 1 } },
    });
    expect(run.forwarded('archive')).toEqual([]);
    expect(run.forwarded('letters')).toMatchObject([
      { at: 0, data: { plugin: 'archive', pipeline: 'main' } },
    ]);
    const letters = run.trace.rows.find(({ place }) => place.kind === 'dead_letter');
    expect(letters?.marks).toMatchObject([{ kind: 'event', letter: 'a' }]);
  });

  it('ends a test of a forwarder that never recovers, after a virtual day', async () => {
    const run = await testPipeline(config(), {
      collect: { web: { marbles: 'a|' } },
      forward: { archive: { fails: 'always' } },
    });
    expect(run.state).toBe('running');
    expect(run.endedAt).toBeUndefined();
    expect(run.stats).toMatchObject({ in_flight: 1, given_up: 0 });
    expect(run.stats.retries).toBeGreaterThan(1000);
    expect(run.log.join()).not.toContain('given up');
  });

  it('goes on for a day after the last of several runs', async () => {
    const run = await testPipeline(config(), { collect: { web: { marbles: ['a 1d #', 'b 2d #', 'c|'] } } });
    expect(run.state).toBe('completed');
    expect(run.forwarded('archive')).toHaveLength(3);
  });

  it('stops the pipeline at `until`', async () => {
    const run = await testPipeline(config(), {
      collect: { web: { marbles: 'a 1s b 1s c-' } },
      until: '1500ms',
    });
    expect(run.forwarded('archive')).toEqual(marbles('a 1s b'));
    expect(run).toMatchObject({ state: 'stopped', endedAt: 1500 });
  });

  it('keeps real collectors and forwarders if told to', async () => {
    const run = await testPipeline(
      config(
        {},
        {
          collectors: { web: { plugin: 'test', interval: 60, count: 3 } },
          forwarders: { archive: { plugin: 'noop' } },
        },
      ),
      { collect: { web: 'keep' }, forward: { archive: 'keep' } },
    );
    expect(run.forwarded('archive')).toEqual(
      marbles('1m a 59999ms b 59999ms c', {
        a: { name: 'web', count: 1 },
        b: { name: 'web', count: 2 },
        c: { name: 'web', count: 3 },
      }),
    );
  });

  it('counts what was masked in an event, whatever becomes of it behind the mask', async () => {
    const processors = {
      mask: { plugin: 'regex_mask', rules: { KEY: 'k-[0-9]+' } },
      fails: { plugin: 'fails' },
    };
    registerPlugin(
      'process',
      'fails',
      defineProcessor({
        process() {
          throw new PluginError('no');
        },
      }),
    );
    try {
      const pipelines = { main: { collect: 'web', process: ['mask', 'fails'], forward: 'archive' } };
      const run = await testPipeline(
        { ...config(), processors, pipelines },
        {
          collect: { web: { marbles: 'a|', values: { a: 'k-1 k-2' } } },
        },
      );
      expect(run.stats).toMatchObject({
        masked: { KEY: 2 },
        dropped: { processor_failed: 1 },
        forwarded: {},
      });
    } finally {
      unregisterPlugin('process', 'fails');
    }
  });

  it('follows an event by its letter through the stages', async () => {
    const run = await testPipeline(config(), {
      collect: { web: { marbles: 'x-y|', values: { x: 'k-1', y: 'two' } } },
    });
    expect(
      run.trace.rows.map(({ marks }) => marks.map((mark) => ('letter' in mark ? mark.letter : mark.kind))),
    ).toEqual([
      ['x', 'y', 'end'],
      ['x', 'y'],
      ['x', 'y'],
    ]);
  });

  it('gives the results of a generator the letter of its event', async () => {
    registerPlugin('process', 'twice', {
      get_config_schema: () => ProcessConfigBase,
      *process({ event }) {
        yield { ...event };
        yield { ...event };
      },
    });
    const run = await testPipeline(
      config({ process: ['doubled'] }, { processors: { doubled: { plugin: 'twice' } } }),
      {
        collect: { web: { marbles: 'x|' } },
      },
    );
    unregisterPlugin('process', 'twice');
    const letters = run.trace.rows.map(({ marks }) =>
      marks.flatMap((mark) => ('letter' in mark ? mark.letter : [])).join(''),
    );
    expect(letters).toEqual(['x', 'xx', 'xx']);
  });

  it.each([
    [{ collect: { weeb: { marbles: 'a' } } }, 'collect: the pipeline main has no weeb; did you mean web?'],
    [{ forward: { live: {} } }, 'forward: the pipeline main has no live; it has archive'],
    [{ pipeline: 'other' }, 'there is no pipeline other: the configuration has main'],
    [{ collect: { web: { marbles: '(a' } } }, "the marbles '(a' cannot be read"],
    [{ collect: { web: { marbles: 'a 5s' } } }, 'a time at the end, where nothing follows it'],
    [{ collect: { web: { marbles: 'a-5s b' } } }, 'a time must be set off by spaces'],
    [{ until: 'soon' }, '`soon` is not a duration; expected a number with a unit'],
  ])('refuses wrong options: %j', async (options, message) => {
    await expect(testPipeline(config(), options as never)).rejects.toThrow(message);
  });

  it('refuses an end in a row of a forwarder', () => {
    expect(() => marbles('a|')).toThrow('have an end, but what a forwarder got has none');
  });
});
