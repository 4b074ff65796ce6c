import fs from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER, throwError, timer } from 'rxjs';
import { z } from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import type { PipelineRunContext } from '../../src/sdk/context.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { type CollectedEvent, collectedEvent } from '../../src/sdk/events.ts';
import { openState } from '../../src/state/open-state.ts';
import { marbles } from '../support/marbles.ts';
import { testManager } from '../support/pipelines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const folder = tempFolder();
afterEach(() => void unregisterPlugin('forward', 'keep'));

describe('a Manager with a state', () => {
  it('keeps the state of each collector, and of nothing else', async () => {
    const state = await openState(folder('state'));
    const seenByOther: unknown[] = [];
    const manager = testManager({
      collect: {
        one: ({ ctx }) => {
          ctx.state.set('seen', 1);
          return [new EventBatch([collectedEvent({ n: 1 })], () => ctx.state.set('acknowledged', true))];
        },
        two: ({ ctx }) => void seenByOther.push(ctx.state.get('seen')),
      },
      process: {
        mid: ({ ctx, event }) => {
          ctx.state.set('seen', 2);
          return [event];
        },
      },
      forward: { out: ({ ctx }) => ctx.state.set('seen', 3) },
      options: { state, once: true },
    });
    manager.start();
    await firstValueFrom(manager.finished$);
    expect(seenByOther).toEqual([undefined]);
    expect(state.entries()).toEqual([
      { pipeline: 'main', collector: 'one', key: 'seen', value: 1 },
      { pipeline: 'main', collector: 'one', key: 'acknowledged', value: true },
    ]);
    await state.close();
  });

  it('gives collectors a state in memory by default, which outlives restarts and not a stop', () => {
    const runs: unknown[] = [];
    const collect = ({ ctx }: { ctx: PipelineRunContext }) => {
      const run = Number(ctx.state.get('runs') ?? 0) + 1;
      ctx.state.set('runs', run);
      runs.push(run);
      return run === 2 ? NEVER : throwError(() => new Error('again'));
    };
    marbles(() => {
      const manager = testManager({
        collect: { one: collect },
        forward: { out: () => undefined },
        pipeline: { restart: true },
      });
      manager.start();
      timer(5000).subscribe(() => {
        expect(runs).toEqual([1, 2]);
        manager.stop();
        manager.start();
        expect(runs).toEqual([1, 2, 1]);
        manager.stop();
      });
    });
    expect(runs).toEqual([1, 2, 1]);
  });

  it('reads files on where an earlier Manager had to leave them, its backfill notwithstanding', async () => {
    fs.writeFileSync(folder('in'), '1\n2\n3\n');
    const run = async () => {
      const lines: unknown[] = [];
      registerPlugin('forward', 'keep', {
        get_config_schema: () => z.looseObject({ plugin: z.string() }),
        forward: ({ event }: { event: CollectedEvent }) => void lines.push(event.data.line),
      });
      const config = await parseConfig({
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
