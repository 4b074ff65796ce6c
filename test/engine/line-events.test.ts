import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { registerPlugin, unregisterPlugin } from '../../src/config/registry.ts';
import { ProcessConfigBase } from '../../src/sdk/config.ts';
import type { ProcessPlugin } from '../../src/sdk/plugin.ts';
import { runBatches } from '../support/run-batches.ts';

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

const PROCESSORS = {
  mask: { plugin: 'regex_mask', rules: { KEY: 'k[0-9]+', QUOTE: '"' }, mask_suffix: '\n' },
  picky: { plugin: 'picky' },
  late: { plugin: 'entropy_mask' },
};
beforeEach(() => registerPlugin('process', 'picky', picky));
afterEach(() => {
  unregisterPlugin('process', 'picky');
});

/** Runs batches of lines through masks to a file, as lines or as the events of these lines. */
const run = (batches: readonly (readonly string[])[], how: 'lines' | 'events') =>
  runBatches({ folder, processors: PROCESSORS, envelope: ENVELOPE }, batches, how);

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
