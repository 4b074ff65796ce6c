import { it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { EMPTY, of } from 'rxjs';
import { z } from 'zod';
import {
  batching,
  CollectConfigBase,
  type CollectedEvent,
  type CollectPlugin,
  collectedEvent,
  defineCollector,
  defineForwarder,
  defineProcessor,
  ForwardConfigBase,
  type ForwardPlugin,
  ProcessConfigBase,
  type ProcessPlugin,
  registerPlugin,
} from '../../src/index.ts';

// tsc checks these; jest runs them, so that a file that is not compiled is noticed.

it('a collector knows its configuration', () => {
  const plugin = defineCollector({
    schema: CollectConfigBase.extend({ interval: z.number().default(5) }),
    checkConfig({ config }) {
      expectTypeOf(config.interval).toEqualTypeOf<number>();
      return [];
    },
    collect({ ctx }) {
      expectTypeOf(ctx.config.interval).toEqualTypeOf<number>();
      expectTypeOf(ctx.config.name).toEqualTypeOf<string>();
      // @ts-expect-error no such field
      ctx.config.intervall;
      // @ts-expect-error configurations are not written to
      ctx.config.interval = 1;
      return of(collectedEvent({}));
    },
  });
  expectTypeOf(plugin).toEqualTypeOf<CollectPlugin>();
});

it('a processor knows its configuration and its event', () => {
  const plugin = defineProcessor({
    schema: ProcessConfigBase.extend({ label: z.string().transform((text) => [text]) }),
    process({ ctx, event }) {
      expectTypeOf(ctx.config.label).toEqualTypeOf<string[]>();
      expectTypeOf(event).toEqualTypeOf<CollectedEvent>();
      return event;
    },
  });
  expectTypeOf(plugin).toEqualTypeOf<ProcessPlugin>();
});

it('a forwarder knows its configuration, also for batches', () => {
  const plugin = defineForwarder({
    schema: ForwardConfigBase.extend({ url: z.url() }),
    forward: ({ ctx }) => void expectTypeOf(ctx.config.url).toEqualTypeOf<string>(),
    forwardBatch: ({ ctx, events }) => {
      expectTypeOf(ctx.config.url).toEqualTypeOf<string>();
      expectTypeOf(events).toEqualTypeOf<readonly CollectedEvent[]>();
    },
  });
  expectTypeOf(plugin).toEqualTypeOf<ForwardPlugin>();
});

it('batching gives a forwarder its limits', () => {
  defineForwarder({
    schema: ForwardConfigBase.extend({ url: z.url(), ...batching({ events: 100 }) }),
    forward: ({ ctx }) => void expectTypeOf(ctx.config.concurrency).toEqualTypeOf<number>(),
    forwardBatch: ({ ctx }) => void expectTypeOf(ctx.config.batch.bytes).toEqualTypeOf<number | undefined>(),
  });
});

it('a definition may have every optional member of its kind', () => {
  const shared = { description: 'd', example: 'e', shownSettings: { path: '' } };
  const schema = ForwardConfigBase.extend({ path: z.string() });
  defineCollector({
    ...shared,
    schema,
    collect: () => undefined,
    traits: {
      usesState: false,
      resumes: true,
      emitsLines: true,
      reads: ({ config, file }) => config.path === file.id,
    },
    testing: {
      eventsOfText: ({ config, text }) => [collectedEvent({ text, path: config.path })],
      batchDemand: ({ ctx }) => {
        expectTypeOf(ctx.config.path).toEqualTypeOf<string>();
        return { ...ctx.demand, emitted() {}, acknowledged() {} };
      },
      redelivery: ({ config }) => ({ afterFailure: () => config.path.length, afterSilence: 1 }),
    },
  });
  defineProcessor({
    ...shared,
    schema,
    process: ({ event }) => event,
    traits: {
      masks: 'strings',
      filters: true,
      pure: true,
      needsOrder: ({ config }) => config.path === '',
    },
    mapLines: ({ ctx, envelope }) => ({ map: (line) => ctx.config.path + envelope.source + line }),
  });
  defineForwarder({
    ...shared,
    schema,
    forward: () => undefined,
    traits: { writesStdout: true, writes: ({ config }) => config.path },
    checkPipeline: ({ config, before }) => (before[0]?.name === config.path ? [{ message: 'no' }] : []),
    forwardJsonLines:
      ({ ctx }) =>
      (documents) =>
        void [ctx.config.path, documents.length],
    exactly: ({ ctx, begun }) => {
      expectTypeOf(ctx.config.path).toEqualTypeOf<string>();
      expectTypeOf(begun).toBeFunction();
      return { restore: () => EMPTY, write: () => of([]), sync: () => EMPTY };
    },
  });
});

it('without a schema there is the base alone', () => {
  defineForwarder({
    forward({ ctx }) {
      expectTypeOf(ctx.config.plugin).toEqualTypeOf<string>();
      // @ts-expect-error no such field
      ctx.config.url;
    },
  });
});

it('takes what fits its kind only', () => {
  // @ts-expect-error a processor needs `process`
  () => defineProcessor({ forward() {} });
  // @ts-expect-error what a processor gives are events
  defineProcessor({ process: () => 7 });
  const forwarder = defineForwarder({ forward() {} });
  // @ts-expect-error a forwarder is no collector
  () => registerPlugin('collect', 'a', forwarder);
});
