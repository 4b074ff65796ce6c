import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const KILLS = byForm({ short: 12, long: 100 });

/** Compressed files as what they hold, for the oracle to read. None is there twice, and none is unfinished. */
function gunzipAll(trial: Trial): number {
  const names = fs.readdirSync(trial.path('out'));
  expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  const compressed = names.filter((name) => name.endsWith('.gz'));
  for (const name of compressed) {
    const plain = name.slice(0, -'.gz'.length);
    expect(names).not.toContain(plain);
    fs.writeFileSync(trial.path('out', plain), gunzipSync(fs.readFileSync(trial.path('out', name))));
    fs.rmSync(trial.path('out', name));
  }
  return compressed.length;
}

it.each([
  ['exactly once', 'exactly_once: true', 'bytes: 20KiB, compression: gzip'],
  ['exactly once', 'exactly_once: true', 'bytes: 20KiB'],
  ['exactly once', 'exactly_once: true', 'seconds: 1, compression: gzip'],
  ['at least once', undefined, 'bytes: 20KiB, compression: gzip'],
])(`kill -9 at ${KILLS} points, an output that rotates, %s: %s, { %s }`, async (_, pipeline, rotate) => {
  const forwarder = `plugin: disk, path: out, filename: out.jsonl, rotate: { ${rotate} }`;
  const trial = new Trial(fileToDisk({ forwarder, ...(pipeline && { pipeline }) }));
  for (let turn = 0; turn < KILLS; turn++) {
    trial.appendLines('in/a.log', trial.oracle.between(500, 2000));
    const before = trial.outputBytes;
    const child = await trial.start('run', 'p.yaml', '--state-dir', 'state');
    trial.appendLines('in/a.log', trial.oracle.between(500, 2000));
    if (turn % 3 > 0) await trial.until(() => trial.outputBytes > before);
    await delay(trial.oracle.between(0, turn % 3 === 0 ? 1000 : 100));
    await kill(child);
  }
  expect(await trial.runOnce()).toMatchObject({ code: 0 });
  const files = fs.readdirSync(trial.path('out')).length;
  const compressed = gunzipAll(trial);
  // Whether a run passes from one second to the next is up to chance.
  if (rotate.includes('bytes')) {
    expect(files).toBeGreaterThan(3);
    expect(compressed > 0).toBe(rotate.includes('gzip'));
  }
  const verdict = trial.verdict();
  const doubled = pipeline === undefined ? verdict.doubled : 0;
  expect(verdict).toEqual({ ...FLAWLESS, seed: verdict.seed, doubled });
});
