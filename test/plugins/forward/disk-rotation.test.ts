import { describe, expect, it } from '@jest/globals';
import { checkConfig, DiskConfig } from '../../../plugins/forward/disk.ts';
import { type TestPipelineOptions, testPipeline } from '../../../src/testing/test-pipeline.ts';

const LOG = '/var/log/app.log';

const append = (at: string, ...lines: string[]) => ({ at, append: { path: LOG, lines } });
const STEPS = [append('0s', 'one', 'two'), append('2s', 'three', 'four'), append('4s', 'five')];

function ship(rotate: object, options: TestPipelineOptions = {}) {
  const config = {
    collectors: { log: { plugin: 'file', paths: [LOG], backfill: true } },
    forwarders: { archive: { plugin: 'disk', path: '/out', filename: 'events.jsonl', rotate } },
    pipelines: { ship: { collect: 'log', forward: 'archive', exactly_once: true } },
    host_config: {},
  };
  return testPipeline(config, { files: STEPS, until: '14s', ...options });
}

/** The lines of all outputs, by path. */
function outputsOf({ files }: Awaited<ReturnType<typeof ship>>): Record<string, string[]> {
  const outputs = [...files].filter(([path]) => path.startsWith('/out/'));
  const linesIn = (text: string) => [...text.matchAll(/"line":"(\w+)"/g)].map(([, line]) => line as string);
  return Object.fromEntries(
    outputs.map(([path, text]) => [path, path.endsWith('.gz') ? ['(compressed)'] : linesIn(text)]),
  );
}

describe('disk with `rotate`, on virtual files', () => {
  it('rotates by time', async () => {
    expect(outputsOf(await ship({ seconds: 2 }))).toEqual({
      '/out/events-19700101T000002Z.jsonl': ['one', 'two'],
      '/out/events-19700101T000004Z.jsonl': ['three', 'four'],
      '/out/events.jsonl': ['five'],
    });
  });

  it('rotates by size, and compresses what is committed', async () => {
    expect(outputsOf(await ship({ bytes: 250, compression: 'gzip' }))).toEqual({
      '/out/events-19700101T000002Z.jsonl.gz': ['(compressed)'],
      '/out/events-19700101T000004Z.jsonl.gz': ['(compressed)'],
      '/out/events.jsonl': ['five'],
    });
  });

  it.each(['process', 'power'] as const)('loses no line by a crash (%s) after any call', async (kind) => {
    const calls = (await ship({ bytes: 250 })).disk.calls.length;
    expect(calls).toBeGreaterThan(20);
    for (let call = 1; call <= calls; call++) {
      const run = await ship({ bytes: 250 }, { crashAfter: { call, kind } });
      const lines = Object.values(outputsOf(run)).flat().sort();
      // After a power cut, an input may be recognised no more, and is read again.
      expect(kind === 'process' ? lines : [...new Set(lines)]).toEqual([
        'five',
        'four',
        'one',
        'three',
        'two',
      ]);
    }
  });
});

describe('`rotate` of disk', () => {
  const config = (rotate: unknown, filename: string | undefined = 'a.jsonl') =>
    DiskConfig.safeParse({ plugin: 'disk', path: 'out', ...(filename === '' ? {} : { filename }), rotate });

  it.each([
    {},
    { compression: 'gzip' },
    { bytes: 0 },
    { seconds: 0 },
    { bytes: 1, keep: { files: 0 } },
    { size: 1 },
  ])('is not %j', (rotate) => {
    expect(config(rotate).success).toBe(false);
  });

  it('requires a file name', () => {
    const { data } = config({ bytes: 1 }, '');
    expect(checkConfig({ config: data as never })).toEqual([
      { path: ['rotate'], message: 'it requires `filename`: a file for each event is never rotated' },
    ]);
    expect(checkConfig({ config: config({ bytes: 1 }).data as never })).toEqual([]);
  });
});
