import { join } from 'node:path';
import { lastValueFrom, Subject } from 'rxjs';
import { z } from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { CollectedEvent, PipelineConfig } from '../../src/models/index.ts';
import { runPipeline } from '../../src/pipeline.ts';
import { registerPlugin } from '../../src/registry.ts';
import { openState } from '../../src/state/open-state.ts';
import { PipelineCounters } from '../../src/stats.ts';

/*
 * Files to a file, exactly once, to be killed at any time: `program FOLDER once|follow`. Reads `in*.log*`, writes
 * `out/events.jsonl`. Events take a random while, some give two and some none. SIGTERM stops it in good order.
 */
const [folder = '', mode = ''] = process.argv.slice(2);
const say = (message: string) => void process.stderr.write(`${message}\n`);
const logger = { error: say, warn: say, info: () => {}, debug: () => {} };

registerPlugin('process', 'multiply', {
  get_config_schema: () => z.strictObject({ plugin: z.string() }),
  process: ({ event }: { event: CollectedEvent }) => {
    const number = Number(/^line (\d+)/.exec(String(event.data.line))?.[1]);
    if (number % 7 === 0) return [];
    return number % 11 === 0 ? [event, { ...event, data: { ...event.data, again: true } }] : [event];
  },
});
const config = parseConfig({
  collectors: {
    one: { plugin: 'file', paths: [join(folder, 'in1.log*')], backfill: true },
    two: { plugin: 'file', paths: [join(folder, 'in2.log*')], backfill: true },
  },
  processors: {
    multiply: { plugin: 'multiply' },
    mask: { plugin: 'regex_mask', rules: { token: 'tok_\\w+' } },
    slow: { plugin: 'test', delay_range: { minimum: 0.0001, maximum: 0.004 } },
  },
  forwarders: { out: { plugin: 'disk', path: join(folder, 'out'), filename: 'events.jsonl' } },
  pipelines: {
    main: {
      collect: ['one', 'two'],
      process: ['multiply', 'mask', 'slow'],
      forward: 'out',
      exactly_once: true,
    },
  },
  host_config: {},
});

const state = await openState(join(folder, 'state'), { logger });
const stop$ = new Subject<void>();
process.on('SIGTERM', () => stop$.next());
const run$ = runPipeline(
  {
    config: config.pipelines.main as PipelineConfig,
    analytics: config,
    shared: {
      pipeline: 'main',
      logger,
      host: undefined as never,
      info: { version: '', id: '', role: '' },
      once: mode === 'once',
      random: Math.random,
      shared_cache: {},
    },
    counters: new PipelineCounters(() => {}),
    caches: new Map(),
    state: (collector) => state.of('main', collector),
  },
  stop$,
);
say('ready');
await lastValueFrom(run$, { defaultValue: undefined });
say('ended');
await state.close();
