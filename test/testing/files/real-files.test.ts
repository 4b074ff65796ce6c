import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { Manager } from '../../../src/engine/manager.ts';
import { openState } from '../../../src/state/open-state.ts';
import type { FileStep } from '../../../src/testing/file-steps.ts';
import { testPipeline } from '../../../src/testing/test-pipeline.ts';
import { folderOf } from '../yaml/helpers.ts';

const configOf = (folder: string) => ({
  collectors: { log: { plugin: 'file', paths: [`${folder}/app.log`], backfill: true, flush_timeout: 1 } },
  forwarders: { archive: { plugin: 'disk', path: `${folder}/out`, filename: 'events.jsonl' } },
  pipelines: { ship: { collect: 'log', forward: 'archive', exactly_once: true } },
  host_config: {},
});

const linesIn = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).data.line as string);

/** What each step does on the real disk. Milliseconds from one to the next are those of the steps. */
async function runForReal(folder: string, steps: readonly FileStep[], until: number): Promise<string[]> {
  const config = await parseConfig(configOf(folder));
  let process: { manager: Manager; state: Awaited<ReturnType<typeof openState>> } | undefined;
  const start = async () => {
    const state = await openState(`${folder}/state`);
    process = { manager: new Manager(config, { state }), state };
    process.manager.start();
  };
  const stop = async () => {
    if (process === undefined) return;
    await firstValueFrom(process.manager.stop());
    await process.state.close();
  };
  await start();
  const begun = performance.now();
  for (const { at = 0, append, rename, copy, truncate, restart, ...step } of steps) {
    await pause(Math.max(0, begun + Number(at) - performance.now()));
    if (append !== undefined) {
      fs.appendFileSync(append.path, append.text ?? append.lines?.map((line) => `${line}\n`).join('') ?? '');
    }
    if (rename !== undefined) fs.renameSync(rename.from, rename.to);
    if (copy !== undefined) fs.copyFileSync(copy.from, copy.to);
    if (typeof truncate === 'string') fs.truncateSync(truncate);
    if (step.delete !== undefined) fs.rmSync(step.delete);
    if (restart !== undefined) {
      await stop();
      await start();
    }
  }
  await pause(Math.max(0, begun + until - performance.now()));
  await stop();
  return linesIn(fs.readFileSync(`${folder}/out/events.jsonl`, 'utf8'));
}

const SCENARIOS: Readonly<Record<string, (log: string) => FileStep[]>> = {
  'a rotation whose writer is late': (log) => [
    { at: 300, append: { path: log, lines: ['a', 'b'] } },
    { at: 600, append: { path: log, text: 'half' } },
    { at: 900, append: { path: log, text: ' line\n' } },
    { at: 1200, rename: { from: log, to: `${log}.1` } },
    { at: 1300, append: { path: `${log}.1`, lines: ['late'] } },
    { at: 1800, append: { path: log, lines: ['c'] } },
  ],
  copytruncate: (log) => [
    { at: 300, append: { path: log, lines: ['a', 'b'] } },
    { at: 1500, copy: { from: log, to: `${log}.1` } },
    { at: 1500, truncate: log },
    { at: 1800, append: { path: log, lines: ['c'] } },
  ],
  'a removal, and a new file': (log) => [
    { at: 300, append: { path: log, lines: ['a'] } },
    { at: 1500, delete: log },
    { at: 2200, append: { path: log, lines: ['b'] } },
  ],
  'a restart, and a rotation in between': (log) => [
    { at: 300, append: { path: log, lines: ['a', 'b'] } },
    { at: 1500, append: { path: log, lines: ['c'] } },
    { at: 1800, rename: { from: log, to: `${log}.1` } },
    { at: 1900, append: { path: log, lines: ['d'] } },
    { at: 2000, restart: true },
    { at: 2400, append: { path: log, lines: ['e'] } },
  ],
  'a last line without a newline': (log) => [
    { at: 300, append: { path: log, lines: ['a'] } },
    { at: 600, append: { path: log, text: 'no end' } },
  ],
};

const UNTIL = 8000;

describe('virtual files behave as the real ones', () => {
  it('in rotations, truncations, removals and restarts', async () => {
    const scenarios = Object.entries(SCENARIOS).map(([name, stepsOf]) => {
      const folder = folderOf({});
      return { name, folder, steps: stepsOf(`${folder}/app.log`) };
    });
    // First the real ones, side by side: while virtual time governs, there are no others.
    const real = await Promise.all(scenarios.map(({ folder, steps }) => runForReal(folder, steps, UNTIL)));
    for (const [index, { name, folder, steps }] of scenarios.entries()) {
      const run = await testPipeline(configOf(folder), { files: steps, until: UNTIL });
      const lines = linesIn(run.files.get(`${folder}/out/events.jsonl`) ?? '');
      expect({ name, lines }).toEqual({ name, lines: real[index] });
    }
  });
});
