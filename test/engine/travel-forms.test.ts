import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import { ForwardConfigBase, ProcessConfigBase } from '../../src/sdk/config.ts';
import type { CollectedEvent } from '../../src/sdk/events.ts';
import { mapFields } from '../../src/sdk/map-fields.ts';
import type { Rows } from '../../src/sdk/rows.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();
const plain = {
  get_config_schema: () => ProcessConfigBase,
  process: ({ event }: { event: CollectedEvent }) => event,
};
registerPlugin('process', 'travel-events', plain);
registerPlugin('process', 'travel-lines', { ...plain, mapLines: () => ({ map: (line: string) => line }) });
registerPlugin('process', 'travel-declines', { ...plain, mapLines: () => undefined });
registerPlugin('process', 'travel-rows', {
  ...plain,
  mapRows: ({ rows }: { rows: Rows }) => mapFields(rows, (data) => data),
});
registerPlugin('forward', 'travel-single', { get_config_schema: () => ForwardConfigBase, forward: () => {} });
registerPlugin('forward', 'travel-batch', {
  get_config_schema: () => ForwardConfigBase,
  forward: () => {},
  forwardBatch: () => {},
});

const PARSE = { plugin: 'parse', format: 'json' };

/** What a run of two lines logs of the ways of its events. */
async function ways(processors: readonly object[], forwarder: string): Promise<string[]> {
  const path = temp('in.log');
  writeFileSync(path, '{"n":1}\n{"n":2}\n');
  const names = processors.map((_, index) => `p${index}`);
  const config = await parseConfig({
    collectors: { in: { plugin: 'file', paths: [path], backfill: true } },
    processors: Object.fromEntries(processors.map((entry, index) => [`p${index}`, entry])),
    forwarders: {
      out: { plugin: forwarder, ...(forwarder === 'disk' && { path: temp('out'), filename: 'a' }) },
    },
    pipelines: { main: { collect: 'in', process: names, forward: 'out' } },
    host_config: {},
  });
  const logged: string[] = [];
  const debug = (message: string) => void logged.push(message);
  const none = () => {};
  const manager = new Manager(config, { once: true, logger: { error: none, warn: none, info: none, debug } });
  manager.start();
  await firstValueFrom(manager.finished$);
  return logged.flatMap((line) => /^main: (?:processor|forwarder) (.* takes .*)/.exec(line)?.[1] ?? []);
}

describe('the debug log says how events come to each plugin', () => {
  it.each<[string, readonly object[], string, readonly RegExp[]]>([
    [
      'lines, and bytes at the end',
      [{ plugin: 'travel-lines' }],
      'disk',
      [/^p0 takes lines, by mapLines: no events/, /^out takes bytes, by forwardJsonLines: no events/],
    ],
    [
      'rows after parse',
      [PARSE, { plugin: 'travel-rows' }],
      'disk',
      [/^p0 takes rows, by mapRows/, /^p1 takes rows, by mapRows/, /^out takes bytes/],
    ],
    [
      'events from the plugin that ends the fast path on',
      [{ plugin: 'travel-events' }, { plugin: 'travel-lines' }],
      'travel-batch',
      [
        /^p0 takes events one by one, because it has no mapLines$/,
        /^p1 takes events one by one, because they come as events$/,
        /^out takes batches of events, by forwardBatch$/,
      ],
    ],
    [
      'a form that declines',
      [{ plugin: 'travel-declines' }],
      'travel-single',
      [
        /^p0 takes events one by one, because its mapLines declines these lines$/,
        /^out takes events one by one$/,
      ],
    ],
    [
      'rows that a form for lines does not take',
      [PARSE, { plugin: 'travel-lines' }],
      'travel-batch',
      [/^p0 takes rows/, /^p1 takes events one by one, because it has no mapRows$/, /^out takes batches/],
    ],
  ])('%s', async (_, processors, forwarder, told) => {
    expect(await ways(processors, forwarder)).toEqual(told.map((line) => expect.stringMatching(line)));
  });
});
