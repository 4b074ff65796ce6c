import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { fileToDisk, kill, Trial } from './support/trial.ts';

const OUTPUT = 'out/out.jsonl';
const ASIDE = /out\/out\.jsonl\.uncommitted-1/;

/** Bytes of the output that the last commit covers; 0 before the first one. */
function lengthCommitted(trial: Trial): number {
  const commits = [
    ...trial.text('state/state.journal').matchAll(/"path":"out\/out.jsonl","length":(\d+)[,}]/g),
  ];
  return Number(commits.at(-1)?.[1] ?? 0);
}

/** Whether lines of `in/a.log` are in the output that the last commit does not cover. */
function hasUncommitted(trial: Trial): boolean {
  return fs.readFileSync(trial.path(OUTPUT)).subarray(lengthCommitted(trial)).includes('in/a.log');
}

/** Kills a run while the lines of two files are being written, some of which are not committed. */
async function killedWhileWriting(): Promise<Trial> {
  const pipeline = 'exactly_once: true, restart: false, max_in_flight: 20';
  const trial = new Trial(fileToDisk({ pipeline, delay: 0.01, collector: 'allow_missing: true' }));
  trial.appendLines('in/a.log', 2000);
  trial.appendLines('in/b.log', 2000);
  do {
    const before = lengthCommitted(trial);
    const child = await trial.run();
    await trial.until(() => lengthCommitted(trial) > before);
    await kill(child);
  } while (!hasUncommitted(trial));
  return trial;
}

describe('exactly once, a process that is killed while it writes', () => {
  it.each<[what: string, change: (trial: Trial) => void]>([
    ['is compressed', (trial) => execFileSync('gzip', [trial.path('in/a.log')])],
    ['is removed', (trial) => fs.rmSync(trial.path('in/a.log'))],
    ['is truncated', (trial) => fs.truncateSync(trial.path('in/a.log'))],
    [
      'is moved to another folder',
      (trial) => {
        fs.mkdirSync(trial.path('old'));
        trial.rename('in/a.log', 'old/a.log');
      },
    ],
    [
      'is not configured any more',
      (trial) => trial.write('p.yaml', trial.text('p.yaml').replace('in/*.log*', 'in/b.log')),
    ],
  ])(
    'and an input that %s: what was delivered of it is in the file that the log names',
    async (_, change) => {
      const trial = await killedWhileWriting();
      const before = trial.oracle.found([trial.path('out')]);
      change(trial);
      const { code, stderr } = await trial.runOnce();
      expect([code, stderr]).toEqual([0, expect.stringMatching(ASIDE)]);
      expect(stderr).toMatch(/lines of in\/a\.log, which cannot be read again/);
      const after = trial.oracle.found([trial.path('out')]);
      expect([...before.keys()].filter((line) => !after.has(line))).toEqual([]);
      // No line is twice in the output itself, which has every line of the other input.
      const output = trial.verdict({ outputs: [trial.path(OUTPUT)] });
      expect(output).toMatchObject({ doubled: 0, leaks: [] });
      const ids = [...trial.oracle.found([trial.path(OUTPUT)]).keys()];
      expect(ids.filter((id) => id >= 2000).length).toBe(2000);
    },
  );

  it('and inputs that are renamed: all is written again, and nothing set aside', async () => {
    const trial = await killedWhileWriting();
    trial.rename('in/a.log', 'in/a.log.1');
    const { code, stderr } = await trial.runOnce();
    expect([code, stderr]).toEqual([0, expect.not.stringMatching(ASIDE)]);
    expect(trial.verdict()).toMatchObject({ lost: 0, doubled: 0, torn: 0, leaks: [] });
  });
});
