import { describe, expect, it } from '@jest/globals';
import {
  concatMap,
  delayWhen,
  from,
  lastValueFrom,
  map,
  type OperatorFunction,
  of,
  Subject,
  toArray,
} from 'rxjs';
import { LineBlock } from '../../operators/files/follow/line-block.ts';
import { type Batch, batchOf } from '../../src/engine/batches.ts';
import { Delivery } from '../../src/engine/delivery.ts';
import { Observers } from '../../src/engine/observer.ts';
import { workerStage } from '../../src/engine/worker-stage.ts';
import { LineEvents } from '../../src/sdk/line-events.ts';
import { WorkerPool } from '../../src/worker-pool/worker-pool.ts';
import { eventually } from '../support/eventually.ts';

const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

function linesOf(text: string): Batch {
  const bytes = Buffer.from(text);
  const size = text.split('\n').length - 1;
  const rows = new LineEvents(new LineBlock(bytes, size), ENVELOPE);
  return { rows, delivery: new Delivery(size, () => {}) };
}

const lines = ({ rows }: Batch) => rows.events.map(({ data }) => data.line as string);

const marked = map(({ rows, delivery }: Batch) =>
  batchOf(
    rows.events.map((event) => mark(event)),
    delivery,
  ),
);

interface RunOptions {
  readonly workers?: number;
  readonly onMasked?: (rule: string) => void;
  readonly inThisThread?: OperatorFunction<Batch, Batch>;
}

/** Runs texts through workers that end at `die`; what the main thread does is marked. */
async function run(
  texts: readonly string[],
  { workers = 2, onMasked = () => {}, inThisThread = marked }: RunOptions = {},
) {
  const lost: boolean[] = [];
  const masked: string[] = [];
  const file = new URL('../rows/fixtures/fragile-worker.mjs', import.meta.url);
  const pool = new WorkerPool({
    size: workers,
    processors: [],
    file,
    onLost: (_, isReplaced) => lost.push(isReplaced),
  });
  try {
    await eventually(() => pool.isReady);
    const stage = workerStage({
      ordered: true,
      pool,
      inThisThread,
      onMasked: (_, rule, count) => {
        masked.push(`${rule} ${count}`);
        onMasked(rule);
      },
      places: [],
      observer: new Observers([]),
      onFailure: () => {},
    });
    const done$ = from(texts.map(linesOf)).pipe(stage, map(lines), toArray());
    const done = await lastValueFrom(done$);
    return { done, lost, masked, pool };
  } finally {
    pool.close();
  }
}

function mark<E extends { readonly data: object }>(event: E): E {
  return { ...event, data: { line: `main: ${(event.data as { line: string }).line}` } };
}

describe('workerStage', () => {
  it('keeps the order, whichever worker is done first', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${i}\n`.repeat(i % 2 === 0 ? 2000 : 1));
    const { done, masked } = await run(texts);
    expect(done.map(([first]) => first?.replace('main: ', ''))).toEqual(texts.map((_, i) => `${i}`));
    expect(done.map(({ length }) => length)).toEqual(texts.map((_, i) => (i % 2 === 0 ? 2000 : 1)));
    const here = done.filter(([first]) => first?.startsWith('main: '));
    expect([masked.length > 0, here.length > 0, masked.length + here.length]).toEqual([true, true, 40]);
  });

  it('takes part when every worker has enough to do, with one batch at a time', async () => {
    const masked$ = new Subject<void>();
    let others = 0;
    const onMasked = () => {
      if (++others === 8) masked$.next();
    };
    // Its first batch is not done before all the others are.
    const slow = concatMap((batch: Batch) =>
      of(batch).pipe(
        delayWhen(() => masked$),
        marked,
      ),
    );
    const texts = [...'abcdefghi'].map((letter) => `${letter}\n`);
    const { done } = await run(texts, { workers: 1, onMasked, inThisThread: slow });
    expect(done.flat().filter((line) => line.startsWith('main: '))).toEqual(['main: d']);
    expect(done).toHaveLength(9);
  });

  it('does the unfinished work of an ended worker in the main thread, in its place', async () => {
    const { done, lost } = await run(['a\n', 'die\n', 'b\nc\n']);
    expect(done[1]).toEqual(['main: die']);
    expect(done.flat().map((line) => line.replace('main: ', '').toLowerCase())).toEqual([
      'a',
      'die',
      'b',
      'c',
    ]);
    expect(lost).toEqual([true]);
  });

  it('goes on without workers when too many have ended', async () => {
    const { done, lost } = await run(Array.from({ length: 12 }, () => 'die\n'));
    expect(done.flat()).toEqual(Array(12).fill('main: die'));
    expect(lost.length).toBeGreaterThan(0);
  });

  it('fails, and does nothing twice, when what a worker has done cannot be taken', async () => {
    const results: string[] = [];
    const onMasked = (rule: string) => {
      results.push(rule);
      throw new Error('no counter');
    };
    await expect(run(['a\n'], { onMasked })).rejects.toThrow('no counter');
    expect(results).toEqual(['UPPER']);
  });
});
