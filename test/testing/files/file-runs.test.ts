import { describe, expect, it } from '@jest/globals';
import type { FileStep } from '../../../src/testing/file-steps.ts';
import { type TestPipelineOptions, testPipeline } from '../../../src/testing/test-pipeline.ts';

const LOG = '/var/log/app.log';
const OUT = '/out/events.jsonl';

function ship(files: readonly FileStep[], pipeline: object = {}, options: TestPipelineOptions = {}) {
  const config = {
    collectors: { log: { plugin: 'file', paths: [LOG], backfill: true } },
    forwarders: { archive: { plugin: 'disk', path: '/out', filename: 'events.jsonl' } },
    pipelines: { ship: { collect: 'log', forward: 'archive', ...pipeline } },
    host_config: {},
  };
  return testPipeline(config, { files, ...options });
}

const linesIn = (text = '') =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).data.line as string);

const append = (at: string, ...lines: string[]): FileStep => ({ at, append: { path: LOG, lines } });

/** Ten lines while the log is rotated by renaming, which its writer notices late. */
const ROTATION: FileStep[] = [
  append('0s', 'a', 'b'),
  append('1s', 'c'),
  { at: '1500ms', append: { path: LOG, text: 'half' } },
  { at: '2s', append: { path: LOG, text: ' line\n' } },
  { at: '2500ms', rename: { from: LOG, to: `${LOG}.1` } },
  { at: '2600ms', append: { path: `${LOG}.1`, lines: ['late'] } },
  append('3s', 'd', 'e'),
  append('4s', 'f'),
];
const ROTATED = ['a', 'b', 'c', 'half line', 'late', 'd', 'e', 'f'];

describe('a pipeline on virtual files', () => {
  it('follows a file, and writes one', async () => {
    const run = await ship([append('0s', 'a', 'b'), append('1s', 'c')]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a', 'b', 'c']);
    expect(run.forwarded('archive').map(({ at }) => at)).toEqual([0, 0, 1000]);
    expect(run.states.at(-1)).toEqual({ at: 61_000, state: 'stopped' });
  });

  it('takes what is there before the start for old', async () => {
    const run = await ship([{ append: { path: LOG, lines: ['old'] } }, append('1s', 'new')]);
    expect(run.events('archive').map((event) => 'backfill' in event && event.backfill)).toEqual([
      true,
      false,
    ]);
  });

  it('reads a file that is rotated to its end, and then its successor', async () => {
    const run = await ship(ROTATION);
    expect(linesIn(run.files.get(OUT))).toEqual(ROTATED);
    expect(run.stats.lost_bytes ?? 0).toBe(0);
  });

  it('loses what copytruncate takes between two looks, and says so', async () => {
    const run = await ship([
      append('0s', 'a'),
      append('1s', 'b'),
      { at: '2s', copy: { from: LOG, to: `${LOG}.1` } },
      { at: '2s', truncate: LOG },
      append('3s', 'c'),
    ]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a', 'b', 'c']);
    expect(run.log).toContainEqual(expect.stringContaining('was truncated: reading it from its beginning'));
  });

  it('emits a last line without a newline after flush_timeout', async () => {
    const run = await ship([{ at: '1s', append: { path: LOG, text: 'no end' } }]);
    expect(run.forwarded('archive')).toHaveLength(1);
    expect(run.forwarded('archive')[0]?.at).toBeGreaterThanOrEqual(6000);
  });

  it('reads a file that is removed to its end, and one that takes its name from its beginning', async () => {
    const run = await ship([append('0s', 'a'), { at: '2s', delete: LOG }, append('9s', 'b')]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a', 'b']);
  });

  it('waits while the disk is full, and tears no line', async () => {
    const run = await ship([
      append('0s', 'a'),
      { at: '1s', free_space: 30 },
      append('2s', 'b', 'c'),
      { at: '20s', free_space: 'unlimited' },
    ]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a', 'b', 'c']);
    expect(run.stats.retries).toBeGreaterThan(0);
    const [, b] = run.forwarded('archive');
    expect(b?.at).toBeGreaterThanOrEqual(20_000);
  });

  it('goes on behind its checkpoint after a stop', async () => {
    const run = await ship([append('0s', 'a'), { at: '2s', restart: true }, append('3s', 'b')]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a', 'b']);
    expect(run.states.map(({ state }) => state)).toEqual([
      'idle',
      'running',
      'stopped',
      'idle',
      'running',
      'stopped',
    ]);
    expect(run.stats).toMatchObject({ collected: 2, forwarded: { archive: 2 } });
  });

  it('finds what was rotated while it was down', async () => {
    const run = await ship([
      append('0s', 'a'),
      { at: '2s', crash: 'process' },
      append('3s', 'b'),
      { at: '4s', rename: { from: LOG, to: `${LOG}.1` } },
      append('5s', 'c'),
      { at: '6s', restart: true },
    ]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a', 'b', 'c']);
    expect(run.states.map(({ state }) => state)).toContain('crashed');
  });

  it('keeps what another program writes, and what the process has synced, over a power loss', async () => {
    const run = await ship([append('0s', 'a'), { at: '3s', crash: 'power' }, append('4s', 'b')]);
    expect(linesIn(run.files.get(OUT))).toEqual(['a']);
    expect(run.files.get(LOG)).toBe('a\nb\n');
    expect(run.state).toBe('crashed');
  });

  it('writes a load of lines', async () => {
    const run = await ship([
      { at: '0s', append: { path: LOG, line: 'n={n}', times: 500, every: '10ms' } },
      { at: '2s', rename: { from: LOG, to: `${LOG}.1` } },
    ]);
    const lines = linesIn(run.files.get(OUT));
    expect(lines.slice(0, 3)).toEqual(['n=1', 'n=2', 'n=3']);
    expect(lines).toHaveLength(500);
  });

  it('reports what cannot be done, with its time', async () => {
    await expect(ship([{ at: '2s', delete: '/none' }])).rejects.toThrow(
      "files, at 2s, delete /none: ENOENT: no such file or directory, unlink '/none'",
    );
  });

  it('gives the same run every time', async () => {
    const [one, other] = [await ship(ROTATION), await ship(ROTATION)];
    expect(one.disk).toEqual(other.disk);
    expect(one.log).toEqual(other.log);
  });
});

describe('a crash after any call', () => {
  const kinds = ['process', 'power'] as const;
  /** A file that was rotated is done with after 5 s. */
  const until = '14s';
  const crashes = async (steps: FileStep[], pipeline: object, kind: (typeof kinds)[number]) => {
    const calls = (await ship(steps, pipeline, { until })).disk.calls;
    expect(calls.length).toBeGreaterThan(20);
    const runs: (readonly string[])[] = [];
    for (const call of calls.keys()) {
      const run = await ship(steps, pipeline, { until, crashAfter: { call: call + 1, kind } });
      expect(run.states.map(({ state }) => state)).toContain('crashed');
      runs.push(linesIn(run.files.get(OUT)));
    }
    return runs;
  };

  it('loses and repeats no line with exactly_once', async () => {
    for (const lines of await crashes(ROTATION, { exactly_once: true }, 'process')) {
      expect(lines).toEqual(ROTATED);
    }
  });

  // Which file a line is in has to be known after the crash, or a file that was rotated is never read again.
  it('that takes the power too loses no line with exactly_once, rotations included', async () => {
    for (const lines of await crashes(ROTATION, { exactly_once: true }, 'power')) {
      expect([...new Set(lines)].sort()).toEqual([...ROTATED].sort());
    }
  });

  it('loses no line without it, and repeats some', async () => {
    const runs = await crashes(ROTATION, {}, 'process');
    for (const lines of runs) expect([...new Set(lines)].sort()).toEqual([...ROTATED].sort());
    expect(runs.some((lines) => lines.length > ROTATED.length)).toBe(true);
  });
});
