import { describe, expect, it } from '@jest/globals';
import { type Job, SerialJobs } from '../../../operators/support/serial-jobs.ts';

describe('SerialJobs', () => {
  it('runs one job at a time, in order, whatever becomes of them', () => {
    const log: string[] = [];
    const open: Parameters<Job>[0][] = [];
    const jobs = new SerialJobs(() => log.push('idle'));
    const add = (name: string) =>
      jobs
        .run((done) => {
          log.push(`${name} begins`);
          open.push(done);
        })
        .subscribe({ error: () => log.push(`${name} failed`), complete: () => log.push(`${name} done`) });
    add('a');
    add('b');
    add('c').unsubscribe();
    add('d').add(() => {});
    open[0]?.(null);
    open[1]?.(new Error('no'));
    open[2]?.(null);
    expect(log).toEqual(['a begins', 'a done', 'b begins', 'b failed', 'd begins', 'd done', 'idle']);
  });

  it('is not stopped by a job that throws', () => {
    const jobs = new SerialJobs();
    const log: string[] = [];
    jobs
      .run(() => {
        throw new Error('thrown');
      })
      .subscribe({ error: (error: Error) => log.push(error.message) });
    jobs.run((done) => done(null)).subscribe({ complete: () => log.push('done') });
    expect(log).toEqual(['thrown', 'done']);
  });

  it('lets a job that has begun end before the next one begins', () => {
    const jobs = new SerialJobs();
    const open: Parameters<Job>[0][] = [];
    const job: Job = (done) => open.push(done);
    jobs.run(job).subscribe().unsubscribe();
    jobs.run(job).subscribe();
    expect(open.length).toBe(1);
    open[0]?.(null);
    expect(open.length).toBe(2);
  });
});
