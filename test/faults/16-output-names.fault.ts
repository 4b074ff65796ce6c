import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { FLAWLESS, fileToDisk, kill, Trial } from './support/trial.ts';

const THEIRS = 'what was there before\n';

describe('a name that leads out of the folder', () => {
  const names = ['../out.jsonl', '..', '.', '/etc/out', 'a/b', 'a\\\\b', 'a\\0b', './out', '', 'a/../../b'];

  it.each(names)('is refused before anything starts: "%s"', async (name) => {
    const trial = new Trial(fileToDisk({ forwarder: `plugin: disk, path: out, filename: "${name}"` }));
    trial.append('in/a.log', trial.oracle.lines(1));
    const { code, stderr } = await trial.runOnce();
    expect(code).toBe(2);
    expect(stderr).toMatch(/forwarders\.out\.filename: found .*; expected a bare file name/);
    expect(fs.readdirSync(trial.folder).sort()).toEqual(['in', 'p.yaml']);
  });

  it('is refused in a dead letter as well, and a path with a NUL byte anywhere', async () => {
    for (const forwarder of ['plugin: disk, path: "out\\0", filename: a', 'plugin: test, path: "a\\0b"']) {
      const trial = new Trial(fileToDisk({ forwarder }));
      const { code, stderr } = await trial.runOnce();
      expect(code).toBe(2);
      expect(stderr).toMatch(/forwarders\.out\.path: found/);
    }
  });
});

describe('what the data say', () => {
  it('has no say in where they go', async () => {
    const trial = new Trial(fileToDisk({ forwarder: 'plugin: disk, path: out' }));
    const hostile = ['../../x', '/etc/passwd', '..\\..\\x', 'a\0b', '$HOME', '`id`', '%2e%2e%2f', '-rf /'];
    for (const name of hostile) trial.append(`in/a.log`, `${name}\n`);
    expect((await trial.runOnce()).code).toBe(0);
    const wanted = hostile.map((_, n) => `event-dump-${n + 1}.json`);
    expect(fs.readdirSync(trial.path('out')).sort()).toEqual(wanted.sort());
    expect(fs.readdirSync(trial.folder).sort()).toEqual(['in', 'out', 'p.yaml', 'state']);
  });
});

describe('what another program put in the place of an output', () => {
  /** A trial with lines to deliver, and another program's file beside its folder. */
  function withTheirs(forwarder?: string): Trial {
    const trial = new Trial(fileToDisk(forwarder === undefined ? {} : { forwarder }));
    trial.append('in/a.log', trial.oracle.lines(50));
    trial.append('theirs/file', THEIRS);
    fs.mkdirSync(trial.path('out'));
    return trial;
  }

  it.each([
    ['a symbolic link to a file', (path: string) => fs.symlinkSync('../theirs/file', path), /symbolic link/],
    [
      'a symbolic link that leads nowhere',
      (path: string) => fs.symlinkSync('../theirs/new', path),
      /symbolic link/,
    ],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path]), /not a regular file/],
    ['a folder', (path: string) => fs.mkdirSync(path), /EISDIR/],
  ])(
    'is not written to: %s. It says so, acknowledges nothing, and delivers when that is gone',
    async (_, put, word) => {
      const trial = withTheirs();
      put(trial.path('out/out.jsonl'));
      const child = await trial.run();
      await child.shows('stderr', word);
      await kill(child);
      expect(trial.text('theirs/file')).toBe(THEIRS);
      expect(fs.readdirSync(trial.path('theirs'))).toEqual(['file']);
      fs.rmSync(trial.path('out/out.jsonl'), { recursive: true });
      expect(await trial.runOnce()).toMatchObject({ code: 0 });
      expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
    },
  );

  it('is left alone where each event has a file of its own', async () => {
    const trial = withTheirs('plugin: disk, path: out');
    for (const n of [1, 2, 5]) fs.symlinkSync('../theirs/file', trial.path(`out/event-dump-${n}.json`));
    fs.symlinkSync('../theirs/new', trial.path('out/event-dump-7.json'));
    expect(await trial.runOnce()).toMatchObject({ code: 0 });
    expect(trial.text('theirs/file')).toBe(THEIRS);
    expect(fs.readdirSync(trial.path('theirs'))).toEqual(['file']);
    for (const n of [1, 2, 5, 7]) fs.rmSync(trial.path(`out/event-dump-${n}.json`));
    expect(trial.verdict()).toEqual({ ...FLAWLESS, seed: trial.oracle.seed });
  });

  it('is not written to in the state folder', async () => {
    const trial = withTheirs();
    fs.mkdirSync(trial.path('state'));
    const names = ['state.journal', 'state.journal.new', 'state.copy', 'state.copy.new', 'state.backup'];
    for (const name of names) fs.symlinkSync('../theirs/file', trial.path('state', name));
    await trial.runOnce();
    expect(trial.text('theirs/file')).toBe(THEIRS);
    await trial.runOnce();
    expect(trial.text('theirs/file')).toBe(THEIRS);
    expect(trial.verdict()).toMatchObject({ lost: 0, torn: 0, leaks: [] });
  });
});
