import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER } from 'rxjs';
import { z } from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import {
  type CollectedEvent,
  collectedEvent,
  EventBatch,
  type PipelineRunContext,
} from '../../src/sdk/models.ts';
import { openState } from '../../src/state/open-state.ts';
import { testManager } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
afterEach(() => void unregisterPlugin('forward', 'keep'));

describe('a Manager with a state', () => {
  it('hands each collector its own, and only collectors', async () => {
    const state = await openState(folder('state'));
    const contexts: PipelineRunContext[] = [];
    const manager = testManager({
      collect: {
        one: ({ ctx }) => {
          contexts.push(ctx);
          ctx.state?.set('seen', 1);
          return [new EventBatch([collectedEvent({ n: 1 })], () => ctx.state?.set('acknowledged', true))];
        },
        two: ({ ctx }) => void contexts.push(ctx),
      },
      process: { mid: ({ ctx, event }) => [contexts.push(ctx) && event] },
      forward: { out: ({ ctx }) => void contexts.push(ctx) },
      options: { state, once: true },
    });
    manager.start();
    await firstValueFrom(manager.finished$);
    expect(contexts.map((ctx) => ctx.state !== undefined)).toEqual([true, false, false, true]);
    expect(state.entries()).toEqual([
      { pipeline: 'main', collector: 'one', key: 'seen', value: 1 },
      { pipeline: 'main', collector: 'one', key: 'acknowledged', value: true },
    ]);
    await state.close();
  });

  it('has none by default', async () => {
    const contexts: PipelineRunContext[] = [];
    const manager = testManager({
      collect: { one: ({ ctx }) => void contexts.push(ctx) },
      forward: { out: () => NEVER },
      options: { once: true },
    });
    manager.start();
    await firstValueFrom(manager.finished$);
    expect(contexts.map(({ state }) => state)).toEqual([undefined]);
  });

  it('reads files on where an earlier Manager had to leave them, its backfill notwithstanding', async () => {
    fs.writeFileSync(folder('in'), '1\n2\n3\n');
    const run = async () => {
      const lines: unknown[] = [];
      registerPlugin('forward', 'keep', {
        get_config_schema: () => z.looseObject({ plugin: z.string() }),
        forward: ({ event }: { event: CollectedEvent }) => void lines.push(event.data.line),
      });
      const config = parseConfig({
        collectors: { in: { plugin: 'file', paths: [folder('in')], backfill: true } },
        forwarders: { out: { plugin: 'keep' } },
        pipelines: { main: { collect: 'in', forward: 'out', restart: false } },
        host_config: {},
      });
      const state = await openState(folder('state'));
      const manager = new Manager(config, { state, once: true });
      manager.start();
      await firstValueFrom(manager.finished$);
      await state.close();
      unregisterPlugin('forward', 'keep');
      return lines;
    };
    expect(await run()).toEqual(['1', '2', '3']);
    fs.appendFileSync(folder('in'), '4\n5\n');
    expect(await run()).toEqual(['4', '5']);
    expect(await run()).toEqual([]);
  });
});
