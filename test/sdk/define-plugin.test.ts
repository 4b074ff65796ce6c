import { afterEach, describe, expect, it } from '@jest/globals';
import { of } from 'rxjs';
import { z } from 'zod';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import {
  CollectConfigBase,
  collectedEvent,
  ForwardConfigBase,
  PluginError,
  ProcessConfigBase,
} from '../../src/index.ts';
import { defineCollector, defineForwarder, defineProcessor } from '../../src/sdk/define-plugin.ts';
import { checkPlugin, testPipeline } from '../../src/testing/index.ts';

describe('a defined plugin', () => {
  afterEach(() => {
    unregisterPlugin('process', 'label');
  });

  it('is one that a pipeline runs, with the configuration that its schema gives', async () => {
    registerPlugin(
      'process',
      'label',
      defineProcessor({
        schema: ProcessConfigBase.extend({ label: z.string().default('none') }),
        process: ({ ctx, event }) => ({ ...event, data: { ...event.data, label: ctx.config.label } }),
      }),
    );
    const run = await testPipeline(
      {
        collectors: { ticks: { plugin: 'test' } },
        processors: { label: { plugin: 'label' } },
        forwarders: { out: { plugin: 'noop' } },
        pipelines: { main: { collect: 'ticks', process: 'label', forward: 'out' } },
        host_config: {},
      },
      { collect: { ticks: { marbles: 'a|', values: { a: { n: 1 } } } } },
    );
    expect(run.forwarded('out')).toMatchObject([{ data: { n: 1, label: 'none' } }]);
  });

  it('passes the conformance kit, of each kind', async () => {
    const collector = defineCollector({
      traits: { usesState: false },
      collect: () => of(collectedEvent({ n: 1 })),
    });
    const processor = defineProcessor({ process: ({ event }) => event });
    const forwarder = defineForwarder({ forward() {} });
    await expect(checkPlugin('collect', collector)).resolves.toBeDefined();
    await expect(checkPlugin('process', processor)).resolves.toBeDefined();
    await expect(checkPlugin('forward', forwarder)).resolves.toBeDefined();
  });

  it('has the base of its kind as its schema, unless it brings one', () => {
    expect(defineCollector({ collect() {} }).get_config_schema()).toBe(CollectConfigBase);
    expect(defineProcessor({ process() {} }).get_config_schema()).toBe(ProcessConfigBase);
    expect(defineForwarder({ forward() {} }).get_config_schema()).toBe(ForwardConfigBase);
    const schema = ForwardConfigBase.extend({ url: z.url() });
    expect(defineForwarder({ schema, forward() {} }).get_config_schema()).toBe(schema);
  });

  it('keeps all that a plugin may have', () => {
    const parts = {
      traits: { masks: true },
      description: 'Masks.',
      example: 'mask: { plugin: mask }',
      checkConfig: () => [],
    };
    expect(
      defineProcessor({
        ...parts,
        process() {
          throw new PluginError('no');
        },
      }),
    ).toMatchObject(parts);
    expect(defineForwarder({ forward() {}, forwardBatch() {} })).toHaveProperty('forwardBatch');
  });

  it.each([
    ['defineCollector', () => defineCollector({} as never), 'it lacks the function collect'],
    ['defineProcessor', () => defineProcessor(undefined as never), 'it lacks the function process'],
    [
      'defineForwarder',
      () => defineForwarder({ collect() {} } as never),
      'it is a collect plugin; expected a forward plugin',
    ],
    [
      'defineForwarder',
      () => defineForwarder({ schema: { url: 'string' }, forward() {} } as never),
      'its schema has no safeParse(); give a zod schema, or an object that has one',
    ],
  ])('%s says what is missing', (name, call, message) => {
    expect(call).toThrow(
      expect.objectContaining({ code: 'MILLRACE_PLUGIN_CONTRACT', message: `${name}: ${message}` }),
    );
  });
});
