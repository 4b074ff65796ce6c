import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Observable } from 'rxjs';
import { InFlightWindow } from '../../../operators/in-flight-window.ts';
import exec from '../../../plugins/collect/exec.ts';
import type { PipelineRunContext } from '../../../src/sdk/context.ts';
import type { EventBatch } from '../../../src/sdk/event-batch.ts';
import { testContext } from '../../support/context.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/pipelines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** What stops the runs of a test. */
let stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  delete process.env.MILLRACE_TEST_SECRET;
  await Promise.all(stops.map((stop) => stop()));
  stops = [];
});
const folder = tempFolder();

const node = (script: string, ...args: string[]) => [process.execPath, '-e', script, ...args];
const shell = (script: string) => ['/bin/sh', '-c', script];

function run(settings: object, overrides: Partial<PipelineRunContext> = {}) {
  const parsed = exec.get_config_schema().safeParse({ plugin: 'exec', ...settings });
  if (!parsed.success) throw new Error('the settings are wrong');
  const logger = recordingLogger();
  const ended: Observable<unknown>[] = [];
  const beforeEnd = (work$: Observable<unknown>) => void ended.push(work$);
  const ctx = testContext(parsed.data as { plugin: string }, { logger, beforeEnd, ...overrides });
  const batches: EventBatch[] = [];
  const result = { batches, error: undefined as unknown, isCompleted: false };
  const subscription = (exec.collect({ ctx: ctx as never }) as Observable<EventBatch>).subscribe({
    next: (batch) => {
      if (overrides.demand instanceof InFlightWindow) overrides.demand.take(batch.size);
      batches.push(batch);
    },
    error: (error) => {
      result.error = error;
    },
    complete: () => {
      result.isCompleted = true;
    },
  });
  const data = () => batches.flatMap((batch) => batch.events.map(({ data }) => data));
  const stopped = () =>
    new Promise<void>((resolve, reject) => {
      ended[0]?.subscribe({ error: reject, complete: resolve });
    });
  stops.push(() => {
    subscription.unsubscribe();
    return stopped();
  });
  return Object.assign(result, {
    subscription,
    data,
    logger,
    stopped,
    lines: () => data().map(({ line }) => line),
  });
}

const acknowledge = (batches: readonly EventBatch[]) => {
  for (const batch of batches) batch.acknowledge?.('forwarded');
};

/** Whether a process runs: a zombie does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('exec collector', () => {
  it('emits one event for each line, and completes with `once` when the command has ended', async () => {
    const reading = run({ command: shell('printf "one\\r\\ntwo\\n\\nthree"') }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.data()).toEqual(['one', 'two', '', 'three'].map((line) => ({ line, source: '/bin/sh' })));
  });

  it('gives arguments as they are: no shell sees them', async () => {
    const odd = ['$HOME', '; echo no', '*', '', 'a b', "'"];
    const script = 'for (const arg of process.argv.slice(1)) console.log(JSON.stringify(arg))';
    const reading = run({ command: node(script, ...odd) }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.lines()).toEqual(odd.map((arg) => JSON.stringify(arg)));
  });

  it('inherits nothing of the environment but what is documented', async () => {
    process.env.MILLRACE_TEST_SECRET = 'hunter2';
    const env = { TOKEN: { env: 'MILLRACE_TEST_SECRET' }, EMPTY_NAME: 'x' };
    const reading = run({ command: node('console.log(JSON.stringify(process.env))'), env }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    const seen = JSON.parse(String(reading.lines()[0]));
    expect(seen).toMatchObject({ TOKEN: 'hunter2', EMPTY_NAME: 'x', PATH: process.env.PATH });
    const others = Object.keys(seen).filter(
      (name) =>
        !/^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TOKEN|EMPTY_NAME)$/.test(name),
    );
    expect(others).toEqual([]);
  });

  it('runs in `cwd`, and has nothing to read on standard input', async () => {
    const reading = run(
      { command: shell('pwd; cat; echo end'), cwd: fs.realpathSync(folder()) },
      { once: true },
    );
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.lines()).toEqual([fs.realpathSync(folder()), 'end']);
  });

  it.each([
    ['exit 3', 'exit code 3'],
    ['kill -TERM $$', 'the signal SIGTERM'],
  ])('fails with `once` if the command does: %s, after its lines', async (script, how) => {
    const reading = run({ command: shell(`echo last; ${script}`) }, { once: true });
    await eventually(() => expect(reading.error).toBeDefined());
    expect(reading.lines()).toEqual(['last']);
    expect(reading.error).toMatchObject({
      message: `\`/bin/sh\` ended with ${how}`,
      permanent: true,
      fatal: true,
    });
  });

  it.each([
    [
      { command: ['no-such-program-here'] },
      'cannot start `no-such-program-here`: ENOENT: no such file or directory',
    ],
    [{ command: ['/etc/passwd'] }, 'cannot start `/etc/passwd`: EACCES: permission denied'],
    [{ command: ['true'], cwd: '/nowhere' }, 'cannot start `true`: its `cwd`, /nowhere, is not a folder'],
  ])('says why a command cannot be started: %j', async (settings, message) => {
    const once = run(settings, { once: true });
    await eventually(() => expect(once.error).toBeDefined());
    expect((once.error as Error).message).toContain(message);
    const following = run(settings);
    await eventually(() => expect(following.logger.lines.join()).toContain(message));
    expect(following.logger.lines[0]).toMatch(
      /^warn test: collector exec: cannot start .*; starting .* again in \d/,
    );
    expect(following.error).toBeUndefined();
  });

  it('starts a command again that has ended, and says how it ended', async () => {
    const script = `echo start; test -e ${folder('a')} && exit 5; touch ${folder('a')}`;
    const reading = run({ command: shell(script) }, { random: () => 0 });
    await eventually(() => expect(reading.lines().length).toBeGreaterThan(2));
    expect(reading.logger.lines.slice(0, 3)).toEqual([
      'info test: collector exec: `/bin/sh` ended with exit code 0',
      'info test: collector exec: starting `/bin/sh` again in 0.0 s',
      'warn test: collector exec: `/bin/sh` ended with exit code 5; starting `/bin/sh` again in 0.0 s',
    ]);
  });

  it('runs a command at intervals, also one that fails', async () => {
    const reading = run({ command: shell('echo up; exit 1'), interval: 0.05 });
    await eventually(() => expect(reading.lines().length).toBeGreaterThan(2));
    expect(reading.error).toBeUndefined();
    expect(reading.logger.lines[0]).toBe(
      'warn test: collector exec: `/bin/sh` ended with exit code 1; it runs again at the next interval',
    );
  });

  it('only counts the lines of standard error, and never logs them', async () => {
    const reading = run(
      { command: shell('echo password=hunter2 >&2; echo out; exit 1') },
      { random: () => 0 },
    );
    await eventually(() => expect(reading.logger.lines.length).toBeGreaterThan(0));
    expect(reading.logger.lines[0]).toContain('it wrote 1 line to its standard error');
    expect(reading.logger.lines.join()).not.toContain('hunter2');
    expect(new Set(reading.lines())).toEqual(new Set(['out']));
  });

  it('collects standard error if it is to, and says which stream a line is of', async () => {
    const command = shell('echo out; echo err >&2');
    const reading = run({ command, stderr: 'collect' }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    const source = '/bin/sh';
    expect(reading.data()).toHaveLength(2);
    expect(reading.data()).toEqual(
      expect.arrayContaining([
        { line: 'out', source, stream: 'stdout' },
        { line: 'err', source, stream: 'stderr' },
      ]),
    );
  });

  it('does not stop a command that writes a lot to standard error', async () => {
    const script =
      'process.stderr.write("x".repeat(80) .concat("\\n").repeat(20_000), () => console.log("done"))';
    const reading = run({ command: node(script) }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.lines()).toEqual(['done']);
  });

  it('cuts a line that is too long, decodes another encoding, and leaves out empty lines', async () => {
    const script =
      'process.stdout.write(Buffer.concat([Buffer.alloc(200_000, 120), Buffer.from("\\n\\nd\\xe9j\\xe0\\n", "latin1")]))';
    const settings = { max_line_bytes: 131_072, encoding: 'latin1', skip_empty_lines: true };
    const reading = run({ command: node(script), ...settings }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    expect(reading.lines()).toEqual(['x'.repeat(131_072), 'd\xe9j\xe0']);
    expect(reading.batches[0]?.events[0]).toMatchObject({ truncated: true });
  });

  it('does not read on while there is no room: the command waits', async () => {
    const script =
      'let n = 0; const go = () => { while (process.stdout.write(`${n++}\\n`)); require("fs").writeFileSync(process.argv[1], String(n)); process.stdout.once("drain", go); }; go()';
    const demand = new InFlightWindow(2);
    const reading = run({ command: node(script, folder('n')) }, { demand });
    await eventually(() => expect(reading.lines()).toEqual(['0', '1']));
    const written = () => Number(fs.existsSync(folder('n')) && fs.readFileSync(folder('n'), 'utf8'));
    let before = -1;
    // What a pipe and two streams hold, and no more.
    await eventually(async () => {
      const now = written();
      if (now !== before) await delay(300);
      before = now;
      return now > 0 && now === written();
    });
    expect(written()).toBeLessThan(200_000);
    demand.release(2);
    acknowledge(reading.batches);
    await eventually(() => expect(reading.lines()).toEqual(['0', '1', '2', '3']));
  });

  it('emits again what a failed run had in flight', async () => {
    const cache = {};
    const command = shell('echo one; echo two; exec sleep 600');
    const first = run({ command }, { cache });
    await eventually(() => expect(first.lines()).toEqual(['one', 'two']));
    first.subscription.unsubscribe();
    await first.stopped();
    const second = run({ command: shell('echo three; exec sleep 600') }, { cache });
    acknowledge(first.batches);
    await eventually(() => expect(second.lines()).toEqual(['one', 'two', 'three']));
    acknowledge(second.batches);
    second.subscription.unsubscribe();
    const third = run({ command: shell('echo four; exec sleep 600') }, { cache });
    await eventually(() => expect(third.lines()).toEqual(['four']));
  });

  it('ends the command and all that it has started, and waits for that', async () => {
    const command = shell('sleep 600 & echo $!; sleep 600 & echo $!; echo $$; wait');
    const reading = run({ command });
    await eventually(() => expect(reading.lines()).toHaveLength(3));
    const pids = reading.lines().map(Number);
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    reading.subscription.unsubscribe();
    await reading.stopped();
    expect(pids.map(isAlive)).toEqual([false, false, false]);
  });

  it('kills what does not end by SIGTERM', async () => {
    const command = shell('trap "" TERM; sleep 600 & echo $!; echo $$; wait; while :; do sleep 1; done');
    const reading = run({ command });
    await eventually(() => expect(reading.lines()).toHaveLength(2));
    const pids = reading.lines().map(Number);
    reading.subscription.unsubscribe();
    expect(pids.map(isAlive)).toEqual([true, true]);
    await reading.stopped();
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]));
  });

  it('is not held up by what an ended command has left running', async () => {
    const reading = run({ command: shell('sleep 600 & echo $!') }, { once: true });
    await eventually(() => expect(reading.isCompleted).toBe(true));
    const [pid] = reading.lines().map(Number);
    await eventually(() => expect(isAlive(pid as number)).toBe(false));
  });

  it.each([
    [{ command: [] }, 'command'],
    [{ command: [''] }, 'command'],
    [{ command: 'ls -l' }, 'command'],
    [{ command: ['a\0b'] }, 'command'],
    [{ command: ['ls'], env: { 'A=B': 'c' } }, 'env'],
    [{ command: ['ls'], interval: 0 }, 'interval'],
    [{ command: ['ls'], shell: true }, undefined],
  ])('refuses %j', (settings, field) => {
    const result = exec.get_config_schema().safeParse({ plugin: 'exec', ...settings });
    expect(result.success).toBe(false);
    if (!result.success && field !== undefined) expect(result.error.issues[0]?.path[0]).toBe(field);
  });
});
