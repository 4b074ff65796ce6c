import fs from 'node:fs';
import { NEVER, type Observable, timer } from 'rxjs';
import * as file from '../../plugins/collect/file.ts';
import type { CollectedEvent, PluginConfig } from '../../src/models/index.ts';
import { PipelineConfig } from '../../src/models/pipeline-config.ts';
import { runPipeline } from '../../src/pipeline.ts';
import { openState } from '../../src/state/open-state.ts';
import { PipelineCounters } from '../../src/stats.ts';

/*
 * A pipeline from files to a file, to be killed at any time: `program STATE OUTPUT WINDOW PATTERN…`. It says `ready`
 * when the state is open. Lines are written at once, and settled a random while later, as by a remote that answers.
 */
const [stateFolder = '', outputPath = '', window = '', ...paths] = process.argv.slice(2);
const say = (message: string) => void process.stderr.write(`${message}\n`);
const logger = { error: say, warn: say, info: () => {}, debug: () => {} };
const state = await openState(stateFolder, { logger });
say('ready');

const output = fs.openSync(outputPath, 'a');
const write = (events: readonly CollectedEvent[]): Observable<unknown> => {
  fs.writeSync(output, events.map(({ data }) => `${data.line}\n`).join(''));
  return timer(Math.random() * 4);
};
const parent = { collectors: {}, processors: {}, forwarders: {}, pipelines: {}, host_config: {} };
const entry = (name: string, plugin: object, config: object) =>
  ({ plugin: name, name, parent, loaded_plugin: plugin, ...config }) as unknown as PluginConfig;
const forward = {
  forward: ({ event }: { event: CollectedEvent }) => write([event]),
  forwardBatch: ({ events }: { events: readonly CollectedEvent[] }) => write(events),
};
const collectors = { in: entry('file', file, { paths, backfill: true }) };
const forwarders = { out: entry('out', forward, {}) };

runPipeline(
  {
    config: PipelineConfig.parse({ collect: 'in', forward: 'out', max_in_flight: Number(window) }),
    analytics: { ...parent, collectors, forwarders } as never,
    shared: {
      pipeline: 'main',
      logger,
      host: undefined as never,
      info: { version: '', id: '', role: '' },
      once: false,
      random: Math.random,
      shared_cache: {},
    },
    counters: new PipelineCounters(() => {}),
    caches: new Map(),
    state: (collector) => state.of('main', collector),
  },
  NEVER,
).subscribe();
