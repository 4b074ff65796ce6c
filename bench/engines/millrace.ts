import { firstValueFrom, Observable } from 'rxjs';
import {
  CollectConfigBase,
  type CollectPlugin,
  EventBatch,
  Manager,
  type PipelineRunContext,
  ProcessConfigBase,
  type ProcessPlugin,
  parseConfig,
  registerPlugin,
} from '../../src/index.ts';
import { type Engine, syntheticBatch } from './engine.ts';

/** A pipeline in this process: deliveries are on, as they always are, and the window is the default one. */
export const millrace: Engine = async (count) => {
  registerPlugin('collect', 'synthetic', synthetic(count));
  registerPlugin('process', 'pass', pass);
  const config = await parseConfig({
    collectors: { source: { plugin: 'synthetic' } },
    processors: { first: { plugin: 'pass' }, second: { plugin: 'pass' } },
    forwarders: { nowhere: { plugin: 'noop' } },
    pipelines: {
      main: { collect: 'source', process: ['first', 'second'], forward: 'nowhere', restart: false },
    },
    host_config: {},
  });
  const manager = new Manager(config, { once: true });
  manager.start();
  await firstValueFrom(manager.finished$);
  return manager.stats().main?.forwarded.nowhere ?? 0;
};

const pass: ProcessPlugin = { get_config_schema: () => ProcessConfigBase, process: ({ event }) => event };

/** Emits as many events as there is room for, in batches, until there were `count`. */
function synthetic(count: number): CollectPlugin {
  const collect = ({ ctx: { demand } }: { ctx: PipelineRunContext<never> }) =>
    new Observable<EventBatch>((subscriber) => {
      let made = 0;
      const room = demand.room$.subscribe(() => {
        while (made < count && demand.room > 0) {
          const events = syntheticBatch(made, Math.min(made + demand.room, count));
          made += events.length;
          subscriber.next(new EventBatch(events));
        }
        if (made === count) subscriber.complete();
      });
      return room;
    });
  return { get_config_schema: () => CollectConfigBase, collect };
}
