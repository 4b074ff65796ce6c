import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { allowV8Flags } from '../../operators/support/v8-flags.ts';
import * as v8Flags from '../../src/cli/v8-flags.ts';
import type { LineResult } from '../../src/worker-pool/protocol.ts';
import { WorkerLost, WorkerPool } from '../../src/worker-pool/worker-pool.ts';
import { upToDateBuild } from '../support/build.ts';
import { folderWith } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';

const WORKING = new URL('../rows/fixtures/fragile-worker.mjs', import.meta.url);
/** Masks nothing, since it is given no masks. */
const MASKING = new URL('../../dist/src/chunks/line-worker.js', import.meta.url);
/** `new Worker` throws for it, as it does where there is no thread left. */
const IMPOSSIBLE = new URL('http://localhost/worker.mjs');
const ENVELOPE = {
  timestamp: '2026-01-01T00:00:00.000Z',
  source: 'a.log',
  backfill: true,
  isTruncated: false,
};

/** A processor that says whether it has what it imports. */
const ELSEWHERE = `
import { isEvent } from 'millrace';
import { Observable } from 'rxjs';
export const process = ({ event }) =>
  ({ ...event, data: { isEvent: isEvent(event), isRxjs: typeof Observable === 'function' } });
`;

const taskOf = (text: string) => ({ bytes: Buffer.from(text), size: 1, envelope: ENVELOPE });

describe('WorkerPool', () => {
  beforeAll(upToDateBuild);

  const pools: WorkerPool[] = [];
  /** Each worker that is started takes the next file. */
  const poolOf = (size: number, ...files: URL[]) => {
    const lost: [reason: string, isReplaced: boolean][] = [];
    const pool = new WorkerPool({
      size,
      processors: [],
      get file() {
        return files.shift() as URL;
      },
      onLost: (error, isReplaced) => lost.push([`${error}`, isReplaced]),
    });
    pools.push(pool);
    return { pool, lost };
  };
  afterEach(() => {
    for (const pool of pools.splice(0)) pool.close();
    jest.restoreAllMocks();
  });

  it('runs a plugin that stands where no packages are: it has those of millrace', async () => {
    const folder = folderWith({ 'plugin.mjs': ELSEWHERE });
    const plugin = pathToFileURL(join(folder, 'plugin.mjs')).href;
    const onLost = jest.fn();
    const pool = new WorkerPool({ size: 1, processors: [{ plugin, config: {} }], file: MASKING, onLost });
    pools.push(pool);
    await eventually(() => pool.isReady || onLost.mock.calls.length > 0);
    expect(onLost.mock.calls).toEqual([]);
    const { documents } = await firstValueFrom(pool.run(taskOf('a\n')));
    expect(JSON.parse(Buffer.from(documents).toString()).data).toEqual({ isEvent: true, isRxjs: true });
  });

  describe('of an expression whose time doubles with each character', () => {
    const withExpression = async () => {
      const processors = [{ plugin: 'regex_mask', config: { rules: { USER: '^(a+)+$', KEY: 'key' } } }];
      const pool = new WorkerPool({ size: 1, processors, file: MASKING, onLost: () => {} });
      pools.push(pool);
      await eventually(() => pool.isReady);
      return firstValueFrom(pool.run(taskOf(`${'a'.repeat(5000)}! key\n`)));
    };
    afterEach(() => allowV8Flags(undefined));

    (v8Flags.mayBeSet ? it : it.skip)(
      'switches V8 to its linear engine where the program may set flags, as the command line may',
      async () => {
        const url = new URL('../../dist/src/cli/v8-flags.js', import.meta.url).href;
        allowV8Flags({ ...v8Flags, url });
        const { documents, failures } = await withExpression();
        expect(failures).toEqual([]);
        expect(JSON.parse(Buffer.from(documents).toString()).data.line).toBe(`${'a'.repeat(5000)}! <:KEY:>`);
      },
    );

    it('bounds the time where it may not, and withholds the event', async () => {
      const { failures } = await withExpression();
      expect(failures).toEqual([
        { processor: 0, reason: expect.stringContaining('could not be masked within 1.0') },
      ]);
    });
  });

  it('hands tasks back when a worker ends and no other one can be started', async () => {
    const { pool, lost } = poolOf(1, WORKING, IMPOSSIBLE);
    await eventually(() => pool.isReady);
    await expect(firstValueFrom(pool.run(taskOf('die\n')))).rejects.toThrow(WorkerLost);
    expect(lost).toEqual([
      [expect.stringMatching(/protocol|scheme|path/i), false],
      ['undefined', false],
    ]);
    await expect(firstValueFrom(pool.run(taskOf('a\n')))).rejects.toThrow(WorkerLost);
  });

  it('has those workers that there were threads for', async () => {
    const { pool, lost } = poolOf(2, WORKING, IMPOSSIBLE);
    await eventually(() => pool.isReady);
    expect(await firstValueFrom(pool.run(taskOf('a\n')))).toMatchObject({ size: 1 });
    expect(lost).toEqual([[expect.any(String), false]]);
  });

  it('replaces a worker whose message cannot be read, and hands its tasks back', async () => {
    const workers = new Set<Worker>();
    const { on } = Worker.prototype;
    jest.spyOn(Worker.prototype, 'on').mockImplementation(function (this: Worker, ...args: unknown[]) {
      workers.add(this);
      return Reflect.apply(on, this, args);
    } as never);
    const { pool, lost } = poolOf(1, WORKING, WORKING);
    await eventually(() => pool.isReady);
    const result = firstValueFrom(pool.run(taskOf('wait\n')));
    const [first] = workers;
    first?.emit('messageerror', new Error('not readable'));
    await expect(result).rejects.toThrow(WorkerLost);
    expect(lost).toEqual([['Error: not readable', true]]);
    await eventually(() => pool.isReady);
    expect(workers.size).toBe(2);
  });

  it('goes on after a result that is no longer needed, and leaves the lines of a task as they are', async () => {
    const { pool } = poolOf(1, MASKING);
    await eventually(() => pool.isReady);
    const tasks = [...'abcd'].map((letter) => taskOf(`${letter.repeat(5000)}\n`));
    const [first, ...others] = tasks.map((task) => pool.run(task));
    first?.subscribe().unsubscribe();
    const results = await Promise.all(others.map((result$) => firstValueFrom(result$)));
    expect(results.map((result) => lineOf(result)[0])).toEqual([...'bcd']);
    expect(tasks.map(({ bytes }) => `${bytes}`[0])).toEqual([...'abcd']);
  });

  it('takes a result that is much longer than its lines', async () => {
    const { pool } = poolOf(1, MASKING);
    await eventually(() => pool.isReady);
    const line = '"'.repeat(400_000);
    const result = await firstValueFrom(pool.run(taskOf(`${line}\n`)));
    expect(lineOf(result)).toBe(line);
  });
});

/** The line of a result of one. */
function lineOf({ documents }: LineResult): string {
  return (JSON.parse(Buffer.from(documents).toString()) as { data: { line: string } }).data.line;
}
