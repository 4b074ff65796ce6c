import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { firstValueFrom, from } from 'rxjs';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import { CollectConfigBase } from '../../src/sdk/config.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { type LineEnvelope, LineEvents } from '../../src/sdk/line-events.ts';
import type { PipelineStats } from '../../src/sdk/status.ts';

interface Job {
  /** An empty folder for what is written. */
  readonly folder: string;
  /** The processors, in their order. */
  readonly processors: Readonly<Record<string, object>>;
  readonly envelope: LineEnvelope;
}

interface Result {
  readonly output: string;
  readonly deadLetters: readonly Record<string, unknown>[];
  readonly stats: PipelineStats | undefined;
  readonly acknowledged: readonly string[];
}

/** Runs batches of lines through processors to a file: as lines, or as events that have been created of them. */
export async function runBatches(
  { folder, processors, envelope }: Job,
  batches: readonly (readonly string[])[],
  how: 'lines' | 'events',
): Promise<Result> {
  const acknowledged: string[] = [];
  const out = mkdtempSync(join(folder, 'out-'));
  const collect = () =>
    from(
      batches.map((lines, i) => {
        const events = LineEvents.of(lines, envelope);
        return new EventBatch(how === 'lines' ? events : events.events, (outcome) =>
          acknowledged.push(`${i} ${outcome}`),
        );
      }),
    );
  registerPlugin('collect', 'batches', { get_config_schema: () => CollectConfigBase, collect });
  try {
    const config = await parseConfig({
      collectors: { in: { plugin: 'batches' } },
      processors,
      forwarders: {
        out: { plugin: 'disk', path: out, filename: 'out.jsonl', fsync: 'never' },
        dead: { plugin: 'disk', path: out, filename: 'dead.jsonl', fsync: 'never' },
      },
      pipelines: {
        main: {
          collect: 'in',
          process: Object.keys(processors),
          forward: 'out',
          restart: false,
          delivery: { dead_letter: 'dead' },
        },
      },
      host_config: {},
    });
    const manager = new Manager(config, { once: true });
    manager.start();
    const [status] = await firstValueFrom(manager.finished$);
    expect(status?.state).toBe('completed');
    return {
      output: read(join(out, 'out.jsonl')),
      deadLetters: read(join(out, 'dead.jsonl'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ ...JSON.parse(line).data, time: 'now' })),
      stats: manager.stats().main,
      acknowledged,
    };
  } finally {
    unregisterPlugin('collect', 'batches');
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
