import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { rounds } from '../../bench/measure/rounds.ts';
import { runToEnd, runUntil, sizeOf } from '../../bench/measure/run-command.ts';
import { quantile, ratio, spread } from '../../bench/measure/statistics.ts';
import { tempFolder } from '../support/temp-folder.ts';

const temp = tempFolder();

describe('statistics', () => {
  it('have the middle of an odd number, and between the two of an even one', () => {
    expect(spread([5, 1, 3])).toEqual({ min: 1, median: 3, max: 5 });
    expect(spread([4, 1, 2, 3])).toEqual({ min: 1, median: 2.5, max: 4 });
    expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9);
  });

  it('compare what was measured side by side: a slow round changes no ratio', () => {
    expect(ratio([10, 100, 20], [5, 50, 10])).toBe(2);
  });

  it('refuse to make something of nothing', () => {
    expect(() => spread([])).toThrow('no values');
  });
});

describe('rounds', () => {
  it('alternate', async () => {
    const order: string[] = [];
    const measured = await rounds(['a', 'b'], 2, async (subject, round) => {
      order.push(subject + round);
      return round;
    });
    expect(order).toEqual(['a0', 'b0', 'a1', 'b1']);
    expect(measured.get('a')).toEqual([0, 1]);
  });
});

describe('a measured command', () => {
  const node = (script: string) => ({ command: process.execPath, args: ['-e', script] });

  it('has its output in the file, and what it and its children have used', async () => {
    const busy = 'const end = Date.now() + 500; while (Date.now() < end);';
    const run = await runToEnd({ ...node(`console.log("done"); ${busy}`), stdout: temp('out') });
    expect(readFileSync(temp('out'), 'utf8')).toBe('done\n');
    expect(run.wallMs).toBeGreaterThanOrEqual(500);
    expect(run.cpuMs).toBeGreaterThan(0);
    expect(run.peakBytes).toBeGreaterThan(10e6);
  });

  it('that fails is an error with what it said', async () => {
    const failing = node('console.error("no such rule"); process.exitCode = 3');
    await expect(runToEnd(failing)).rejects.toThrow(/ended with 3:\nno such rule/);
  });

  it('that is not installed is an error', async () => {
    await expect(runToEnd({ command: 'no-such-peer', args: [] })).rejects.toThrow('ENOENT');
  });

  it('that is a daemon is stopped when its work is done', async () => {
    const daemon = node(
      `fs.writeFileSync(${JSON.stringify(temp('out'))}, 'all'); setInterval(() => {}, 1e6)`,
    );
    const size = () => sizeOf(temp('out'));
    const { wallMs } = await runUntil(daemon, size, (written) => written === 3);
    expect(wallMs).toBeGreaterThan(0);
  });

  it('that is a daemon and ends by itself is an error', async () => {
    const size = () => sizeOf(temp('out'));
    await expect(runUntil(node('0'), size, (written) => written === 3)).rejects.toThrow('ended too early');
    await expect(runUntil(node('process.exit(1)'), size, () => false)).rejects.toThrow('ended with 1');
  });
});
