import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import * as entropy_mask from '../../plugins/process/entropy_mask.ts';
import * as regex_mask from '../../plugins/process/regex_mask.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { serialise } from '../../src/sdk/serialise.ts';
import type { LineResult } from '../../src/worker-pool/protocol.ts';
import { LineProcessors } from '../../src/workers/line-processors.ts';
import { processContext } from '../plugins/process/context.ts';
import { folderWith } from '../support/cli.ts';

const ENVELOPE = { timestamp: '2026-01-01T00:00:00.000Z', backfill: true, isTruncated: false };
const regexConfig = regex_mask
  .get_config_schema()
  .parse({ plugin: 'regex_mask', rules: { KEY: 'k[0-9]+', MAIL: '[a-z]+@[a-z.]+' }, mask_suffix: '"' });
const entropyConfig = entropy_mask.get_config_schema().parse({ plugin: 'entropy_mask' });

const bytes = fc
  .array(
    fc.constantFrom(
      'k123',
      'x@y.de',
      ' ',
      '"',
      '\\',
      'ä',
      '😀',
      '\0',
      '\r',
      '\r\n',
      '\n',
      'qGr4Kd0xT9bLw2Zp5v',
      '\xff',
    ),
    { maxLength: 60 },
  )
  // As it may stand in a file: also bytes that are no UTF-8.
  .map((parts) =>
    Buffer.concat([
      ...parts.map((part) => Buffer.from(part, part === '\xff' ? 'latin1' : 'utf8')),
      Buffer.from('\n'),
    ]),
  );

/** How much was masked by each rule of each processor. */
function sums(masked: readonly (readonly (string | number)[])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [processor, rule, count] of masked) {
    const key = `${processor} ${rule}`;
    sums[key] = (sums[key] ?? 0) + Number(count);
  }
  return sums;
}

describe('LineProcessors', () => {
  it('gives what the processors give of the events, and counts the same', async () => {
    const processors = await LineProcessors.load([
      { plugin: 'regex_mask', config: { ...regexConfig } },
      { plugin: 'entropy_mask', config: { ...entropyConfig } },
    ]);
    fc.assert(
      fc.property(bytes, fc.constantFrom('/var/log/app.log', '/tmp/k1.log'), (text, source) => {
        const size = text.filter((byte) => byte === 0x0a).length;
        const envelope = { ...ENVELOPE, source };
        const result = processors.run({ id: 7, bytes: text, size, envelope }) as LineResult;

        const regex = processContext(regexConfig);
        const entropy = processContext(entropyConfig);
        const expected = new LineEvents(new LineBlock(text, size), envelope).events
          .flatMap((event) => regex_mask.process({ ctx: regex.ctx as never, event }))
          .flatMap((event) => entropy_mask.process({ ctx: entropy.ctx as never, event }));
        expect(Buffer.from(result.documents).toString()).toBe(
          expected.map((event) => `${serialise(event)}\n`).join(''),
        );
        expect(result).toMatchObject({ id: 7, size, failures: [], received: [size, size], filtered: [0, 0] });
        expect(sums(result.masked.map(([processor, ...rest]) => [`${processor}`, ...rest]))).toEqual(
          sums([...regex.masked.map((one) => ['0', ...one]), ...entropy.masked.map((one) => ['1', ...one])]),
        );
      }),
    );
  });

  it('writes documents that need much more room than their lines', async () => {
    const processors = await LineProcessors.load([{ plugin: 'regex_mask', config: { ...regexConfig } }]);
    // Three parts of a block: plain lines, lines of escapes, and plain lines again.
    const lines = ['a', '\x01', 'b'].flatMap((text) => Array<string>(1000).fill(text.repeat(100)));
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const envelope = { ...ENVELOPE, source: 'a.log' };
    const result = processors.run({ id: 7, bytes, size: lines.length, envelope }) as LineResult;
    const expected = LineEvents.of(lines, envelope).events.map((event) => `${serialise(event)}\n`);
    expect(Buffer.from(result.documents).toString() === expected.join('')).toBe(true);
    expect(result.size).toBe(lines.length);
    // Its buffer is handed to another thread.
    expect(result.documents.buffer.byteLength).toBeLessThan(4 * result.documents.length);
  });

  it.each([
    ['process', 'export const process = ({ ctx, event }) => { use(ctx, event.data.line); return event; };'],
    [
      'mapLines',
      `export const process = ({ event }) => event;
      export const mapLines = ({ ctx }) => ({ map: (line) => { use(ctx, line); return line; } });`,
    ],
  ])(
    'refuses a task whose %s uses what only the main thread has, even if it catches the error',
    async (_, code) => {
      const module = `
      const use = (ctx, line) => {
        ctx.stats.masked('seen', 1);
        if (line === 'thrown') ctx.logger.info('x');
        try { if (line === 'caught') ctx.cache.n = 1; } catch {}
      };
      ${code}`;
      const plugin = pathToFileURL(join(folderWith({ 'plugin.mjs': module }), 'plugin.mjs')).href;
      const processors = await LineProcessors.load([{ plugin, config: {} }]);
      const envelope = { ...ENVELOPE, source: 'a.log' };
      const run = (text: string) =>
        processors.run({ id: 7, bytes: Buffer.from(`first\n${text}\n`), size: 2, envelope });
      expect(run('thrown')).toEqual({ id: 7, processor: 0, member: 'logger' });
      expect(run('caught')).toEqual({ id: 7, processor: 0, member: 'cache' });
      // Nothing of a refused task is left in the next one.
      expect(run('fine')).toMatchObject({ id: 7, size: 2, failures: [], masked: [[0, 'seen', 2]] });
    },
  );

  it('filters lines, and counts those that go and those that cannot be judged', async () => {
    const processors = await LineProcessors.load([
      { plugin: 'filter', config: { drop: 'data.line.contains("DEBUG")' } },
      { plugin: 'filter', config: { keep: 'data.line.substring(0, 3) != "GET"' } },
    ]);
    const bytes = Buffer.from('a DEBUG line\nanother one\nGET /\nx\nlast\n');
    const result = processors.run({ id: 7, bytes, size: 5, envelope: { ...ENVELOPE, source: 'a.log' } });
    expect(result).toMatchObject({
      size: 2,
      received: [5, 4],
      filtered: [1, 1],
      failures: [{ processor: 1 }],
    });
    const lines = Buffer.from((result as LineResult).documents)
      .toString()
      .split('\n')
      .slice(0, -1);
    expect(lines.map((document) => JSON.parse(document).data.line)).toEqual(['another one', 'last']);
  });
});
