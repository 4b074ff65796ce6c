import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstValueFrom, from } from 'rxjs';
import { parseConfig } from '../../src/config/parse-config.ts';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { Manager } from '../../src/engine/manager.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import { EventBatch } from '../../src/sdk/event-batch.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import type { ProcessPlugin } from '../../src/sdk/plugin.ts';
import type { PipelineStats } from '../../src/sdk/status.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-lines-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Fails on lines with a `!`, and drops those with a `?`, whichever way they come. */
const picky: ProcessPlugin = {
  get_config_schema: () => ProcessConfigBase,
  process: ({ event }) => {
    const { line } = event.data as { line: string };
    const mapped = refuseOrDrop(line);
    return mapped === undefined ? [] : { ...event, data: { ...event.data, line: mapped } };
  },
  mapLines: () => ({ map: refuseOrDrop }),
};

function refuseOrDrop(line: string): string | undefined {
  if (line.includes('!')) throw new Error('no');
  return line.includes('?') ? undefined : line.toUpperCase();
}

interface Result {
  readonly output: string;
  readonly deadLetters: readonly unknown[];
  readonly stats: PipelineStats | undefined;
  readonly acknowledged: readonly string[];
}

/** Runs batches of lines through masks to a file, as lines or as the same events. */
async function run(batches: readonly (readonly string[])[], how: 'lines' | 'events'): Promise<Result> {
  const acknowledged: string[] = [];
  const out = mkdtempSync(join(folder, 'out-'));
  const collect = () =>
    from(
      batches.map((lines, i) => {
        const events = LineEvents.of(lines, ENVELOPE);
        return new EventBatch(how === 'lines' ? events : events.events, (outcome) =>
          acknowledged.push(`${i} ${outcome}`),
        );
      }),
    );
  const plugins = [
    ['collect', 'batches', { get_config_schema: () => ProcessConfigBase, collect }],
    ['process', 'picky', picky],
  ] as const;
  for (const [kind, name, plugin] of plugins) registerPlugin(kind, name, plugin as never);
  try {
    const config = await parseConfig({
      collectors: { in: { plugin: 'batches' } },
      processors: {
        mask: { plugin: 'regex_mask', rules: { KEY: 'k[0-9]+', QUOTE: '"' }, mask_suffix: '\n' },
        picky: { plugin: 'picky' },
        late: { plugin: 'entropy_mask' },
      },
      forwarders: {
        out: { plugin: 'disk', path: out, filename: 'out.jsonl', fsync: 'never' },
        dead: { plugin: 'disk', path: out, filename: 'dead.jsonl', fsync: 'never' },
      },
      pipelines: {
        main: {
          collect: 'in',
          process: ['mask', 'picky', 'late'],
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
    for (const [kind, name] of plugins) unregisterPlugin(kind, name);
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe('events of lines', () => {
  it('are written, counted, dead-lettered and acknowledged as the same events are', async () => {
    const line = fc
      .array(
        fc.constantFrom('k123', ' ', '"', '\\', 'ä', '!', '?', '\0', '\ud83d', 'qGr4Kd0xT9bLw2Zp5v', '\x7f'),
        {
          maxLength: 6,
        },
      )
      .map((parts) => parts.join(''));
    const batches = fc.array(fc.array(line, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(batches, async (lines) => {
        expect(await run(lines, 'lines')).toEqual(await run(lines, 'events'));
      }),
      { numRuns: 20 },
    );
  });

  it('give a dead letter that withholds a line which a mask has not seen', async () => {
    const { deadLetters } = await run([['fine', 'k1 qGr4Kd0xT9bLw2Zp5v !']], 'lines');
    expect(deadLetters).toEqual([
      expect.objectContaining({ plugin: 'picky', withheld: 'the event had not passed the mask late' }),
    ]);
    expect(JSON.stringify(deadLetters)).not.toContain('qGr4');
  });
});
