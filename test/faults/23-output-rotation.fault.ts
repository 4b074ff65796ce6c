import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { CliProcess } from '../support/cli.ts';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const ROTATIONS = byForm({ short: 6, long: 60 });
const OUTPUT = 'out/out.jsonl';

const hasLogrotate = spawnSync('logrotate', ['--version']).error === undefined;
if (!hasLogrotate) process.stderr.write('23-output-rotation.fault.ts, in part: skipped: no logrotate here\n');
const withLogrotate = hasLogrotate ? describe : describe.skip;

/** Rotates the output with real logrotate. */
function logrotate(trial: Trial, settings: string): void {
  const config = `${trial.path(OUTPUT)} {\n  rotate 1000\n  create\n  ${settings}\n}\n`;
  fs.writeFileSync(trial.path('rotate.conf'), config, { mode: 0o600 });
  const args = ['--force', '--state', trial.path('rotate.state'), trial.path('rotate.conf')];
  execFileSync('/usr/bin/env', ['logrotate', ...args], { stdio: 'pipe' });
}

/** Compresses the output as people do: the file is gone then. */
const gzip = (trial: Trial) => execFileSync('gzip', ['--suffix', '.old.gz', trial.path(OUTPUT)]);

/** Uncompresses all outputs, for the oracle to read. */
function gunzipAll(trial: Trial): void {
  const names = fs.readdirSync(trial.path('out')).filter((name) => name.endsWith('.gz'));
  for (const name of names) execFileSync('gunzip', [trial.path('out', name)]);
}

/** Writes lines until `work` is done. */
async function writing(trial: Trial, work: Promise<void>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    trial.appendLines('in/a.log', 40);
    await delay(2);
  }
  await done;
}

/** Bytes of the output that the last commit covers; 0 before the first one. */
function lengthCommitted(trial: Trial): number {
  const commits = [
    ...trial.text('state/state.journal').matchAll(/"path":"out\/out.jsonl","length":(\d+)[,}]/g),
  ];
  return Number(commits.at(-1)?.[1] ?? 0);
}

async function lastLineIsOut(trial: Trial): Promise<void> {
  const last = trial.oracle.written - 1;
  await trial.until(() => trial.text(OUTPUT).includes(`end:${last};`));
}

describe.each([
  ['at least once', ''],
  ['exactly once', 'exactly_once: true'],
])('%s, an output', (_, pipeline) => {
  const begin = async (): Promise<[Trial, CliProcess]> => {
    const trial = new Trial(fileToDisk(pipeline === '' ? {} : { pipeline }));
    trial.appendLines('in/a.log', 100);
    const child = await trial.run();
    await lastLineIsOut(trial);
    return [trial, child];
  };

  withLogrotate('rotated by logrotate', () => {
    const hup = (pid?: number) => `postrotate\n    kill -HUP ${pid}\n  endscript`;
    it.each([
      ['that tells nobody', 'compress\n  delaycompress', () => ''],
      ['that sends SIGHUP', 'compress\n  delaycompress', hup],
      ['that compresses at once', 'compress', () => ''],
      ['that compresses at once, and sends SIGHUP', 'compress', hup],
    ])('%s: no line is lost', async (_, compress, signal) => {
      const [trial, child] = await begin();
      const rotating = async () => {
        for (let n = 0; n < ROTATIONS; n++) {
          const { ino } = fs.statSync(trial.path(OUTPUT));
          logrotate(trial, `${compress}\n  ${signal(child.child.pid)}`);
          await trial.until(() => {
            const now = fs.statSync(trial.path(OUTPUT), { throwIfNoEntry: false });
            return now !== undefined && now.ino !== ino && now.size > 0;
          });
        }
      };
      await writing(trial, rotating());
      await lastLineIsOut(trial);
      expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
      gunzipAll(trial);
      const verdict = trial.verdict();
      // What is written in the moment of the rotation is taken back, unless it is compressed already.
      const doubled = compress === 'compress' ? verdict.doubled : 0;
      expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled });
    });
  });

  it('copied and removed: what is written from then on is in a new file, from its first line', async () => {
    const [trial, child] = await begin();
    for (let n = 0; n < ROTATIONS; n++) {
      await trial.allAcknowledged();
      fs.copyFileSync(trial.path(OUTPUT), trial.path(`out/copy.${n}`));
      fs.rmSync(trial.path(OUTPUT));
      trial.appendLines('in/a.log', 50);
      await lastLineIsOut(trial);
    }
    expect(await kill(child, 'SIGTERM')).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});

describe('exactly once, an output that is compressed while nothing is written', () => {
  it('is not missed after a kill: the next run begins another one, and says so', async () => {
    const trial = new Trial(fileToDisk({ pipeline: 'exactly_once: true' }));
    trial.appendLines('in/a.log', 100);
    const child = await trial.run();
    await trial.allAcknowledged();
    gzip(trial);
    await kill(child);
    trial.appendLines('in/a.log', 100);
    const { code, stderr } = await trial.runOnce();
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/main: the file .* is no longer out\/out\.jsonl/),
    ]);
    gunzipAll(trial);
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });

  it('is asked for after a kill while writing, and used when it is put back', async () => {
    const pipeline = 'exactly_once: true, restart: false, max_in_flight: 20';
    const trial = new Trial(fileToDisk({ pipeline, delay: 0.01 }));
    trial.appendLines('in/a.log', 2000);
    // Killed between two commits. A kill may hit the moment in which all that is written is committed: then once more.
    let committed = 0;
    do {
      const child = await trial.run();
      await trial.until(() => lengthCommitted(trial) > committed);
      await kill(child);
      committed = lengthCommitted(trial);
    } while (trial.outputBytes === committed);
    gzip(trial);
    expect(await trial.runOnce()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /it is gone\. Its first [\d,]+ bytes were committed; what follows them was not.*put it back at out\/out\.jsonl/,
      ),
    });
    gunzipAll(trial);
    trial.rename('out/out.jsonl.old', OUTPUT);
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });
});
