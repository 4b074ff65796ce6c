import { describe, expect, it } from '@jest/globals';
import { EMPTY, NEVER, type Observable, of, Subject, throwError } from 'rxjs';
import { ExactlyOnce } from '../../src/engine/exactly-once.ts';
import { RetryLog } from '../../src/engine/retry-log.ts';
import type { CollectorState, StateValue } from '../../src/sdk/context.ts';
import { PluginError } from '../../src/sdk/errors.ts';
import type { OutputMark } from '../../src/sdk/plugin.ts';
import { marbles } from '../support/marbles.ts';
import { recordingLogger } from '../support/pipelines.ts';

/** A state folder in memory: what is committed is what a crash leaves. */
function memoryState() {
  const now = new Map<string, StateValue>();
  const committed: Record<string, StateValue>[] = [];
  const folder = { isFull: false };
  const state = (scope: string): CollectorState => ({
    get: (key) => now.get(`${scope} ${key}`),
    set: (key, value) => void now.set(`${scope} ${key}`, value),
    delete: (key) => void now.delete(`${scope} ${key}`),
    entries: () =>
      [...now]
        .filter(([key]) => key.startsWith(`${scope} `))
        .map(([key, value]): [string, StateValue] => [key.slice(scope.length + 1), value])
        .values(),
    get isPending() {
      return folder.isFull;
    },
    commit: () => {
      if (!folder.isFull) committed.push(Object.fromEntries(now));
    },
  });
  return { state, committed, folder };
}

const event = (n: number) => ({ timestamp: '', data: { n } });
const mark = (length: number, id = 'a'): OutputMark => ({ id, path: `/${id}`, length, head: '' });
const COLLECTORS = ['one', 'two'];
const record = (marks: OutputMark[], isComplete = false, collectors = COLLECTORS) => ({
  marks,
  isComplete,
  collectors,
});

/** Each event is one byte. `begin` tells of a file ahead of a write to it. */
function setUp(memory = memoryState(), { collectors = COLLECTORS, lost = [] as string[] } = {}) {
  const restored: (readonly OutputMark[])[] = [];
  const restoredLost: (readonly string[])[] = [];
  const lines = recordingLogger();
  const output = {
    length: 0,
    file: 'a',
    sync: (): Observable<never> => EMPTY,
    restore: (): Observable<never> => EMPTY,
    begin: (_: OutputMark): Observable<never> => EMPTY,
    removed: (_: { id: string; length: number }): void => {},
  };
  const exactly = new ExactlyOnce({
    state: memory.state,
    collectors,
    lostSources: () => of(lost),
    random: () => 0.5,
    name: 'cutting output back',
    giveUpAfter: undefined,
    log: new RetryLog('main: output', lines),
    pipeline: 'main',
    logger: lines,
    output: ({ begun, removed }) => {
      output.begin = begun;
      output.removed = removed;
      return {
        restore: (marks, lost) => {
          restored.push(marks);
          restoredLost.push(lost);
          return output.restore();
        },
        write: (events) => of(events.map(() => mark(++output.length, output.file))),
        sync: () => output.sync(),
      };
    },
  });
  const failures: unknown[] = [];
  const owner = { release: () => {}, failed: (error: unknown) => void failures.push(error) };
  const inputs = { one: exactly.stateOf('one'), two: exactly.stateOf('two') };
  const open = (name: 'one' | 'two', count: number, position: number) =>
    exactly.queueFor(owner).open(count, () => inputs[name].set('position', position));
  const write = (delivery: ReturnType<typeof open>, count: number) => {
    exactly.write(Array.from({ length: count }, (_, n) => event(n))).subscribe();
    exactly.written(count, delivery);
    delivery.acknowledge(count, 'forwarded');
  };
  return { exactly, memory, output, restored, restoredLost, open, write, lines, owner, failures, inputs };
}

describe('exactly once', () => {
  it('commits nothing after a collector has failed as it was told, so that the next run cuts all of it back', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write, owner, failures, inputs } = setUp();
      const run$ = new Subject<never>();
      exactly.around(run$).subscribe();
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 10), 1);
      flush();
      const committed = memory.committed.length;
      output.begin(mark(1)).subscribe();
      const bad = exactly.queueFor(owner).open(1, () => {
        inputs.two.set('position', 500);
        inputs.two.set('broken', Number.NaN);
      });
      write(bad, 1);
      write(open('one', 1, 20), 1);
      flush();
      run$.complete();
      expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('is NaN') })]);
      const after = memory.committed.slice(committed);
      expect(after.length).toBeGreaterThan(0);
      for (const state of after) {
        expect(state).toEqual({ 'exactly_once output': record([mark(1)]), 'one position': 10 });
      }
    });
  });

  it('commits where inputs and output are, together, and never a batch that is written in part', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      exactly.around(NEVER).subscribe();
      output.begin(mark(0)).subscribe();
      const first = open('one', 2, 20);
      const second = open('two', 3, 300);
      const third = open('one', 1, 30);
      write(first, 2);
      write(second, 2);
      third.acknowledge(1, 'dropped');
      flush();
      expect(memory.committed).toEqual([
        { 'exactly_once output': record([mark(0)]) },
        { 'exactly_once output': record([mark(2)]), 'one position': 20 },
      ]);
      write(second, 1);
      flush();
      expect(memory.committed.at(-1)).toEqual({
        'exactly_once output': record([mark(5)], true),
        'one position': 30,
        'two position': 300,
      });
    });
  });

  it('commits behind what was written of a batch in parts', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      exactly.around(NEVER).subscribe();
      output.begin(mark(0)).subscribe();
      const batch = open('one', 1, 10);
      write(
        batch.part(() => {}),
        1,
      );
      write(batch, 1);
      flush();
      expect(memory.committed.at(-1)).toEqual({
        'exactly_once output': record([mark(2)], true),
        'one position': 10,
      });
    });
  });

  it('keeps the file that the commit ends in, and those started since', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      exactly.around(NEVER).subscribe();
      output.begin(mark(0)).subscribe();
      const [first, second] = [open('one', 1, 10), open('one', 2, 20)] as const;
      write(first, 1);
      write(second, 1);
      output.file = 'b';
      output.length = 0;
      output.begin(mark(0, 'b')).subscribe();
      flush();
      expect(memory.committed.at(-1)).toMatchObject({
        'exactly_once output': record([mark(1), mark(0, 'b')]),
      });
      write(second, 1);
      flush();
      expect(memory.committed.at(-1)).toMatchObject({ 'exactly_once output': record([mark(1, 'b')], true) });
    });
  });

  it('says ahead of a write that it is not committed, and behind it that all is, for the file may go then', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write, lines } = setUp();
      exactly.around(NEVER).subscribe();
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 10), 1);
      flush();
      expect(memory.committed.at(-1)).toMatchObject({ 'exactly_once output': record([mark(1)], true) });
      output.begin(mark(1)).subscribe();
      expect(memory.committed.at(-1)).toMatchObject({ 'exactly_once output': record([mark(1)]) });
      output.begin(mark(2)).subscribe();
      expect(memory.committed.at(-1)).toMatchObject({ 'exactly_once output': record([mark(1)]) });
      expect(lines.lines).toEqual([]);
    });
  });

  it('no longer needs a file of which all is committed, and says that it goes on in another one', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      exactly.around(NEVER).subscribe();
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 10), 1);
      flush();
      const next = setUp(memory);
      next.exactly.around(NEVER).subscribe();
      next.output.begin({ ...mark(0, 'b'), path: '/a' }).subscribe();
      expect(next.restored).toEqual([]);
      expect(memory.committed.at(-1)).toMatchObject({
        'exactly_once output': record([{ ...mark(0, 'b'), path: '/a' }]),
      });
      expect(next.lines.lines).toEqual([
        'info main: the file that the last run wrote to is no longer /a; all of it was committed, and this run goes on in another file',
      ]);
    });
  });

  it('needs no file that is removed when all of it is committed, or that another one has taken the inode of', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      exactly.around(NEVER).subscribe();
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 10), 1);
      flush();
      output.removed(mark(1));
      output.length = 0;
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 20), 1);
      flush();
      expect(memory.committed.at(-1)).toEqual({
        'exactly_once output': record([mark(1)], true),
        'one position': 20,
      });
    });
  });

  it.each(['b', 'a'])(
    'forgets a committed file when the first write to its successor, inode %s, has started',
    (id) => {
      marbles(({ flush }) => {
        const { exactly, memory, output, open, write } = setUp();
        exactly.around(NEVER).subscribe();
        output.begin(mark(0)).subscribe();
        write(open('one', 1, 10), 1);
        flush();
        output.removed({ id: 'a', length: 1 });
        open('two', 0, 20).acknowledge(0, 'dropped');
        const sync$ = new Subject<never>();
        output.sync = () => sync$;
        // One commit is under way when the write starts, and another one follows while the write lasts.
        flush();
        output.begin(mark(0, id)).subscribe();
        sync$.complete();
        exactly.stateOf('one').set('position', 11);
        flush();
        expect(memory.committed.at(-1)).toEqual({
          'exactly_once output': record([mark(0, id)]),
          'one position': 11,
          'two position': 20,
        });
      });
    },
  );

  it('fails, and writes again from the last commit, when a file is removed before it is committed', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      let failure: unknown;
      exactly.around(NEVER).subscribe({
        error: (error) => {
          failure = error;
        },
      });
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 10), 1);
      write(open('one', 1, 20), 1);
      output.begin(mark(0, 'b')).subscribe();
      output.removed(mark(2));
      flush();
      expect(String(failure)).toMatch(/\/a was removed before all that was written to it was committed/);
      expect(memory.committed.at(-1)).toEqual({
        'exactly_once output': record([mark(0, 'b')]),
      });
    });
  });

  it('fails, and commits nothing, when the disk does not confirm what was written: another run does it again', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      output.sync = () => throwError(() => new PluginError('no room'));
      let failure: unknown;
      exactly.around(NEVER).subscribe({
        error: (error) => {
          failure = error;
        },
      });
      output.begin(mark(0)).subscribe();
      write(open('one', 1, 10), 1);
      flush();
      expect([String(failure), memory.committed.length]).toEqual(['PluginError: no room', 1]);
    });
  });

  it('tries to cut back until it can, and says so at growing intervals', () => {
    marbles(({ flush }) => {
      const memory = memoryState();
      setUp(memory).output.begin(mark(0)).subscribe();
      const { exactly, output, lines } = setUp(memory);
      let failures = 20;
      output.restore = () => (failures-- > 0 ? throwError(() => new PluginError('no room')) : EMPTY);
      let isOver = false;
      exactly.around(EMPTY).subscribe({
        complete: () => {
          isOver = true;
        },
      });
      flush();
      expect(isOver).toBe(true);
      expect(lines.lines).toEqual([
        'warn main: output: attempt 1 failed, trying again in 250 ms: no room',
        'warn main: output: still failing after 7 failed attempts over 16 s, trying again in 16.0 s: no room',
        'warn main: output: still failing after 8 failed attempts over 32 s, trying again in 30.0 s: no room',
        'warn main: output: still failing after 9 failed attempts over 62 s, trying again in 30.0 s: no room',
        'warn main: output: still failing after 17 failed attempts over 5 min, trying again in 30.0 s: no room',
        'info main: output: works again after 20 failed attempts over 7 min',
      ]);
    });
  });

  it('writes to no file that the state folder does not know of', () => {
    const { output, memory } = setUp();
    memory.folder.isFull = true;
    let failure: unknown;
    output.begin(mark(0)).subscribe({
      error: (error) => {
        failure = error;
      },
    });
    expect(String(failure)).toMatch(/nothing is written to \/a while the state folder/);
  });

  it('cuts back after a crash; after an end in good order what is there is not its own', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open, write } = setUp();
      const run$ = new Subject<never>();
      exactly.around(run$).subscribe();
      output.begin(mark(0)).subscribe();
      const first = open('one', 1, 10);
      write(first, 1);
      write(open('one', 2, 20), 1);
      flush();
      const second = setUp(memory);
      second.exactly.around(EMPTY).subscribe();
      expect(second.restored).toEqual([[mark(1)]]);
      expect(memory.committed.at(-1)).toMatchObject({ 'exactly_once output': record([mark(1)], true) });
      const third = setUp(memory);
      third.exactly.around(NEVER).subscribe();
      expect(third.restored).toEqual([]);
    });
  });

  it('tells the output which sources cannot be read again, before it is cut back', () => {
    marbles(() => {
      const memory = memoryState();
      setUp(memory).output.begin(mark(0)).subscribe();
      const next = setUp(memory, { collectors: ['two', 'three'], lost: ['/in/a.log'] });
      next.exactly.around(NEVER).subscribe();
      expect(next.restoredLost).toEqual([
        ['/in/a.log', 'the collector one, which the pipeline no longer has'],
      ]);
      // Until the output is cut back and written to again, it has events of the earlier collectors.
      expect(memory.committed.at(-1)).toEqual({ 'exactly_once output': record([mark(0)]) });
    });
  });

  it('keeps what a collector notes ahead of the write, and no commit that was under way undoes it', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open } = setUp();
      exactly.around(NEVER).subscribe();
      const one = exactly.stateOf('one');
      one.note?.('emitted', 1);
      one.set('position', 1);
      output.begin(mark(0)).subscribe();
      expect(memory.committed.at(-1)).toEqual({
        'exactly_once output': record([mark(0)]),
        'one emitted': 1,
        'one position': 1,
      });
      one.delete('emitted');
      open('one', 0, 2).acknowledge(0, 'dropped');
      const synced$ = new Subject<never>();
      output.sync = () => synced$;
      flush();
      one.note?.('emitted', 2);
      synced$.complete();
      expect([one.get('emitted'), memory.committed.at(-1)]).toEqual([
        2,
        expect.objectContaining({ 'one emitted': 2, 'one position': 2 }),
      ]);
      one.note?.('emitted', undefined);
      output.begin(mark(0)).subscribe();
      expect(memory.committed.at(-1)).not.toHaveProperty('one emitted');
    });
  });

  it('takes nothing for complete that started during a commit', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open } = setUp();
      const synced$ = new Subject<never>();
      output.sync = () => synced$;
      exactly.around(NEVER).subscribe();
      open('one', 1, 10).acknowledge(1, 'dropped');
      flush();
      output.begin(mark(0)).subscribe();
      synced$.complete();
      expect(memory.committed.at(-1)).toEqual({
        'exactly_once output': record([mark(0)]),
        'one position': 10,
      });
    });
  });

  it('commits soon what a collector set while a commit was under way, also if nothing comes behind it', () => {
    marbles(({ flush }) => {
      const { exactly, memory, output, open } = setUp();
      const synced$ = new Subject<never>();
      output.sync = () => synced$;
      exactly.around(NEVER).subscribe();
      open('one', 1, 10).acknowledge(1, 'dropped');
      flush();
      exactly.stateOf('two').set('offset', 1);
      exactly.stateOf('two').set('offset', 2);
      synced$.complete();
      flush();
      expect(memory.committed.at(-1)).toMatchObject({ 'two offset': 2 });
    });
  });

  it('lets a collector see at once what is not committed yet', () => {
    const { exactly } = setUp();
    const state = exactly.stateOf('one');
    state.set('a', 1);
    state.set('b', 2);
    state.delete('a');
    expect([state.get('a'), [...state.entries()], exactly.stateOf('one').get('b')]).toEqual([
      undefined,
      [['b', 2]],
      2,
    ]);
  });
});
