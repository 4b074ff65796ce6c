import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { residentMemory } from './support/memory.ts';
import { expectEveryLineOnce, followed, LAST_WRITE, MEETINGS } from './support/rotations.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const INPUT = 'in/a.log';

/** What logrotate does with `copytruncate`. The copy is not an input: it would come twice. */
function copyTruncate(trial: Trial): void {
  fs.copyFileSync(trial.path(INPUT), trial.path('in/copy'));
  fs.truncateSync(trial.path(INPUT));
}

/** Bytes lost, as the summary of a run has them. */
const lostBytes = (stderr: string) =>
  Number(/^ {2}lost +([\d,]+) +bytes/m.exec(stderr)?.[1]?.replaceAll(',', '') ?? 0);

describe.each(MEETINGS)('a file that is copied and truncated, $when', (meeting) => {
  it.each([
    ['shorter than it was', LAST_WRITE],
    ['longer than it was', 600],
  ])('is read again, and every line comes once: it becomes %s', async (_, count) => {
    await expectEveryLineOnce(meeting, {
      paths: INPUT,
      begin: (trial) => trial.appendLines(INPUT, 100),
      // What is not read by then is lost, which is another test.
      ready: async (trial) => {
        await followed(trial);
        await trial.allAcknowledged();
      },
      rotate: (trial) => {
        copyTruncate(trial);
        trial.appendLines(INPUT, count);
      },
    });
  });
});

describe('a file that is truncated before it is read', () => {
  it('loses what was cut off, which is counted to the byte, and nothing else', async () => {
    const trial = new Trial(fileToDisk({ paths: INPUT, delay: 0.004, pipeline: 'max_in_flight: 2' }));
    // All of it is there when it is found, so that its size is known. It is larger than what is read at a time.
    const long = () => `${trial.oracle.line('x'.repeat(1000))}\n`;
    trial.append(INPUT, Array.from({ length: 2500 }, long).join(''));
    const before = fs.statSync(trial.path(INPUT)).size;
    const child = await trial.run();
    await trial.until(() => trial.delivered > 0);
    copyTruncate(trial);
    const last = trial.oracle.written;
    await child.shows('stderr', /truncated before it was read: lost at least \d+ bytes?/);
    trial.append(INPUT, trial.oracle.lines(100));
    const found = () => trial.oracle.found([trial.path('out')]);
    await trial.until(() => found().has(last + 99));
    const { stderr } = await kill(child, 'SIGTERM');
    const copy = fs.readFileSync(trial.path('in/copy'), 'utf8');
    const read = before - lostBytes(stderr);
    // Whole lines within what was read have come; of the one that the truncation went through a part may have.
    const whole = copy.slice(0, read).split('\n').length - 1;
    const numbers = [...found().keys()].sort((a, b) => a - b);
    const wanted = [...Array(whole).keys(), ...Array.from({ length: 100 }, (_, n) => last + n)];
    expect(numbers.filter((id) => id !== whole)).toEqual(wanted);
    expect(lostBytes(stderr)).toBeGreaterThan(0);
    expect(trial.verdict()).toMatchObject({ seed: trial.oracle.seed, doubled: 0, leaks: [] });
  });
});

const MB = 1024 * 1024;

it('a hole that a truncation leaves is skipped: its first line comes whole, and memory stays as it was', async () => {
  const trial = new Trial(fileToDisk({ paths: INPUT }));
  trial.appendLines(INPUT, 100);
  const child = await trial.run();
  await trial.allDelivered();
  const before = process.platform === 'linux' ? residentMemory(child).peak : 0;
  // A writer that does not append goes on at its own offset.
  const writer = fs.openSync(trial.path(INPUT), 'r+');
  fs.ftruncateSync(writer, 0);
  fs.writeSync(writer, trial.oracle.lines(100), 40 * MB);
  fs.closeSync(writer);
  await trial.allDelivered();
  if (process.platform === 'linux') expect(residentMemory(child).peak - before).toBeLessThan(40);
  const { stderr } = await kill(child, 'SIGTERM');
  expect(stderr).toContain(`starts with ${40 * MB} NUL bytes, which were skipped`);
  expect(stderr).toMatch(/truncated +1 +times: lines written just before may be lost/);
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});

it('a file that is truncated between two runs, and has the same beginning, length and end since, is read', async () => {
  const trial = new Trial(fileToDisk({ paths: INPUT }));
  const banner = `${'='.repeat(1200)}\n`;
  const end = `${'-'.repeat(200)}\n`;
  const life = () =>
    `${banner}${Array.from({ length: 50 }, () => `${trial.oracle.line('x')}\n`).join('')}${end}`;
  trial.append(INPUT, life());
  await trial.runOnce();
  const { size } = fs.statSync(trial.path(INPUT));
  fs.writeFileSync(trial.path(INPUT), life());
  expect(fs.statSync(trial.path(INPUT)).size).toBeGreaterThanOrEqual(size);
  const { stderr } = await trial.runOnce();
  expect(stderr).toContain('was truncated or replaced: reading it from its beginning');
  expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
});
