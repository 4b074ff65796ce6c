import { describe, expect, it } from '@jest/globals';
import { drawText } from '../../src/testing/index.ts';
import type { PipelineRun } from '../../src/testing/pipeline-run.ts';
import { testPipeline } from '../../src/testing/test-pipeline.ts';

const GATEWAY = {
  collectors: { ticks: { plugin: 'test', interval: 1, count: 5 } },
  forwarders: { sink: { plugin: 'noop' } },
  pipelines: {
    gateway: {
      collect: 'ticks',
      forward: 'sink',
      buffer: { type: 'disk', path: 'never/made', max_bytes: '1MiB' },
    },
  },
  host_config: {},
};

const marksOf = ({ trace }: PipelineRun, kind: string) =>
  trace.rows.find(({ place }) => place.kind === kind)?.marks ?? [];
const lettersOf = (run: PipelineRun, kind: string) =>
  marksOf(run, kind)
    .flatMap((mark) => (mark.kind === 'event' ? mark.letter : []))
    .join('');

describe('a pipeline with a buffer on disk in virtual time', () => {
  it('takes events while its forwarder fails, and delivers them in order afterwards', async () => {
    const run = await testPipeline(GATEWAY, {
      collect: { ticks: { marbles: 'abcde|' } },
      forward: { sink: { fails: 3 } },
    });
    expect(lettersOf(run, 'forward')).toBe('abcde');
    expect(lettersOf(run, 'buffer')).toBe('abcde');
    expect(marksOf(run, 'buffer').map(({ at }) => at)).toEqual([0, 1, 2, 3, 4]);
    expect(run.state).toBe('completed');
  });

  it('is drawn between the processors and the forwarders', async () => {
    const run = await testPipeline(GATEWAY, {
      collect: { ticks: { marbles: 'ab|' } },
      forward: { sink: { takes: '2ms' } },
    });
    const rows = drawText(run.trace).split('\n');
    const row = (name: RegExp) => rows.findIndex((text) => name.test(text));
    expect(row(/collect ticks/)).toBeLessThan(row(/^buffer/));
    expect(row(/^buffer/)).toBeLessThan(row(/forward sink/));
  });
});

describe('a buffer on a virtual disk', () => {
  const LOG = '/var/log/app.log';
  const config = {
    collectors: { log: { plugin: 'file', paths: [LOG], backfill: true } },
    forwarders: { archive: { plugin: 'disk', path: '/out', filename: 'events.jsonl' } },
    pipelines: { ship: { collect: 'log', forward: 'archive', buffer: { type: 'disk', path: '/buffer' } } },
    host_config: {},
  };
  const lines = 'abcdef'.split('');
  const files = lines.map((line, index) => ({
    at: `${index}s`,
    append: { path: LOG, lines: [line] },
  }));

  it.each(['process'] as const)('loses no line to a crash of the %s after any call', async (kind) => {
    const whole = await testPipeline(config, { files, until: '60s' });
    const calls = whole.disk?.calls.length ?? 0;
    expect(calls).toBeGreaterThan(20);
    for (let call = 1; call <= calls; call += 3) {
      const run = await testPipeline(config, { files, until: '60s', crashAfter: { call, kind } });
      const text = run.files.get('/out/events.jsonl') ?? '';
      const found = new Set(
        text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).data.line])),
      );
      expect({ call, found: [...found].sort() }).toEqual({ call, found: lines });
    }
  });
});
