import { describe, expect, it } from '@jest/globals';
import { checkConfig, DiskConfig } from '../../../plugins/forward/disk.ts';
import { testPipeline } from '../../../src/testing/test-pipeline.ts';

const LOG = '/var/log/app.log';

/** Three writes, at 0, 2 and 4 s, and a crash of the process at a time. */
async function written(rotate: object, crash?: string): Promise<Record<string, string[]>> {
  const append = (at: string, ...lines: string[]) => ({ at, append: { path: LOG, lines } });
  const config = {
    collectors: { log: { plugin: 'file', paths: [LOG], backfill: true } },
    forwarders: { archive: { plugin: 'disk', path: '/out', filename: 'events.jsonl', rotate } },
    pipelines: { ship: { collect: 'log', forward: 'archive', exactly_once: true } },
    host_config: {},
  };
  const crashes =
    crash === undefined
      ? []
      : [
          { at: crash, crash: 'process' as const },
          { at: '7s', restart: true as const },
        ];
  const files = [append('0s', 'one', 'two'), append('2s', 'three', 'four'), append('4s', 'five'), ...crashes];
  const run = await testPipeline(config, { files, until: 20_000 });
  const outputs = [...run.files].filter(([path]) => path.startsWith('/out/'));
  return Object.fromEntries(
    outputs.map(([path, text]) => [
      path,
      path.endsWith('.gz')
        ? ['(compressed)']
        : [...text.matchAll(/"line":"(\w+)"/g)].map(([, line]) => line as string),
    ]),
  );
}

describe('disk with `rotate`, on virtual files', () => {
  it('rotates by time', async () => {
    expect(await written({ seconds: 2 })).toEqual({
      '/out/events-19700101T000002Z.jsonl': ['one', 'two'],
      '/out/events-19700101T000004Z.jsonl': ['three', 'four'],
      '/out/events.jsonl': ['five'],
    });
  });

  it('rotates by size, and compresses what is committed', async () => {
    expect(await written({ bytes: 250, compression: 'gzip' })).toEqual({
      '/out/events-19700101T000002Z.jsonl.gz': ['(compressed)'],
      '/out/events-19700101T000004Z.jsonl.gz': ['(compressed)'],
      '/out/events.jsonl': ['five'],
    });
  });

  it.each(['1ms', '2000ms', '2001ms', '2100ms', '2250ms', '4000ms', '4001ms', '4260ms'])(
    'has each line once after a crash at %s',
    async (crash) => {
      const lines = Object.values(await written({ bytes: 250 }, crash)).flat();
      expect(lines.sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
    },
  );
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
