import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, Subject } from 'rxjs';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import multiline from '../../plugins/process/multiline.ts';
import { type Batch, batchOf } from '../../src/engine/batches.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { type JoinStageOptions, joinStage } from '../../src/engine/join-stage.ts';
import { Observers } from '../../src/engine/observer.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import type { LineJoining } from '../../src/sdk/plugin.ts';
import { marbles } from '../support/marbles.ts';
import { propertyRuns } from '../support/property-runs.ts';

const TIME = '2026-01-01T00:00:00.000Z';

function joiningOf(settings: object): LineJoining {
  const parsed = multiline.get_config_schema().safeParse({ plugin: 'multiline', ...settings });
  if (!parsed.success) throw new Error(parsed.error.issues[0]?.message);
  return multiline.joinLines?.({ ctx: { config: parsed.data } as never }) as LineJoining;
}

interface RunOptions {
  readonly settings?: object;
  /** Whether batches hold bytes, strings or events. */
  readonly form?: 'bytes' | 'text' | 'events';
  readonly isWindowFull?: () => boolean;
  /** Whether what leaves is acknowledged at once. */
  readonly isQuick?: boolean;
  /** In place of what the settings make. */
  readonly joining?: Partial<LineJoining>;
}

/** The stage, what left it and when, and which batches are acknowledged. Runs in virtual time. */
function stage({
  settings = { start: '^\\S' },
  form = 'bytes',
  isWindowFull = () => false,
  isQuick = true,
  joining = {},
}: RunOptions) {
  const left: { readonly line: unknown; readonly at: number; readonly batch: Batch }[] = [];
  const acknowledged: string[] = [];
  const failed: unknown[] = [];
  const errors: unknown[] = [];
  const source$ = new Subject<Batch>();
  let hasCompleted = false;
  const options: JoinStageOptions = {
    place: { kind: 'process', name: 'multiline' },
    observer: new Observers([]),
    joining: { ...joiningOf(settings), ...joining },
    isWindowFull,
    onFailure: (event, delivery) => {
      failed.push(event.data.line);
      delivery.acknowledge(1, 'failed');
    },
  };
  source$.pipe(joinStage(options)).subscribe({
    next: (batch) => {
      for (const { data } of batch.rows.events)
        left.push({ line: data.line, at: asyncScheduler.now(), batch });
      if (isQuick) batch.delivery.acknowledge(batch.rows.size, 'forwarded');
    },
    error: (error) => errors.push(error),
    complete: () => {
      hasCompleted = true;
    },
  });
  /** `cut`: the lines come in two batches with one delivery, as from a processor that yields in turns. */
  const emit = (name: string, lines: readonly string[], source = 'a.log', cut = 0) => {
    const envelope = { timestamp: TIME, source, backfill: false, isTruncated: false };
    const delivery = new Delivery(lines.length, () => acknowledged.push(name));
    for (const part of [lines.slice(0, cut), lines.slice(cut)]) {
      if (part.length === 0) continue;
      const block = new LineBlock(Buffer.from(`${part.join('\n')}\n`), part.length);
      const events = form === 'bytes' ? new LineEvents(block, envelope) : LineEvents.of(part, envelope);
      source$.next(form === 'events' ? batchOf(events.events, delivery) : { rows: events, delivery });
    }
  };
  const lines = () => left.map(({ line }) => line);
  return {
    emit,
    left,
    lines,
    acknowledged,
    failed,
    errors,
    end: () => source$.complete(),
    ended: () => hasCompleted,
  };
}

/** Runs `work` in virtual time, to the end of all timers. */
const inVirtualTime = (work: (at: (ms: number, act: () => void) => void) => void) =>
  marbles(({ flush }) => {
    work((ms, act) => asyncScheduler.schedule(act, ms));
    flush();
  });

describe('lines that are joined', () => {
  it('leave as one event, and are acknowledged when it is', () => {
    inVirtualTime(() => {
      const { emit, left, lines, acknowledged, end, ended } = stage({ isQuick: false });
      emit('first', ['one', ' two', 'three', ' four']);
      emit('second', [' five', 'six']);
      expect(lines()).toEqual(['one\n two', 'three\n four\n five']);
      left[0]?.batch.delivery.acknowledge(1, 'forwarded');
      // `three` and ` four` are in an event with a line of the second batch.
      expect(acknowledged).toEqual([]);
      left[1]?.batch.delivery.acknowledge(1, 'forwarded');
      expect(acknowledged).toEqual(['first']);
      end();
      expect(lines().at(-1)).toBe('six');
      expect(acknowledged).toEqual(['first']);
      left[2]?.batch.delivery.acknowledge(1, 'forwarded');
      expect(acknowledged).toEqual(['first', 'second']);
      expect(ended()).toBe(true);
    });
  });

  it('are whole when their batch comes in parts', () => {
    inVirtualTime(() => {
      const { emit, lines, acknowledged, end } = stage({});
      emit('batch', ['one', ' two', 'three', ' four', ' five', 'six', 'seven'], 'a.log', 4);
      end();
      expect(lines()).toEqual(['one\n two', 'three\n four\n five', 'six', 'seven']);
      expect(acknowledged).toEqual(['batch']);
    });
  });

  it('are those of one source, whatever lies between them', () => {
    inVirtualTime(() => {
      const { emit, lines, end } = stage({});
      emit('a1', ['one'], 'a.log');
      emit('b1', ['uno'], 'b.log');
      emit('a2', [' two'], 'a.log');
      emit('b2', [' dos'], 'b.log');
      end();
      expect(lines()).toEqual(['one\n two', 'uno\n dos']);
    });
  });

  it('leave some seconds after the first one, whatever may follow', () => {
    inVirtualTime((at) => {
      const { emit, left, lines } = stage({ settings: { start: '^\\S', seconds: 2 } });
      emit('first', ['one']);
      at(1500, () => emit('second', [' two']));
      at(2500, () => emit('third', [' three']));
      at(2600, () => expect(left).toMatchObject([{ line: 'one\n two', at: 2000 }]));
      at(9999, () => expect(lines()).toEqual(['one\n two', ' three']));
    });
  });

  it.each([
    [{ lines: 2 }, ['one\n 2', ' 3\n 4', ' 5']],
    [{ bytes: 1024 }, ['one\n 2\n 3\n 4\n 5']],
  ])('are at most %j', (limit, expected) => {
    inVirtualTime(() => {
      const { emit, lines, end } = stage({ settings: { start: '^\\S', ...limit } });
      emit('all', ['one', ' 2', ' 3', ' 4', ' 5']);
      end();
      expect(lines()).toEqual(expected);
    });
  });

  it('are at most as many bytes as the limit says', () => {
    inVirtualTime(() => {
      const { emit, lines, end } = stage({ settings: { start: '^\\S', bytes: 1024 } });
      emit('all', ['x'.repeat(600), ` ${'y'.repeat(422)}`, ` ${'y'.repeat(423)}`, ' z']);
      end();
      expect(lines().map((line) => Buffer.byteLength(line as string))).toEqual([1024, 427]);
    });
  });

  it('leave at once when the window is full of them', () => {
    inVirtualTime(() => {
      const { emit, left } = stage({ isWindowFull: () => true });
      emit('first', ['one', ' two']);
      expect(left).toMatchObject([{ line: 'one\n two', at: 0 }]);
    });
  });

  it('leave in time although the clock of the system is set back', () => {
    jest.useFakeTimers({ now: Date.parse('2026-11-23T12:00:00Z') });
    try {
      const { emit, lines } = stage({ settings: { start: '^\\S', seconds: 2 } });
      emit('first', ['one', ' two']);
      jest.setSystemTime(Date.parse('2026-11-23T11:00:00Z'));
      jest.advanceTimersByTime(2001);
      expect(lines()).toEqual(['one\n two']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('wait for their other lines while the window is full of events behind them', () => {
    inVirtualTime((at) => {
      let isFull = true;
      const { emit, left, lines } = stage({ isWindowFull: () => isFull, isQuick: false });
      emit('first', ['zero', 'one', ' two']);
      at(30_000, () => {
        expect(lines()).toEqual(['zero']);
        isFull = false;
        left[0]?.batch.delivery.acknowledge(1, 'forwarded');
        emit('second', [' three', 'four']);
        expect(lines()).toEqual(['zero', 'one\n two\n three']);
      });
    });
  });

  it('wait for one that says whether they belong to the lines before them', () => {
    inVirtualTime(() => {
      const { emit, lines, acknowledged, end } = stage({ settings: { preset: 'java' } });
      emit('first', ['a.BException: one', 'two']);
      emit('second', ['three', '\tat a.B.c(B.java:1)', 'a.BException: four', 'five']);
      expect(lines()).toEqual(['a.BException: one\ntwo\nthree\n\tat a.B.c(B.java:1)']);
      emit('third', ['six', '2026-01-01 INFO seven']);
      expect(lines().slice(1)).toEqual(['a.BException: four', 'five', 'six', '2026-01-01 INFO seven']);
      expect(acknowledged).toEqual(['first', 'second', 'third']);
      end();
    });
  });

  it('begin an event of their own after they have waited in vain, in their time', () => {
    inVirtualTime((at) => {
      const { emit, left, acknowledged } = stage({ settings: { preset: 'java' } });
      emit('first', ['a.BException: one']);
      at(600, () => emit('second', ['two', 'a.b.C: three', 'four']));
      at(1200, () => emit('third', ['\tat a.B.c(B.java:1)']));
      at(9999, () => {
        expect(left).toMatchObject([
          { line: 'a.BException: one', at: 1000 },
          { line: 'two', at: 1000 },
          { line: 'a.b.C: three\nfour\n\tat a.B.c(B.java:1)', at: 1600 },
        ]);
        expect(acknowledged).toEqual(['first', 'second', 'third']);
      });
    });
  });

  it('leave at once, one after the other, when the window is full of lines that wait', () => {
    inVirtualTime(() => {
      const { emit, lines, acknowledged } = stage({ settings: { preset: 'java' }, isWindowFull: () => true });
      emit('first', ['a.BException: one', 'two', 'three']);
      expect(lines()).toEqual(['a.BException: one', 'two', 'three']);
      expect(acknowledged).toEqual(['first']);
    });
  });

  const fail = () => {
    throw new Error('broken');
  };
  const forms = ['bytes', 'text', 'events'] as const;
  /** Fails on a line that contains an x. */
  const checked = (line: unknown): string => {
    if (String(line).includes('x')) fail();
    return String(line);
  };

  it.each<[string, (joining: LineJoining) => Partial<LineJoining>]>([
    ['begin', ({ begin }) => ({ begin: (line) => begin(checked(line)) })],
    ['next', ({ next }) => ({ next: (state, line) => next(state, checked(line)) })],
    ['streamOf', () => ({ streamOf: (line) => checked(line) && undefined })],
    [
      'isComplete',
      ({ next }) => ({ next: (_, line) => next(0, line) && line, isComplete: (line) => !checked(line) }),
    ],
    [
      'isPending',
      ({ next }) => ({ next: (_, line) => next(0, line) && line, isPending: (line) => !checked(line) }),
    ],
  ])('leave without a line that the processor fails on in %s, which goes to the dead letter', (_, broken) => {
    for (const form of forms) {
      inVirtualTime(() => {
        const { emit, errors, failed, lines, acknowledged, end, ended } = stage({
          joining: broken(joiningOf({ start: '^\\S' })),
          form,
        });
        emit('first', ['one', ' two', ' x', ' three', 'x', ' four', 'five', ' six']);
        emit('second', [' x', ' seven', 'eight']);
        end();
        expect(errors).toEqual([]);
        expect(failed.filter((line) => !String(line).includes('x'))).toEqual([]);
        expect(failed).not.toEqual([]);
        const left = lines().join('\n').split('\n');
        expect([...left, ...failed].toSorted()).toEqual(
          ['one', ' two', ' x', ' three', 'x', ' four', 'five', ' six', ' x', ' seven', 'eight'].toSorted(),
        );
        expect(lines()[0]).toMatch(/^one\n two/);
        expect(acknowledged).toEqual(['first', 'second']);
        expect(ended()).toBe(true);
      });
    }
  });

  it('leave in the order of their bytes, whatever line between them fails and whichever were looked at again', () => {
    for (const form of forms) {
      inVirtualTime(() => {
        const { emit, lines, failed, acknowledged, end } = stage({
          settings: { preset: 'java' },
          joining: {
            mayBegin: () => true,
            begin: (line) => (/^[ab]/.test(checked(line)) ? line : undefined),
            next: (_, line) => {
              if (checked(line).startsWith(' ')) return line;
              return line.startsWith('b') ? 'pending' : undefined;
            },
            isPending: (state) => state === 'pending',
          },
          form,
        });
        emit('all', ['alone', 'a', 'bb', 'x', 'ccc', 'a', 'bbbb', ' end', 'single']);
        end();
        expect(lines()).toEqual(['alone', 'a', 'bb', 'ccc', 'a\nbbbb\n end', 'single']);
        expect(failed).toEqual(['x']);
        expect(acknowledged).toEqual(['all']);
      });
    }
  });

  it.each<[string, Partial<LineJoining>, string]>([
    ['join, while lines come', { join: fail }, 'one'],
    ['join, at their end', { join: fail }, 'eight'],
    ['withLine', { withLine: fail, readsLines: false }, 'one'],
  ])('go to the dead letter, all of them, if the processor fails in %s', (_, joining) => {
    for (const form of forms) {
      inVirtualTime(() => {
        const { emit, errors, failed, lines, acknowledged, end, ended } = stage({ joining, form });
        emit('first', ['zero', 'one', ' two', 'three']);
        emit('second', [' four', 'five']);
        end();
        expect(failed).toEqual(['one', ' two', 'three', ' four']);
        expect(lines()).toEqual(['zero', 'five']);
        expect(acknowledged).toEqual(['first', 'second']);
        expect([errors, ended()]).toEqual([[], true]);
      });
    }
  });

  it('go to the dead letter if the processor fails when their time is over', () => {
    inVirtualTime((at) => {
      const { emit, errors, failed, acknowledged } = stage({ joining: { join: fail } });
      emit('all', ['one', ' two']);
      at(9999, () => {
        expect(failed).toEqual(['one', ' two']);
        expect(acknowledged).toEqual(['all']);
        expect(errors).toEqual([]);
      });
    });
  });

  it('go to the dead letter one by one if the processor fails in lineOf', () => {
    inVirtualTime(() => {
      const { emit, errors, failed, end, ended } = stage({ joining: { lineOf: fail }, form: 'events' });
      emit('all', ['one', ' two']);
      end();
      expect(failed).toEqual(['one', ' two']);
      expect([errors, ended()]).toEqual([[], true]);
    });
  });

  it('fail the run if the processor throws in mayBegin', () => {
    inVirtualTime(() => {
      const { emit, errors } = stage({ joining: { mayBegin: fail } });
      emit('all', ['one', ' two']);
      expect(errors).toEqual([new Error('broken')]);
    });
  });

  it.each(['text', 'events'] as const)('keep halves of characters that came as %s', (form) => {
    inVirtualTime(() => {
      const { emit, lines, end } = stage({ form });
      emit('all', ['half \udc80', ' \udcc3\udca9', 'alone \udcc3']);
      end();
      expect(lines()).toEqual(['half \udc80\n \udcc3\udca9', 'alone \udcc3']);
    });
  });

  it('are the same as bytes, as text and as events, in every order of batches', () => {
    const line = fc.constantFrom(
      'one',
      'ä',
      ' two',
      ' ö',
      '',
      'Error: x',
      '    at f',
      'Traceback (most recent call last):',
      'ValueError: x',
      'Timeout: x',
      'java.io.IOException: x',
      "thread 'main' panicked at a.rs:1:2:",
      'Caused by: x',
      '2026-01-01 INFO x',
      '2026-01-01T00:00:00Z stdout P one',
      '2026-01-01T00:00:00Z stderr P two',
      '2026-01-01T00:00:00Z stdout F three',
    );
    const settings = fc.constantFrom(
      { start: '^\\S' },
      { continue: '^\\s' },
      { preset: 'node' },
      { preset: ['python'] },
      { preset: ['rust', 'java', 'php', 'ruby'] },
      { preset: ['node', 'go'], lead: 1 },
    );
    const batch = fc.record({
      lines: fc.array(line, { minLength: 1, maxLength: 30 }),
      cut: fc.nat({ max: 29 }),
    });
    const batches = fc.array(batch, { maxLength: 5 });
    const property = fc.property(batches, settings, fc.integer({ min: 2, max: 6 }), (all, which, most) => {
      const results = (['bytes', 'text', 'events'] as const).map((form) => {
        let result: unknown;
        inVirtualTime(() => {
          const { emit, lines, acknowledged, end } = stage({ settings: { ...which, lines: most }, form });
          for (const [index, { lines, cut }] of all.entries()) emit(String(index), lines, 'a.log', cut);
          end();
          expect(lines().join('\n')).toBe(all.flatMap((each) => each.lines).join('\n'));
          expect(acknowledged).toHaveLength(all.length);
          result = lines();
        });
        return result;
      });
      expect(results[0]).toEqual(results[2]);
      expect(results[1]).toEqual(results[2]);
    });
    fc.assert(property, { numRuns: propertyRuns(100) });
  });
});
