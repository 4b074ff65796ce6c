import { afterEach, describe, expect, it } from '@jest/globals';
import { problemLine } from '../../src/config/config-error.ts';
import { defineForwarder, defineProcessor, registerPlugin, unregisterPlugin } from '../../src/index.ts';
import type { PipelinePlace, PipelineProblem } from '../../src/sdk/plugin.ts';
import { load, problems } from './helpers.ts';

type Check = (place: PipelinePlace<object>) => readonly PipelineProblem[];

/** Registers a processor and a forwarder, which have this to say of their place. */
function register(checkPipeline: Check, traits = {}): void {
  registerPlugin(
    'process',
    'asked',
    defineProcessor({ traits, checkPipeline, process: ({ event }) => event }),
  );
  registerPlugin('forward', 'asked', defineForwarder({ checkPipeline, forward() {} }));
}
afterEach(() => {
  unregisterPlugin('process', 'asked');
  unregisterPlugin('forward', 'asked');
});

const config = (pipeline: object) => ({
  collectors: { log: { plugin: 'file', paths: ['in.log'] }, ticks: { plugin: 'test' } },
  processors: {
    one: { plugin: 'asked' },
    mask: { plugin: 'regex_mask', rules: { A: 'b' } },
    lines: { plugin: 'multiline', preset: 'cri' },
  },
  forwarders: { out: { plugin: 'noop' }, sink: { plugin: 'asked' } },
  pipelines: { main: { collect: 'log', process: ['one'], forward: 'out', ...pipeline } },
  host_config: {},
});

describe('checkPipeline', () => {
  it('is told what is before and after the entry, and the pipeline', () => {
    const places: PipelinePlace<object>[] = [];
    register((place) => {
      places.push(place);
      return [];
    });
    const pipeline = {
      collect: ['log', 'ticks'],
      process: ['lines', 'one', 'mask'],
      forward: ['out', 'sink'],
    };
    expect(problems(config(pipeline))).toEqual([]);
    const names = (place: PipelinePlace<object> | undefined) => ({
      name: place?.name,
      before: place?.before.map(({ name }) => name),
      after: place?.after.map(({ name }) => name),
    });
    expect(places.map(names)).toEqual([
      { name: 'one', before: ['log', 'ticks', 'lines'], after: ['mask', 'out', 'sink'] },
      { name: 'sink', before: ['log', 'ticks', 'lines', 'one', 'mask'], after: [] },
    ]);
    expect(places[0]?.config).toEqual({ plugin: 'asked' });
    expect(places[0]?.pipeline).toMatchObject({ workers: 1, exactly_once: false, collect: ['log', 'ticks'] });
    expect(places[0]?.before[2]).toMatchObject({
      ...{ kind: 'process', plugin: 'multiline', config: { preset: 'cri' }, traits: {} },
    });
    expect(places[0]?.after[0]?.traits).toMatchObject({ masks: 'strings', pure: true });
  });

  it('is called for each place of an entry that is applied twice', () => {
    register(({ before }) => [{ message: `after ${before.length}` }]);
    expect(problems(config({ process: ['one', 'mask', 'one'] }))).toEqual([
      'pipelines.main.process[0]: after 1',
      'pipelines.main.process[2]: after 3',
    ]);
  });

  it('names the entry that it is about, also one of a route', () => {
    register(({ after, before }) => [...before, ...after].map((at) => ({ at, message: at.name })));
    expect(problems(config({ forward: ['out', { to: 'out', when: 'true' }].slice(1) }))).toEqual([
      'pipelines.main.collect: log',
      'pipelines.main.forward[0].to: out',
    ]);
  });

  it('says instead of the general check why a processor cannot run in a worker', () => {
    register(({ pipeline }) => (pipeline.workers > 1 ? [{ message: 'not in workers: turn `x` off' }] : []), {
      pure: true,
      needsOrder: true,
    });
    expect(problems(config({ workers: 2 }))).toEqual([
      'pipelines.main.process[0]: not in workers: turn `x` off',
    ]);
    unregisterPlugin('process', 'asked');
    registerPlugin(
      'process',
      'asked',
      defineProcessor({ traits: { pure: true, needsOrder: true }, process: ({ event }) => event }),
    );
    expect(problems(config({ workers: 2 }))).toEqual([
      expect.stringMatching(
        /^pipelines\.main\.process\[0\]: `one`, .* it needs all lines of a file in their order/,
      ),
    ]);
  });

  it('that fails is an error at the entry', () => {
    register(() => {
      throw new TypeError('no such thing');
    });
    expect(problems(config({}))).toEqual([
      'pipelines.main.process[0]: checkPipeline of its plugin failed: no such thing',
    ]);
  });

  it('warns of enabled pipelines, and not where an entry is wrong in itself', async () => {
    register(() => [{ severity: 'warning', message: 'is warned' }]);
    const warned = async (pipeline: object) => {
      const { warnings } = await load(JSON.stringify(config(pipeline)));
      return warnings.map((warning) => problemLine(warning)).filter((line) => line.includes('is warned'))
        .length;
    };
    expect(await warned({})).toBe(1);
    expect(await warned({ enabled: false })).toBe(0);
    const wrong = config({ process: ['one', 'mask'] });
    const { mask: _, ...processors } = wrong.processors;
    expect(problems({ ...wrong, processors: { ...processors, mask: { plugin: 'regex_mask' } } })).toEqual([
      expect.stringContaining('processors.mask'),
    ]);
  });
});
