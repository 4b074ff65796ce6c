import { expect, it } from '@jest/globals';
import { interval, take } from 'rxjs';
import { HealthLog } from '../../src/admin/health-log.ts';
import type { PipelineHealth } from '../../src/sdk/status.ts';
import { marbles } from '../support/marbles.ts';
import { recordingLogger } from '../support/pipelines.ts';

it('logs a stall at growing intervals, and that it is over', () => {
  const logger = recordingLogger();
  const log = new HealthLog(logger);
  const health = (problems: readonly string[]): PipelineHealth[] => [
    {
      pipeline: 'main',
      state: 'running',
      isReady: problems.length === 0,
      isStalled: problems.length > 0,
      problems,
    },
    {
      pipeline: 'other',
      state: 'running',
      isReady: true,
      isStalled: false,
      problems: ['forwarder out has failed once'],
    },
  ];
  marbles(({ flush }) => {
    interval(5000)
      .pipe(take(120))
      .subscribe((n) => log.update(health(n < 100 ? [`has made no progress (${n})`] : [])));
    flush();
  });
  // At once, after 10 s, 30 s, 1 min and 5 min; then every 10 min.
  expect(logger.lines).toEqual([
    'warn main: has made no progress (0)',
    'warn main: has made no progress (2)',
    'warn main: has made no progress (6)',
    'warn main: has made no progress (12)',
    'warn main: has made no progress (60)',
    'info main: makes progress again after another 8 min',
  ]);
});
