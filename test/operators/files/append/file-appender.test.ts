import fs from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, type Observable, Subject } from 'rxjs';
import { type AppenderLease, leaseAppender } from '../../../../operators/files/append/file-appender.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const done = (work$: Observable<never>) => lastValueFrom(work$, { defaultValue: undefined });

describe('leaseAppender', () => {
  const path = tempFolder();
  const lease = (name: string): AppenderLease => leaseAppender(path(name), {});

  it('creates the file with the permissions that all users allow', async () => {
    const [first, second] = [0o664, 0o600].map((mode) => leaseAppender(path('mode.jsonl'), { mode }));
    await done((first as AppenderLease).appender.append('{}\n'));
    expect(fs.statSync(path('mode.jsonl')).mode & 0o777).toBe(0o600);
    first?.release();
    second?.release();
  });

  it('shares one appender for a file, and makes another one when nobody needs it any more', async () => {
    const [first, second] = [lease('a'), lease('./b/../a')];
    expect(second.appender).toBe(first.appender);
    first.release();
    expect(lease('a').appender).toBe(first.appender);
    second.release();
  });

  it('makes another one only when the last has done all, and keeps that one when it has', async () => {
    const first = lease('a');
    await done(first.appender.append('1\n'));
    first.release();
    const second = lease('a');
    const work$ = new Subject<never>();
    const working = done(second.appender.aside(() => work$));
    second.release();
    // Begun when the file of the first is closed.
    await eventually(() => work$.observed);
    const third = lease('a');
    expect(third.appender).toBe(second.appender);
    work$.complete();
    await working;
    const fourth = lease('a');
    expect(fourth.appender).toBe(third.appender);
    third.release();
    fourth.release();
    await eventually(() => {
      const next = lease('a');
      next.release();
      return next.appender !== third.appender;
    });
  });

  it('shares it also by way of a symbolic link, and when the folder is made later', async () => {
    fs.mkdirSync(path('real'));
    fs.symlinkSync(path('real'), path('link'));
    const leases = [lease('link/out/a'), lease('real/out/a')] as const;
    await done(leases[0].appender.append('1\n'));
    const later = [lease('link/out/a'), lease('real/out/a'), lease('real/out/b')] as const;
    expect(leases[1].appender).toBe(leases[0].appender);
    expect(later[0].appender).toBe(leases[0].appender);
    expect(later[1].appender).toBe(leases[0].appender);
    expect(later[2].appender).not.toBe(leases[0].appender);
    for (const { release } of [...leases, ...later]) release();
    await eventually(() => {
      const next = lease('link/out/a');
      next.release();
      return next.appender !== leases[0].appender;
    });
  });
});
