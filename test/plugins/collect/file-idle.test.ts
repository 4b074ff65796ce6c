import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { FileStep } from '../../../src/testing/file-steps.ts';
import { ProcessFiles } from '../../../src/testing/process-files.ts';
import { testPipeline } from '../../../src/testing/test-pipeline.ts';

/** Five polls look at 1,000 files: of more, each is looked at less often. */
const FILES = 1200;
/** Enough for each to be looked at half as often as one of few. */
const MANY_FILES = 2000;
/** Milliseconds in which a change is found that no watch tells of: 5 for each file, and a poll. */
const boundOf = (files: number) => files * 5 + 1000;
const BOUND = boundOf(FILES);
const MANY_BOUND = boundOf(MANY_FILES);
/** When a file has been idle for long, in milliseconds. */
const LATER = 40_000;

const CONFIG = {
  collectors: { log: { plugin: 'file', paths: ['/logs/*.log'], backfill: true } },
  forwarders: { archive: { plugin: 'noop' } },
  pipelines: { ship: { collect: 'log', forward: 'archive' } },
  host_config: {},
};
const filled = (count: number): FileStep[] =>
  Array.from({ length: count }, (_, n) => ({
    write: { path: `/logs/${n}.log`, lines: [`${n}: a line of the start`] },
  }));
const LOG = '/logs/1034.log';
const OTHER = '/logs/1071.log';
const append = (at: number, line: string): FileStep => ({ at, append: { path: LOG, lines: [line] } });

/** The lines that come after the start, with their times; those of the last step have time to come. */
const follow = (...steps: FileStep[]) => followAmong(FILES, ...steps);

async function followAmong(files: number, ...steps: FileStep[]) {
  const last = Math.max(...steps.map(({ at }) => Number(at ?? 0)));
  const run = await testPipeline(CONFIG, {
    files: [...filled(files), ...steps],
    until: last + 2 * boundOf(files),
  });
  const times = run.forwarded('archive').map(({ at }) => at);
  const lines = run
    .events('archive')
    .map(({ data }, n) => ({ at: times[n] as number, line: String(data.line) }));
  return { lines: lines.filter(({ line }) => !line.endsWith('of the start')), log: run.log };
}

/** As on a network file system, to which another machine writes. */
function tellNothing() {
  jest
    .spyOn(ProcessFiles.prototype, 'watchChanges')
    .mockImplementation(() => ({ isAlive: true, unwatch: () => {} }));
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('many idle files', () => {
  it('are delivered from at once where a watch tells of a change', async () => {
    const { lines } = await follow(append(LATER + 1, 'new'));
    expect(lines).toEqual([{ at: expect.any(Number), line: 'new' }]);
    expect(lines[0]?.at).toBeLessThan(LATER + 500);
  });

  it('are looked at often enough where no watch tells of a change, and soon while they change', async () => {
    tellNothing();
    const { lines } = await followAmong(
      MANY_FILES,
      append(LATER, 'new'),
      append(LATER + 2 * MANY_BOUND, 'newer'),
    );
    expect(lines.map(({ line }) => line)).toEqual(['new', 'newer']);
    expect((lines[0]?.at as number) - LATER).toBeLessThanOrEqual(MANY_BOUND);
    expect((lines[1]?.at as number) - LATER - 2 * MANY_BOUND).toBeLessThanOrEqual(MANY_BOUND);
  });

  it('are looked at every five seconds while they change without a sign', async () => {
    tellNothing();
    const times = Array.from({ length: 5 }, (_, n) => LATER + MANY_BOUND + n * 6000);
    const { lines } = await followAmong(
      MANY_FILES,
      append(LATER, 'first'),
      ...times.map((at) => append(at, String(at))),
    );
    const delays = lines.slice(1).map(({ at, line }) => at - Number(line));
    expect(delays).toHaveLength(5);
    for (const delay of delays.slice(1)) expect(delay).toBeLessThanOrEqual(6000);
  });

  it.each(['told', 'untold'])(
    'lose nothing when one is rotated, and are read from their beginning when one is truncated, %s',
    async (how) => {
      if (how === 'untold') tellNothing();
      const { lines, log } = await follow(
        append(LATER, 'before'),
        { at: LATER, truncate: OTHER },
        { at: LATER + 1, rename: { from: LOG, to: `${LOG}.1` } },
        { at: LATER + 1, append: { path: OTHER, lines: ['x'] } },
        { at: LATER + 2, append: { path: `${LOG}.1`, lines: ['late'] } },
        append(LATER + 3, 'after'),
      );
      const rotated = lines.filter(({ line }) => line !== 'x');
      expect(rotated.map(({ line }) => line)).toEqual(['before', 'late', 'after']);
      for (const { at } of rotated)
        expect(at - LATER).toBeLessThanOrEqual(how === 'told' ? 7000 : BOUND + 6000);
      const truncated = lines.filter(({ line }) => line === 'x');
      expect(truncated).toHaveLength(1);
      expect((truncated[0]?.at as number) - LATER).toBeLessThanOrEqual(how === 'told' ? 1000 : BOUND);
      expect(log).toContainEqual(expect.stringContaining('was truncated'));
    },
  );

  it('are looked at in the next poll when their folder is replaced, which no watch on a file tells', async () => {
    tellNothing();
    const { lines } = await follow(
      { at: LATER, rename: { from: '/logs', to: '/old' } },
      append(LATER + 1, 'x'),
    );
    expect(lines.map(({ line }) => line)).toEqual(['x']);
    expect((lines[0]?.at as number) - LATER).toBeLessThanOrEqual(8000);
  });

  it('cost no more looks with their number', async () => {
    const looks = jest.spyOn(ProcessFiles.prototype, 'lstat');
    const polls = 60;
    await testPipeline(CONFIG, { files: filled(MANY_FILES), until: polls * 1000 });
    // Each file is looked at when it is found and five polls later; then 200 to 400 in a poll.
    expect(looks.mock.calls.length - 3 * MANY_FILES).toBeLessThan(300 * polls);
  });
});
