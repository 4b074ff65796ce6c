import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { folderWith, runCommand } from '../support/cli.ts';
import { MODULES } from './configs.ts';

const REFUSING = `
export const get_config_schema = () => ({ safeParse: (data) => ({ success: true, data }) });
export const forward = () => { throw Object.assign(new Error('no'), { permanent: true }); };
`;
const config = (forwarder: string) => `
collectors: { log: { plugin: file, paths: [in.log], backfill: true } }
processors: { mask: { plugin: regex_mask, rules: { digits: '[0-9]+' } } }
forwarders:
  target: ${forwarder}
  dead: { plugin: disk, path: out, filename: dead.jsonl }
pipelines:
  web: { collect: log, process: mask, forward: target, delivery: { dead_letter: dead } }
host_config: {}
`;
const GOOD = config('{ plugin: disk, path: out, filename: good.jsonl }');
const BAD = config('{ plugin: ./refusing.mjs }');

const entry = (data: object) => `${JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', data })}\n`;
const failed = (line: string, pipeline = 'web') =>
  entry({ error: 'no', pipeline, plugin: 'target', time: '', event: { data: { line } } });
const WITHHELD = entry({ error: 'no', pipeline: 'web', plugin: 'mask', time: '', withheld: 'not masked' });

const linesIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text).data.line);

function folder(dead: string, yaml = GOOD) {
  const cwd = folderWith({ ...MODULES, 'refusing.mjs': REFUSING, 'p.yaml': yaml, 'out/dead.jsonl': dead });
  const replay = (...args: string[]) =>
    runCommand(['replay', 'out/dead.jsonl', '--pipeline', 'web', 'p.yaml', ...args], { cwd });
  return { cwd, replay, good: join(cwd, 'out/good.jsonl'), dead: join(cwd, 'out/dead.jsonl') };
}

describe('millrace replay', () => {
  it('sends what a forwarder refused through the pipeline again, once that is repaired', async () => {
    const { cwd, replay, good, dead } = folder('', BAD);
    writeFileSync(join(cwd, 'in.log'), 'a 1\nb 2\nc 3\n');
    expect((await runCommand(['run', 'p.yaml', '--once'], { cwd })).code).toBe(0);
    const letters = readFileSync(dead, 'utf8');
    writeFileSync(join(cwd, 'p.yaml'), GOOD);
    const { code, stderr } = await replay();
    expect(code).toBe(0);
    expect(linesIn(good)).toEqual(['a <:digits:>', 'b <:digits:>', 'c <:digits:>']);
    expect(stderr).toMatch(/out\/dead\.jsonl: 3 sent\n$/);
    expect(readFileSync(dead, 'utf8')).toBe(letters);
  });

  it('masks what it sends', async () => {
    const { replay, good } = folder(failed('secret 4711'));
    expect((await replay()).code).toBe(0);
    expect(linesIn(good)).toEqual(['secret <:digits:>']);
  });

  describe('in a pipeline with several forwarders', () => {
    const TWO = GOOD.replace('forward: target', 'forward: [target, other]').replace(
      '  dead:',
      '  other: { plugin: disk, path: out, filename: other.jsonl }\n  dead:',
    );
    const by = (plugin: string, line: string) =>
      failed(line).replace('"plugin":"target"', `"plugin":"${plugin}"`);

    it('sends an event to the one that did not take it', async () => {
      const { cwd, replay, good } = folder(by('target', 'a') + by('other', 'b') + by('target', 'c'), TWO);
      const { code, stderr } = await replay();
      expect(code).toBe(0);
      expect(linesIn(good)).toEqual(['a', 'c']);
      expect(linesIn(join(cwd, 'out/other.jsonl'))).toEqual(['b']);
      expect(stderr).toMatch(/dead\.jsonl: 3 sent\n$/);
    });

    it('sends to all what a processor failed on, and, saying so once, what one failed on that is gone', async () => {
      const { cwd, replay, good } = folder(by('mask', 'a') + by('gone', 'b') + by('gone', 'c'), TWO);
      const { code, stderr } = await replay();
      expect(code).toBe(0);
      for (const path of [good, join(cwd, 'out/other.jsonl')]) expect(linesIn(path)).toEqual(['a', 'b', 'c']);
      expect(stderr.match(/is not a forwarder of pipeline web/g)).toHaveLength(1);
      expect(stderr).toContain(
        '`gone` is not a forwarder of pipeline web: events that it failed on go to all forwarders',
      );
    });

    it('goes by the kind of what failed where a name is that of a processor and of a forwarder', async () => {
      const yaml = TWO.replace('mask:', 'target:').replace('process: mask', 'process: target');
      const of = (kind: string, line: string) =>
        failed(line).replace('"plugin"', `"kind":"${kind}","plugin"`);
      const { cwd, replay, good } = folder(of('forward', 'a') + of('process', 'b') + failed('c'), yaml);
      expect((await replay()).code).toBe(0);
      expect(linesIn(good).sort()).toEqual(['a', 'b', 'c']);
      expect(linesIn(join(cwd, 'out/other.jsonl'))).toEqual(['b', 'c']);
    });

    it('sends all to all with --all-forwarders', async () => {
      const { cwd, replay, good } = folder(by('target', 'a') + by('other', 'b'), TWO);
      expect((await replay('--all-forwarders')).code).toBe(0);
      for (const path of [good, join(cwd, 'out/other.jsonl')]) expect(linesIn(path)).toEqual(['a', 'b']);
    });

    it('sends on what comes behind a forwarder that refuses again, with exit code 1', async () => {
      const yaml = TWO.replace(
        '{ plugin: disk, path: out, filename: good.jsonl }',
        '{ plugin: ./refusing.mjs }',
      );
      const { cwd, replay } = folder(by('target', 'a') + by('other', 'b'), yaml);
      expect((await replay()).code).toBe(1);
      expect(linesIn(join(cwd, 'out/other.jsonl'))).toEqual(['b']);
    });
  });

  it('names withheld entries and unreadable lines by their number, and never quotes them', async () => {
    const { replay, good, dead } = folder(
      `${failed('a')}{"data": 4711 hunter2\n${WITHHELD}"hunter2"\n\n{"data":{"line":"hunter2"}}\n`,
    );
    appendFileSync(dead, failed('b').trimEnd());
    const { code, stderr } = await replay();
    expect(code).toBe(1);
    expect(linesIn(good)).toEqual(['a', 'b']);
    expect(stderr).toContain('out/dead.jsonl:2: cannot be sent: it is not JSON');
    expect(stderr).toContain('out/dead.jsonl:3: cannot be sent: its event was withheld, because mask failed');
    expect(stderr).toContain('out/dead.jsonl:4: cannot be sent: it is not an event');
    expect(stderr).toContain('out/dead.jsonl:6: cannot be sent: it is not an entry of a dead letter');
    expect(stderr).toContain('2 sent, 1 withheld, 3 unreadable');
    expect(stderr).not.toContain('hunter2');
  });

  it('names ten such lines, and counts the rest', async () => {
    const { replay } = folder('x\n'.repeat(25));
    const { code, stderr } = await replay();
    expect(code).toBe(1);
    expect(stderr.match(/it is not JSON/g)).toHaveLength(10);
    expect(stderr).toContain('0 sent, 25 unreadable');
  });

  it('leaves out the entries of other pipelines, unless --from asks for them', async () => {
    const { replay, good } = folder(failed('a') + failed('b', 'api') + failed('c', 'api'));
    const own = await replay();
    expect(own.code).toBe(0);
    expect(own.stderr).toContain('1 sent, 2 of pipeline api left out');
    expect(linesIn(good)).toEqual(['a']);
    await replay('--from', 'api');
    expect(linesIn(good)).toEqual(['a', 'b', 'c']);
  });

  it('names the nearest pipeline where it finds no entry of the one asked for', async () => {
    const { replay } = folder(failed('a', 'api') + failed('b', 'backend'));
    expect((await replay('--from', 'aip')).stderr).toContain(
      'no entry is of pipeline aip; did you mean `--from api`?',
    );
    expect((await replay()).stderr).toContain(
      'no entry is of pipeline web; it has entries of `api`, `backend`',
    );
  });

  it('ends when what fails again goes to the file that is replayed, with exit code 1', async () => {
    const { replay, dead } = folder(failed('a') + failed('b'), BAD);
    const { code, stderr } = await replay();
    expect(code).toBe(1);
    expect(stderr).toContain('dead-lettered');
    expect(stderr).toContain('2 sent (2 dead-lettered again)');
    expect(readFileSync(dead, 'utf8').trimEnd().split('\n')).toHaveLength(4);
  });

  it.each([
    [['replay', '--pipeline', 'web'], 'replay needs a file of dead letters'],
    [['replay', 'out/dead.jsonl', 'p.yaml'], '--pipeline'],
    [
      ['replay', 'out/dead.jsonl', '--pipeline', 'web'],
      'replay needs at least one configuration file, such as: millrace replay dead.jsonl --pipeline web pipelines.yaml',
    ],
    [
      ['replay', 'dead.gz', '--pipeline', 'web', 'p.yaml'],
      'dead.gz: looks like gzip; expected JSON, one object per line: unpack it',
    ],
    [['replay', 'none.jsonl', '--pipeline', 'web', 'p.yaml'], 'ENOENT'],
    [['replay', 'out', '--pipeline', 'web', 'p.yaml'], 'out: not a file'],
    [['replay', 'out/dead.jsonl', '--pipeline', 'wep', 'p.yaml'], 'Did you mean `web`?'],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { cwd, good } = folder(failed('a'));
    writeFileSync(join(cwd, 'dead.gz'), gzipSync(failed('a')));
    const { code, stderr } = await runCommand(args, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(good)).toBe(false);
  });

  it('refuses a pipeline that delivers exactly once: its next run would cut off what is sent', async () => {
    const yaml = GOOD.replace('forward: target,', 'forward: target, exactly_once: true,');
    const { replay } = folder(failed('a'), yaml);
    const { code, stderr } = await replay();
    expect(code).toBe(2);
    expect(stderr).toContain('exactly_once');
  });
});
