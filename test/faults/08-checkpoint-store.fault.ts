import fs from 'node:fs';
import { expect, it } from '@jest/globals';
import { byForm } from './support/form.ts';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const ROUNDS = byForm({ short: 6, long: 200 });
const BEFORE = 300;
const SINCE = 200;

/** Does something to the bytes of a file, or takes it away. */
type Damage = (bytes: Buffer, trial: Trial) => Buffer | undefined;

/** Less than the header, so that nothing of it can be read. */
const beginOf = (bytes: Buffer) => bytes.subarray(0, 20);

const DAMAGES = Object.entries<Damage>({
  zeroed: (bytes) => Buffer.alloc(bytes.length),
  'cut after its start': beginOf,
  'cut to nothing': () => Buffer.alloc(0),
  'torn, all but its start of another time': (bytes) =>
    Buffer.concat([beginOf(bytes), Buffer.from(bytes.subarray(beginOf(bytes).length)).reverse()]),
  'no store at all': (bytes) => Buffer.alloc(bytes.length, "This is somebody's shopping list.\n"),
});
const missing: Damage = () => undefined;

/** A page, a few bytes or the end of it. */
const atRandom: Damage = (bytes, { oracle }) => {
  const at = oracle.between(0, bytes.length - 1);
  const what = oracle.between(0, 3);
  if (what === 0) return bytes.subarray(0, at);
  const length = what === 1 ? 4096 : oracle.between(1, 64);
  const start = what === 1 ? at - (at % 4096) : at;
  const damaged = Buffer.from(bytes);
  for (let n = start; n < Math.min(start + length, bytes.length); n++) {
    damaged[n] = what === 2 ? 0 : oracle.between(0, 255);
  }
  return damaged;
};

/** A state folder in good order, lines that were delivered under it, and more that have come since. */
async function folderInUse(end: 'SIGTERM' | 'SIGKILL'): Promise<Trial> {
  const trial = new Trial(fileToDisk());
  trial.append('in/a.log', trial.oracle.lines(BEFORE));
  const child = await trial.run();
  await trial.allAcknowledged();
  await kill(child, end);
  trial.append('in/a.log', trial.oracle.lines(SINCE));
  trial.rename('out', 'before');
  trial.rename('state', 'good');
  return trial;
}

/** The files of the folder in good order. A process that was killed leaves its lock as well, a socket. */
function filesOf(trial: Trial): string[] {
  const entries = fs.readdirSync(trial.path('good'), { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** One run from a damaged copy of the folder. Expects that no line is lost, and a word on those that come twice. */
async function runDamaged(trial: Trial, names: readonly string[], damage: Damage) {
  for (const name of ['state', 'out']) fs.rmSync(trial.path(name), { recursive: true, force: true });
  fs.mkdirSync(trial.path('state'));
  for (const name of filesOf(trial)) fs.copyFileSync(trial.path('good', name), trial.path('state', name));
  for (const name of names) {
    const path = trial.path('state', name);
    const damaged = damage(fs.readFileSync(path), trial);
    if (damaged === undefined) fs.rmSync(path);
    else fs.writeFileSync(path, damaged);
  }
  const { code, stderr } = await trial.runOnce();
  const verdict = trial.verdict({ outputs: [trial.path('before'), trial.path('out')] });
  expect({ ...verdict, code, stderr }).toEqual({
    ...FLAWLESS,
    ...verdict,
    lost: 0,
    torn: 0,
    code: 0,
    stderr,
  });
  expect(verdict.doubled).toBeLessThanOrEqual(BEFORE);
  return { stderr, doubled: verdict.doubled };
}

it.each([...DAMAGES, ['missing', missing]] as const)(
  'a store that is %s after a clean stop: nothing comes twice',
  async (name, damage) => {
    const trial = await folderInUse('SIGTERM');
    const { stderr, doubled } = await runDamaged(trial, ['state.journal'], damage);
    expect(doubled).toBe(0);
    expect(stderr).toMatch(/state\.journal is (broken|missing).*going on with the copy/i);
    expect(fs.existsSync(trial.path('state/state.journal.broken-1'))).toBe(name !== 'missing');
  },
);

it.each(DAMAGES)('a store that is %s after a kill, no copy: all is read again', async (_, damage) => {
  const trial = await folderInUse('SIGKILL');
  // A run that took 10 s has written one.
  fs.rmSync(trial.path('good/state.copy'), { force: true });
  const { stderr, doubled } = await runDamaged(trial, ['state.journal'], damage);
  expect(doubled).toBe(BEFORE);
  expect(stderr).toMatch(/state\.journal is broken.*It is kept as/);
});

it.each(DAMAGES)('store and copies that are %s: all is read again', async (_, damage) => {
  const trial = await folderInUse('SIGTERM');
  const { stderr, doubled } = await runDamaged(trial, filesOf(trial), damage);
  expect(doubled).toBe(BEFORE);
  expect(stderr).toMatch(/There is no good copy: all files are treated as new/);
});

it(`${ROUNDS} damages at random, of any file of the folder: never a line lost, never a crash`, async () => {
  const trial = await folderInUse('SIGTERM');
  const killed = await folderInUse('SIGKILL');
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of [trial, killed]) {
      const names = filesOf(each).filter(() => each.oracle.random() < 0.5);
      await runDamaged(each, names, atRandom);
    }
  }
});
