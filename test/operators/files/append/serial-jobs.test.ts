import { describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { SerialJobs } from '../../../../operators/files/append/file-appender.ts';

/** Lets everything go on that waits for a promise only. */
const promisesDone = () => new Promise((resolve) => setImmediate(resolve));

describe('SerialJobs', () => {
  it('runs one job at a time, in order, whatever becomes of them', async () => {
    const log: string[] = [];
    const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const jobs = new SerialJobs();
    const add = (name: string) =>
      jobs
        .run(() => {
          log.push(`${name} begins`);
          return new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
        })
        .subscribe({ error: () => log.push(`${name} failed`), complete: () => log.push(`${name} done`) });
    add('a');
    add('b');
    add('c').unsubscribe();
    add('d');
    open[0]?.resolve();
    await promisesDone();
    open[1]?.reject(new Error('no'));
    await promisesDone();
    open[2]?.resolve();
    await promisesDone();
    expect(log).toEqual(['a begins', 'a done', 'b begins', 'b failed', 'd begins', 'd done']);
  });

  it('is not stopped by a job that throws', async () => {
    const jobs = new SerialJobs();
    const failing = lastValueFrom(
      jobs.run(() => {
        throw new Error('thrown');
      }),
    );
    const next = lastValueFrom(
      jobs.run(async () => {}),
      { defaultValue: 'done' },
    );
    await expect(failing).rejects.toThrow('thrown');
    expect(await next).toBe('done');
  });

  it('lets a job that has begun end before the next one begins, and tells it that it was cancelled', async () => {
    const jobs = new SerialJobs();
    const cancelled: boolean[] = [];
    const open: (() => void)[] = [];
    const job = async (isCancelled: () => boolean) => {
      await new Promise<void>((resolve) => open.push(resolve));
      cancelled.push(isCancelled());
    };
    jobs.run(job).subscribe().unsubscribe();
    jobs.run(job).subscribe();
    expect(open.length).toBe(1);
    open[0]?.();
    await promisesDone();
    expect(open.length).toBe(2);
    open[1]?.();
    await promisesDone();
    expect(cancelled).toEqual([true, false]);
  });
});
